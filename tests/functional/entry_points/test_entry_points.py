# SPDX-License-Identifier: Apache-2.0

"""What the distribution publishes, seen beside what the services publish."""

import importlib.metadata
import unittest

import ddt

from tests import processes

DISTRIBUTION = 'os-placement-plugins'

#: Loads what one package publishes, and prints of each entry point its
#: group, its name, what it loads, and the versions that a Senlin type has.
LOAD = """
import importlib, importlib.metadata, sys
if sys.argv[1] == 'senlin_plugins':
    # Senlin patches its process first of all.
    importlib.import_module('senlin.cmd')
points = importlib.metadata.distribution('os-placement-plugins').entry_points
for point in points:
    if point.module.partition('.')[0] == sys.argv[1]:
        loaded = point.load()
        name = getattr(loaded, '__qualname__', loaded.__name__)
        print(point.group, point.name, name, *getattr(loaded, 'VERSIONS', ()))
"""

#: By service: a program that gets the plug-ins as the service does, and a
#: module that is then there.
LOADING = {
    'senlin': (
        'import importlib.metadata\n'
        'import senlin.cmd\n'
        'for group in "senlin.policies", "senlin.profiles":\n'
        '    for point in importlib.metadata.entry_points(group=group):\n'
        '        point.load()\n',
        'senlin_plugins.policies.region_placement',
    ),
    'nova': (
        'import nova_filters\n'
        'nova_filters.all_filters()\n'
        'nova_filters.all_weighers()\n',
        'nova_filters.weighers.host_weighers',
    ),
    'heat': (
        'import importlib.metadata\n'
        'import heat.cmd\n'
        'group = "heat.stack_lifecycle_plugins"\n'
        'for point in importlib.metadata.entry_points(group=group):\n'
        '    point.load()\n'
        'from heat_hints import overrides\n',
        'heat_hints.overrides',
    ),
}


def distribution_points():
    """Return the entry points of this distribution."""
    return importlib.metadata.distribution(DISTRIBUTION).entry_points


@ddt.ddt
class EntryPointTest(unittest.TestCase):
    def test_names_are_unique_and_no_service_registers_them(self):
        for point in distribution_points():
            same_name = importlib.metadata.entry_points(
                group=point.group, name=point.name
            )
            owners = [other.dist.name for other in same_name]
            self.assertEqual([DISTRIBUTION], owners, point)

    @ddt.data(
        'senlin_plugins', 'nova_filters', 'heat_hints', 'openstack_commands'
    )
    def test_every_entry_point_loads_in_a_process_of_its_package(self, name):
        # As in production: two services do not fit into one process.
        published = sorted(
            [point.group, point.name, point.attr or point.module]
            for point in distribution_points()
            if point.module.partition('.')[0] == name
        )
        self.assertTrue(published)
        lines = [line.split() for line in processes.run_python(LOAD, name)]
        self.assertEqual(published, sorted(line[:3] for line in lines))
        for group, point_name, _, *versions in lines:
            if group in ('senlin.policies', 'senlin.profiles'):
                # Senlin splits a type's name on "-" when it lists the
                # types: one more would break the listing for everybody.
                type_name, _, version = point_name.partition('-')
                self.assertTrue(type_name.startswith('senlin_plugins.'))
                self.assertIn(version, versions)

    @ddt.data('senlin', 'nova', 'heat')
    def test_no_service_loads_the_commands(self, service):
        program, plugin = LOADING[service]
        program += 'import sys\nprint(*sys.modules, sep="\\n")\n'
        modules = processes.run_python(program)
        self.assertIn(plugin, modules)
        commands = [m for m in modules if m.startswith('openstack_commands')]
        self.assertEqual([], commands)

    def test_option_groups_are_named_after_their_package(self):
        # But for one line that nova.conf and heat.conf share.
        shared = {'nova_filters': {'heat_hints'}}
        for point in distribution_points().select(group='oslo.config.opts'):
            groups = {
                getattr(group, 'name', group) for group, _ in point.load()()
            }
            expected = {point.name} | shared.get(point.name, set())
            self.assertEqual(expected, groups)
