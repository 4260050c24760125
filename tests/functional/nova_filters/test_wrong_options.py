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

FILTERS = 'available_filters = nova_filters.all_filters'
FILTER = 'enabled_filters = AggregateInstanceTypeFilter'
WEIGHER = 'weight_classes = nova_filters.all_weighers'

#: For each file, its lines after [filter_scheduler], and what is logged.
WRONG = {
    'exempt_metadata_keys': (
        f'{FILTERS}\n{FILTER}\n'
        '[nova_filters]\nexempt_metadata_keys = $nowhere\n',
        '[nova_filters] Value for option exempt_metadata_keys ',
        'nowhere',
    ),
    'signing_key': (
        f'{WEIGHER}\n[heat_hints]\nsigning_key = short-secret\n',
        '[heat_hints] Value for option signing_key ',
        'number 1',
    ),
    'no-line': (
        f'{FILTER}\n',
        'Scheduler Host Filter AggregateInstanceTypeFilter could not be found',
    ),
}


class WrongOptionTest(unittest.TestCase):
    def test_nova_scheduler_does_not_start(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name, (lines, *_) in WRONG.items():
            (folder / name).write_text(
                f'[DEFAULT]\nlog_file = {folder / name}.log\n'
                f'[filter_scheduler]\n{lines}'
            )
        files = [str(folder / name) for name in WRONG]
        codes = processes.run_python(START, *files)
        self.assertEqual(['1'] * len(WRONG), codes)
        for name, (_, *words) in WRONG.items():
            text = (folder / f'{name}.log').read_text()
            for word in words:
                self.assertIn(word, text)
            self.assertNotIn('secret', text)
