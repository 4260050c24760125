# SPDX-License-Identifier: Apache-2.0

"""Wrong values in nova.conf: the scheduler starts and says what is wrong."""

import pathlib
import tempfile
import unittest

from tests import processes

#: nova.conf is read once per process.
START = """
import sys
from nova import config, objects
from nova.scheduler import filters, host_manager, weights
from oslo_log import log

config.parse_args(['nova-scheduler'], default_config_files=[sys.argv[1]])
log.setup(config.CONF, 'nova')
objects.register_all()

def load(handler, name):
    (cls,) = handler.get_matching_classes([name])
    return cls()
"""

#: Prints what the weigher works with.
WEIGHER_PROGRAM = (
    START
    + """
weigher = load(weights.HostWeightHandler(), 'nova_filters.all_weighers')
host = host_manager.HostState('host', 'node', None)
print('multiplier', weigher.weight_multiplier(host))
print('weights', weigher.weigh_objects([weights.WeighedHost(host, 0.0)], {}))
"""
)

#: Prints which of some keys an aggregate demands of a flavor without any.
FILTER_PROGRAM = (
    START
    + """
from testing.nova import states

filter_ = load(filters.HostFilterHandler(), 'nova_filters.all_filters')
for key in sys.argv[2:]:
    metadata = {key: '1', 'force_metadata_check': 'True'}
    host = states.host_state('host', states.aggregates(metadata))
    passed = filter_.filter_all([host], states.request({}))
    print(key, 'is exempt' if passed else 'is demanded')
"""
)

FILTER_CONF = """
[DEFAULT]
log_file = {log}
[nova_filters]
exempt_metadata_keys = [,[!]x, "k,,zone?, $$y ,*[
"""

NOVA_CONF = """
[DEFAULT]
log_file = {log}
[nova_filters]
stack_map_size = plenty
stack_affinity_weight_multiplier = strong
"""


class OddPatternTest(unittest.TestCase):
    def test_a_pattern_that_is_not_well_formed_stands_for_itself(self):
        keys = ('[', '[!]x', '"k', 'zone1', '$y', 'a[', 'k', 'zone', 'x', '')
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            conf.write_text(FILTER_CONF.format(log=log))
            lines = processes.run_python(FILTER_PROGRAM, str(conf), *keys)
            logged = log.read_text()
        self.assertEqual(
            [
                '[ is exempt',
                '[!]x is exempt',
                '"k is exempt',
                'zone1 is exempt',
                '$y is exempt',
                'a[ is exempt',
                'k is demanded',
                'zone is demanded',
                'x is demanded',
                # The empty pattern is that of the empty key.
                ' is exempt',
            ],
            lines,
        )
        self.assertNotIn('ERROR', logged)
        self.assertEqual(3, logged.count('0 of 1 hosts'))


class WrongOptionTest(unittest.TestCase):
    def test_the_filter_works_with_the_default_and_one_error(self):
        conf_text = FILTER_CONF.partition('[nova_filters]')[0] + (
            '[nova_filters]\nexempt_metadata_keys = $nowhere\n'
        )
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            conf.write_text(conf_text.format(log=log))
            lines = processes.run_python(
                FILTER_PROGRAM, str(conf), 'availability_zone', 'k'
            )
            errors = [
                line
                for line in log.read_text().splitlines()
                if 'ERROR' in line
            ]
        self.assertEqual(
            ['availability_zone is exempt', 'k is demanded'], lines
        )
        self.assertEqual(1, len(errors), errors)
        self.assertRegex(
            errors[0],
            r'exempt_metadata_keys in \[nova_filters\].*nowhere.*nova\.conf',
        )

    def test_the_weigher_works_with_the_defaults_and_one_error_each(self):
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            conf.write_text(NOVA_CONF.format(log=log))
            lines = processes.run_python(WEIGHER_PROGRAM, str(conf))
            errors = [
                line
                for line in log.read_text().splitlines()
                if 'ERROR' in line
            ]
        self.assertEqual(['multiplier -1.0', 'weights [0.0]'], lines)
        self.assertEqual(2, len(errors), errors)
        self.assertRegex(
            errors[0], r'stack_map_size in \[nova_filters\].*plenty.*65536'
        )
        self.assertRegex(
            errors[1], r'weight_multiplier in \[nova_filters\].*strong.*-1\.0'
        )
