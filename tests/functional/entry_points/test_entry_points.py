# SPDX-License-Identifier: Apache-2.0

"""What the distribution publishes, seen beside what the services publish."""

import collections
import configparser
import importlib.metadata
import unittest

import ddt

from tests import processes

DISTRIBUTION = 'os-placement-plugins'

GROUPS = (
    'console_scripts',
    'senlin.policies',
    'senlin.profiles',
    'heat.stack_lifecycle_plugins',
    'heat_hints.providers',
    'openstack.cli.extension',
    'openstack.nova_filters.v1',
    'openstack.senlin_plugins.v1',
    'oslo.config.opts',
)


#: Senlin patches its process first of all; so do programs that load parts
#: of it. Each of these programs gets one argument and prints lines.
LOAD_GROUP = """
import importlib, importlib.metadata, sys
if sys.argv[1].startswith('senlin.'):
    importlib.import_module('senlin.cmd')
points = importlib.metadata.distribution('os-placement-plugins').entry_points
for point in points.select(group=sys.argv[1]):
    loaded = point.load()
    print(point.name, getattr(loaded, '__qualname__', loaded.__name__))
"""
LIST_VERSIONS = """
import senlin.cmd
import importlib.metadata, sys
points = importlib.metadata.distribution('os-placement-plugins').entry_points
for point in points.select(group=sys.argv[1]):
    print(point.name, *point.load().VERSIONS)
"""
LIST_CLASSES = """
import sys, nova_filters
print(*(cls.__module__ for cls in getattr(nova_filters, sys.argv[1])()))
"""


def published_in(group):
    """Return the distributions behind each name of an entry-point group."""
    owners = collections.defaultdict(list)
    for point in importlib.metadata.entry_points(group=group):
        owners[point.name].append(point.dist.name)
    return owners


def own_entry_points():
    """Return the entry points of this distribution."""
    return importlib.metadata.distribution(DISTRIBUTION).entry_points


@ddt.ddt
class EntryPointTest(unittest.TestCase):
    def test_installed_entry_points_are_those_of_setup_cfg(self):
        setup = configparser.ConfigParser(delimiters=('=',))
        setup.optionxform = str
        setup.read(processes.ROOT / 'setup.cfg')
        wanted = {
            (group, *(part.strip() for part in line.split('=', 1)))
            for group, lines in setup['options.entry_points'].items()
            for line in lines.strip().splitlines()
        }
        found = {(p.group, p.name, p.value) for p in own_entry_points()}
        self.assertEqual(wanted, found)
        self.assertEqual(set(GROUPS), {group for group, _, _ in found})

    @ddt.data(*GROUPS)
    def test_names_are_unique_and_no_service_registers_them(self, group):
        owners = published_in(group)
        ours = [p.name for p in own_entry_points() if p.group == group]
        self.assertTrue(ours)
        for name in ours:
            self.assertEqual([DISTRIBUTION], owners[name], name)

    def test_the_services_publish_beside_us(self):
        # Else the test above would compare with nothing.
        for group, name in (
            ('senlin.policies', 'senlin.policy.region_placement-1.0'),
            ('senlin.profiles', 'os.nova.server-1.0'),
            ('oslo.config.opts', 'nova.conf'),
            ('oslo.config.opts', 'heat.common.config'),
        ):
            self.assertEqual(1, len(published_in(group)[name]), name)

    @ddt.data(*GROUPS)
    def test_every_entry_point_loads_in_its_own_process(self, group):
        # As in production: two services do not fit into one process.
        wanted = sorted(
            f'{point.name} {point.attr or point.module}'
            for point in own_entry_points()
            if point.group == group
        )
        self.assertTrue(wanted)
        self.assertEqual(
            wanted, sorted(processes.run_python(LOAD_GROUP, group))
        )

    def test_senlin_types_carry_a_version_that_their_class_knows(self):
        for group in ('senlin.policies', 'senlin.profiles'):
            lines = processes.run_python(LIST_VERSIONS, group)
            self.assertTrue(lines)
            for line in lines:
                name, *versions = line.split()
                # Senlin splits a type's name on "-" when it lists the
                # types: one more would break the listing for everybody.
                type_name, _, version = name.partition('-')
                self.assertTrue(type_name.startswith('senlin_plugins.'), name)
                self.assertIn(version, versions)

    @ddt.data('all_filters', 'all_weighers')
    def test_nova_finds_classes_under_the_published_name(self, name):
        modules = processes.run_python(LIST_CLASSES, name)
        self.assertTrue(modules)
        for module in modules:
            self.assertTrue(module.startswith('nova_filters.'), module)

    def test_option_groups_are_named_after_their_package(self):
        # But for one line that nova.conf and heat.conf share.
        shared = {'nova_filters': {'heat_hints'}}
        for point in own_entry_points():
            if point.group == 'oslo.config.opts':
                groups = {
                    getattr(group, 'name', group)
                    for group, _ in point.load()()
                }
                expected = {point.name} | shared.get(point.name, set())
                self.assertEqual(expected, groups)
