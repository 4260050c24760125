# SPDX-License-Identifier: Apache-2.0

"""Wrong values in nova.conf: the scheduler starts and says what is wrong."""

import pathlib
import tempfile
import unittest

from tests import processes

#: nova.conf is read once per process.
PROGRAM = """
import sys
from nova import config, objects
from nova.scheduler import filters, host_manager, weights
from oslo_log import log
from testing.nova import states

config.parse_args(['nova-scheduler'], default_config_files=[sys.argv[1]])
log.setup(config.CONF, 'nova')
objects.register_all()

def load(handler, name):
    (cls,) = handler.get_matching_classes([name])
    return cls()

# Which of some keys an aggregate demands of a flavor without any.
filter_ = load(filters.HostFilterHandler(), 'nova_filters.all_filters')
for key in sys.argv[2:]:
    metadata = {key: '1', 'force_metadata_check': 'True'}
    host = states.host_state('host', states.aggregates(metadata))
    if not filter_.filter_all([host], states.request({})):
        print(key, 'is demanded')

# What the weigher works with.
weigher = load(weights.HostWeightHandler(), 'nova_filters.all_weighers')
host = host_manager.HostState('host', 'node', None)
print('multiplier', weigher.weight_multiplier(host))
print('weights', weigher.weigh_objects([weights.WeighedHost(host, 0.0)], {}))
"""


class WrongOptionTest(unittest.TestCase):
    def run_with(self, *options: str, keys: str) -> tuple[list[str], str]:
        """Return what the plug-ins do with options, and what they log."""
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            lines = [f'log_file = {log}', '[nova_filters]', *options]
            conf.write_text('\n'.join(['[DEFAULT]', *lines]))
            found = processes.run_python(PROGRAM, str(conf), *keys.split(' '))
            return found, log.read_text()

    def test_a_pattern_that_is_not_well_formed_stands_for_itself(self):
        lines, logged = self.run_with(
            'exempt_metadata_keys = [,[!]x, "k,,zone?, $$y ,*[',
            # The last one is empty: so is one of the patterns.
            keys='[ [!]x "k zone1 $y a[ k zone x ',
        )
        self.assertEqual(
            ['k is demanded', 'zone is demanded', 'x is demanded'], lines[:-2]
        )
        self.assertNotIn('ERROR', logged)
        self.assertEqual(3, logged.count('0 of 1 hosts'))

    def test_the_defaults_stand_in_and_one_error_is_logged_for_each(self):
        lines, logged = self.run_with(
            'exempt_metadata_keys = $nowhere',
            'stack_map_size = plenty',
            'stack_affinity_weight_multiplier = strong',
            keys='availability_zone k',
        )
        self.assertEqual(
            ['k is demanded', 'multiplier -1.0', 'weights [0.0]'], lines
        )
        errors = [line for line in logged.splitlines() if 'ERROR' in line]
        self.assertEqual(3, len(errors), errors)
        for pattern in (
            r'exempt_metadata_keys in \[nova_filters\].*nowhere.*nova\.conf',
            r'stack_map_size in \[nova_filters\].*plenty.*65536',
            r'weight_multiplier in \[nova_filters\].*strong.*-1\.0',
        ):
            self.assertRegex('\n'.join(errors), pattern)
