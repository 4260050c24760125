# SPDX-License-Identifier: Apache-2.0

"""Values in nova.conf: odd patterns work, wrong values stop the scheduler."""

import pathlib
import tempfile
import unittest

import ddt

from tests import processes

#: nova.conf is read once per process.
PROGRAM = """
import sys
from nova import config, objects
from nova.scheduler import filters
from oslo_log import log
from testing.nova import states

config.parse_args(['nova-scheduler'], default_config_files=[sys.argv[1]])
log.setup(config.CONF, 'nova')
objects.register_all()

# Which of some keys an aggregate demands of a flavor without any.
handler = filters.HostFilterHandler()
cls, *_ = handler.get_matching_classes(['nova_filters.all_filters'])
filter_ = cls()
for key in sys.argv[2:]:
    metadata = {key: '1', 'force_metadata_check': 'True'}
    host = states.host_state('host', states.aggregates(metadata))
    if not filter_.filter_all([host], states.request({})):
        print(key, 'is demanded')
"""

#: nova-scheduler's own start, up to its plug-ins, which asks no database.
START = """
import sys
from nova.cmd import scheduler
from nova.scheduler import host_manager

class HostManager(host_manager.HostManager):
    def refresh_cells_caches(self):
        self.cells = {}

    def _init_aggregates(self):
        self.aggs_by_id = {}

    def _init_instance_info(self, computes_by_cell=None):
        self._instance_info = {}

host_manager.HostManager = HostManager
sys.argv[:] = ['nova-scheduler', '--config-file', sys.argv[1]]
scheduler.main()
"""


#: The lines that enable one plug-in alone.
ENABLED = {
    'filter': """
[filter_scheduler]
available_filters = nova_filters.all_filters
enabled_filters = AggregateInstanceTypeFilter
""",
    'weigher': """
[filter_scheduler]
weight_classes = nova_filters.all_weighers
""",
}


@ddt.ddt
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
            ['k is demanded', 'zone is demanded', 'x is demanded'], lines
        )
        self.assertNotIn('ERROR', logged)
        self.assertEqual(3, logged.count('0 of 1 hosts'))

    @ddt.data(
        ('filter', 'exempt_metadata_keys = $nowhere', ('nowhere',)),
        ('weigher', 'stack_affinity_weight_multiplier = nan', ('finite',)),
        ('weigher', 'signing_key = short-secret', ('number 1', '32')),
    )
    @ddt.unpack
    def test_nova_scheduler_does_not_start(self, plug_in, line, words):
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            section = 'heat_hints' if 'key =' in line else 'nova_filters'
            conf.write_text(
                f'[DEFAULT]\nlog_file = {log}\n{ENABLED[plug_in]}\n'
                f'[{section}]\n{line}\n'
            )
            with self.assertRaises(AssertionError):
                processes.run_python(START, str(conf))
            text = log.read_text()
        name = line.partition(' ')[0]
        for word in (f'[{section}] Value for option {name} ', *words):
            self.assertIn(word, text)
        self.assertNotIn('secret', text)
