# SPDX-License-Identifier: Apache-2.0

"""What the distribution publishes loads in the processes of its package."""

import unittest

import ddt

from tests import processes

#: Loads what one package publishes, and prints of each entry point its group,
#: its name, and the versions that a Senlin type has.
LOAD = """
import importlib, importlib.metadata, sys
if sys.argv[1] == 'senlin_plugins':
    # Senlin patches its process first of all.
    importlib.import_module('senlin.cmd')
points = importlib.metadata.distribution('os-placement-plugins').entry_points
for point in points:
    if point.module.partition('.')[0] == sys.argv[1]:
        versions = getattr(point.load(), 'VERSIONS', ())
        print(point.group, point.name, *versions)
"""


@ddt.ddt
class EntryPointTest(unittest.TestCase):
    @ddt.data(
        'senlin_plugins', 'nova_filters', 'heat_hints', 'osc_placement_plugins'
    )
    def test_every_entry_point_loads_in_a_process_of_its_package(self, name):
        # As in production: two services do not fit into one process.
        lines = processes.run_python(LOAD, name)
        self.assertNotEqual([], lines)
        for line in lines:
            group, point_name, *versions = line.split()
            if group in ('senlin.policies', 'senlin.profiles'):
                # Senlin splits a type's name on "-" when it lists the
                # types: one more would break the listing for everybody.
                type_name, _, version = point_name.partition('-')
                self.assertTrue(type_name.startswith('senlin_plugins.'))
                self.assertIn(version, versions)
