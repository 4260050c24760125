# SPDX-License-Identifier: Apache-2.0

"""The wheel in an environment where Nova is the only service."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from nova import config, objects
from nova.scheduler import host_manager

NOVA_CONF = """
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = nova_filters.all_filters
enabled_filters = ComputeFilter,AggregateInstanceTypeFilter
weight_classes = nova_filters.all_weighers
"""


class HostManagerWithoutDatabase(host_manager.HostManager):
    """Nova's host manager, less the queries it makes at its start."""

    def refresh_cells_caches(self):
        self.cells = {}

    def _init_aggregates(self):
        self.aggs_by_id = {}

    def _init_instance_info(self, computes_by_cell=None):
        self._instance_info = {}


class NovaAloneTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, 'nova.conf')
        self.file.write_text(NOVA_CONF)

    def test_nova_scheduler_loads_what_nova_conf_names(self):
        config.parse_args(
            ['nova-scheduler'], default_config_files=[str(self.file)]
        )
        objects.register_all()
        manager = HostManagerWithoutDatabase()
        self.assertEqual(
            ['ComputeFilter', 'AggregateInstanceTypeFilter'],
            [type(one).__name__ for one in manager.enabled_filters],
        )
        self.assertEqual(
            [
                'PreferenceWeigher',
                'StackPlaceWeigher',
                'StackAffinityWeigher',
                'ServerGroupWeigher',
            ],
            [type(one).__name__ for one in manager.weighers],
        )

    def test_the_upgrade_check_warns_of_nothing_worse_than_defaults(self):
        script = pathlib.Path(sys.prefix, 'bin', 'nova-filters-status')
        done = subprocess.run(
            [script, '--config-file', self.file, 'upgrade', 'check', '--json'],
            capture_output=True,
            text=True,
        )
        rows = json.loads(done.stdout)['checks']
        self.assertEqual(done.returncode, max(r['result'] for r in rows))
        self.assertIn(done.returncode, (0, 1), done.stdout)
