# SPDX-License-Identifier: Apache-2.0

"""Wrong values in nova.conf stop the scheduler when it starts."""

import pathlib
import tempfile
import unittest

from tests import processes

#: nova-scheduler's own start, up to its plug-ins, which asks no database, in
#: a process of its own for each nova.conf.
START = """
import os, signal, sys
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
for path in sys.argv[1:]:
    if not os.fork():
        # This process ends even if the scheduler starts.
        signal.alarm(300)
        sys.argv[:] = ['nova-scheduler', '--config-file', path]
        scheduler.main()
    _, status = os.wait()
    print(os.waitstatus_to_exitcode(status), flush=True)
"""

FILTER = """
available_filters = nova_filters.all_filters
enabled_filters = AggregateInstanceTypeFilter
"""
WEIGHER = 'weight_classes = nova_filters.all_weighers'

#: The plug-in, the section, the option, its value, and what is said of it.
WRONG = (
    (FILTER, 'nova_filters', 'exempt_metadata_keys', '$nowhere', 'nowh'),
    (WEIGHER, 'heat_hints', 'signing_key', 'short-secret', 'number 1'),
)


class WrongOptionTest(unittest.TestCase):
    def test_nova_scheduler_does_not_start(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for plug_in, section, name, value, _ in WRONG:
            (folder / name).write_text(
                f'[DEFAULT]\nlog_file = {folder / name}.log\n'
                f'[filter_scheduler]\n{plug_in}\n'
                f'[{section}]\n{name} = {value}\n'
            )
        files = [str(folder / name) for _, _, name, *_ in WRONG]
        codes = processes.run_python(START, *files)
        self.assertEqual(['1', '1'], codes)
        for _, section, name, _, words in WRONG:
            text = (folder / f'{name}.log').read_text()
            self.assertIn(f'[{section}] Value for option {name} ', text)
            self.assertIn(words, text)
            self.assertNotIn('secret', text)
