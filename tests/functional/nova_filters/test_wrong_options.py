# SPDX-License-Identifier: Apache-2.0

"""Wrong values in nova.conf stop the scheduler when it starts."""

import pathlib
import tempfile
import unittest

import ddt

from tests import processes

#: nova-scheduler's own start, up to its plug-ins, which asks no database.
#: nova.conf is read once per process.
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

FILTER = """
available_filters = nova_filters.all_filters
enabled_filters = AggregateInstanceTypeFilter
"""
WEIGHER = 'weight_classes = nova_filters.all_weighers'


@ddt.ddt
class WrongOptionTest(unittest.TestCase):
    @ddt.data(
        (FILTER, 'nova_filters', 'exempt_metadata_keys', '$nowhere', 'nowh'),
        (WEIGHER, 'heat_hints', 'signing_key', 'short-secret', 'number 1'),
    )
    @ddt.unpack
    def test_nova_scheduler_does_not_start(
        self, plug_in, section, name, value, words
    ):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        conf, log = folder / 'nova.conf', folder / 'nova.log'
        conf.write_text(
            f'[DEFAULT]\nlog_file = {log}\n[filter_scheduler]\n{plug_in}\n'
            f'[{section}]\n{name} = {value}\n'
        )
        with self.assertRaises(AssertionError):
            processes.run_python(START, str(conf))
        text = log.read_text()
        self.assertIn(f'[{section}] Value for option {name} ', text)
        self.assertIn(words, text)
        self.assertNotIn('secret', text)
