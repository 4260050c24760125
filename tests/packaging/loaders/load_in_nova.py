# SPDX-License-Identifier: Apache-2.0

"""Load filters and weighers as nova-scheduler does when it starts.

Run by path in an environment that holds Nova alone, with a nova.conf in the
current folder; prints the names of the filters and weighers that the real
host manager chose.
"""

from nova import config, objects
from nova.scheduler import host_manager


class HostManagerWithoutDatabase(host_manager.HostManager):
    """Nova's host manager, less the queries it makes at its start."""

    def refresh_cells_caches(self):
        self.cells = {}

    def _init_aggregates(self):
        self.aggs_by_id = {}

    def _init_instance_info(self, computes_by_cell=None):
        self._instance_info = {}


config.parse_args(['nova-scheduler'], default_config_files=['nova.conf'])
objects.register_all()
manager = HostManagerWithoutDatabase()
print('filters', *(type(one).__name__ for one in manager.enabled_filters))
print('weighers', *(type(one).__name__ for one in manager.weighers))
