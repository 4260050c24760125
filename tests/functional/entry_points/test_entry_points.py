# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What the distribution publishes, seen beside what the services publish."""

import collections
import configparser
import importlib
import importlib.metadata
import pathlib
import unittest

import ddt

DISTRIBUTION = 'os-placement-plugins'
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent

GROUPS = (
    'senlin.policies',
    'senlin.profiles',
    'heat.stack_lifecycle_plugins',
    'heat_hints.providers',
    'oslo.config.opts',
)


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
        setup.read(ROOT / 'setup.cfg')
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
    def test_every_entry_point_loads(self, group):
        if group.startswith('senlin.'):
            # Senlin's classes want Senlin's own first import.
            importlib.import_module('senlin.cmd')
        for point in own_entry_points():
            if point.group == group:
                loaded = point.load()
                self.assertTrue(callable(loaded), point)
                self.assertEqual(
                    point.value.split(':')[1], loaded.__qualname__
                )

    def test_senlin_types_carry_one_dash_before_the_version(self):
        # Senlin splits a type's name on "-" when it lists the types: one
        # bad name breaks the listing for everybody.
        for point in own_entry_points():
            if point.group in ('senlin.policies', 'senlin.profiles'):
                name, _, version = point.name.partition('-')
                self.assertTrue(name.startswith('senlin_plugins.'), name)
                self.assertRegex(version, r'^\d+\.\d+$')
                importlib.import_module('senlin.cmd')
                self.assertIn(version, point.load().VERSIONS)

    @ddt.data('all_filters', 'all_weighers')
    def test_nova_finds_classes_under_the_published_name(self, name):
        package = importlib.import_module('nova_filters')
        classes = getattr(package, name)()
        self.assertTrue(classes)
        for cls in classes:
            self.assertTrue(cls.__module__.startswith('nova_filters.'), cls)

    def test_option_groups_are_named_after_their_package(self):
        for point in own_entry_points():
            if point.group == 'oslo.config.opts':
                groups = {
                    getattr(group, 'name', group)
                    for group, _ in point.load()()
                }
                self.assertEqual({point.name}, groups)
