# SPDX-License-Identifier: Apache-2.0

"""Whatever is wrong here, heat-engine starts and says what to change."""

import pathlib

import heat_hints
from testing.heat import stack_hints
from testing.heat.templates import server, template
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent

ONE = {
    'name': 'root',
    'template': template(one=server(name='one')),
}


class _StillCreates:
    """The engine starts, creates a server without hints, and logs once."""

    error = ''

    def test_the_engine_starts_and_creates_servers_as_stock_heat(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))

    def test_one_error_says_what_to_change(self):
        (error,) = self.outcome.errors()
        self.assertIn(self.error, error)
        self.assertIn('restart heat-engine', error)


class TestWrongSwitch(_StillCreates, base.ScenarioCase):
    """``enabled`` is no truth value."""

    options = {'enabled': 'perhaps'}
    error = 'enabled'
    stacks = (ONE,)


class TestWrongChoice(_StillCreates, base.ScenarioCase):
    """An option has a value that it may not have."""

    options = {'enabled': 'true', 'scope': 'some'}
    error = 'scope'
    stacks = (ONE,)


class TestWrongValues(_StillCreates, base.ScenarioCase):
    """Two options are wrong; ``plugin_dirs`` names the directory, too."""

    options = {
        'enabled': 'true',
        'cache_size': 'many',
        'hints': 'heat_stack_nmae',
    }
    settings = {'DEFAULT': {'plugin_dirs': f'{PACKAGE}/plugins'}}
    error = 'cache_size'
    stacks = (ONE,)

    def test_the_error_names_both(self):
        (error,) = self.outcome.errors()
        self.assertIn('hints: ', error)


class TestWrongValueDisabled(base.ScenarioCase):
    """An option is wrong, but hints are not wanted."""

    options = {'enabled': 'false', 'scope': 'some'}
    stacks = (ONE,)

    def test_the_engine_is_stock_heat_and_can_tell_all_its_options(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        self.assertRegex(self.outcome.log, r'heat_hints\.scope +=')


class TestSeamGone(_StillCreates, base.ScenarioCase):
    """A Heat whose classes have no method of this name any more."""

    changed_heat = {'_scheduler_hints(': '_hints_for_scheduler('}
    error = '"OS::Nova::Server", "AWS::EC2::Instance" gets no hints'
    stacks = (ONE,)

    def test_it_says_that_another_version_is_needed(self):
        (error,) = self.outcome.errors()
        self.assertIn('install a version of os-placement-plugins', error)


class _OtherHeat(_StillCreates):
    error = 'Install a version of os-placement-plugins'


class TestSchedulerHintsModuleGone(_OtherHeat, base.ScenarioCase):
    """A Heat that has the hints in another module."""

    changed_heat = {
        'engine.resources import scheduler_hints': 'common import for_nova'
    }
    moved_heat = {'engine/resources/scheduler_hints.py': 'common/for_nova.py'}
    stacks = (ONE,)


class TestPluginManagerGone(_OtherHeat, base.ScenarioCase):
    """A Heat that reads its plug-ins with another class."""

    changed_heat = {'PluginMapping': 'MappingOfPlugins'}
    stacks = (ONE,)


class TestDatabaseModelsGone(_OtherHeat, base.ScenarioCase):
    """A Heat that has its database's models elsewhere."""

    changed_heat = {'context_manager': 'enginefacade_context'}
    stacks = (ONE,)


class TestLifecyclePluginGone(_OtherHeat, base.ScenarioCase):
    """A Heat whose lifecycle plug-ins have another base class."""

    changed_heat = {'class LifecyclePlugin': 'class StackPlugin'}
    stacks = (ONE,)


class TestPluginDirsGone(_OtherHeat, base.ScenarioCase):
    """A Heat whose option ``plugin_dirs`` has another name."""

    changed_heat = {'plugin_dirs': 'folders_of_plugins'}
    stacks = (ONE,)


class TestWrongTypes(base.ScenarioCase):
    """``resource_types`` names two types that send no hints."""

    options = {
        'enabled': 'true',
        'resource_types': (
            'OS::Nova::Severs,OS::Neutron::Port,OS::Nova::Server'
        ),
    }
    stacks = (ONE,)

    def test_the_right_type_sends_its_hints(self):
        self.assert_created('root')
        self.assertEqual(
            sorted(stack_hints.SIX), sorted(self.outcome.hints('one'))
        )

    def test_one_error_for_each_wrong_type_says_what_to_change(self):
        unknown, seamless = self.outcome.errors()
        self.assertIn('no resource type "OS::Nova::Severs"', unknown)
        self.assertIn('type "OS::Neutron::Port" gets no hints', seamless)
        for error in (unknown, seamless):
            self.assertIn('[heat_hints] resource_types', error)
            self.assertIn('restart heat-engine', error)


OTHER_PLUGIN = """
from heat.engine.resources.openstack.nova import server


class OtherServer(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        hints = dict(super()._scheduler_hints(scheduler_hints) or {})
        hints['other'] = 'plug-in'
        return hints


def resource_mapping():
    return {'OS::Nova::Server': OtherServer}
"""


class TestOtherPlugin(base.ScenarioCase):
    """Another plug-in overrides the same type."""

    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {'other/other_server.py': OTHER_PLUGIN}
    stacks = (ONE,)

    def test_both_have_their_say(self):
        self.assert_created('root')
        self.assertEqual(
            sorted([*stack_hints.SIX, 'other']),
            sorted(self.outcome.hints('one')),
        )
        self.assertEqual([], self.outcome.errors())


class TestOtherPluginLater(base.ScenarioCase):
    """``plugin_dirs`` names this package's directory before another."""

    settings = {
        'DEFAULT': {'plugin_dirs': (f'{PACKAGE}/plugins,{{folder}}/other')}
    }
    files = {'other/other_server.py': OTHER_PLUGIN}
    stacks = (ONE,)

    def test_the_other_plugin_wins_and_one_error_says_what_to_change(self):
        self.assert_created('root')
        self.assertEqual({'other': 'plug-in'}, self.outcome.hints('one'))
        (error,) = self.outcome.errors()
        self.assertIn('other_server', error)
        self.assertIn('plugin_dirs', error)


class TestInTreeOptionToo(base.ScenarioCase):
    """Heat's own option is on as well."""

    options = {'enabled': 'true', 'hints': 'heat_resource_name'}
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    stacks = (ONE,)

    def test_the_choice_of_hints_holds_and_a_warning_is_logged(self):
        self.assert_created('root')
        self.assertEqual(
            {'heat_resource_name': 'one'}, self.outcome.hints('one')
        )
        (warning,) = self.outcome.warnings()
        self.assertIn('stack_scheduler_hints', warning)


class TestAlias(base.ScenarioCase):
    """A user's environment gives a type another name."""

    stacks = (
        {
            'name': 'root',
            'template': template(
                one={**server(name='one'), 'type': 'My::Server'}
            ),
            'environment': {
                'resource_registry': {'My::Server': 'OS::Nova::Server'}
            },
        },
    )

    def test_an_aliased_type_sends_the_hints(self):
        self.assert_created('root')
        (one,) = self.outcome.told['root']['resources']
        self.assertEqual(
            self.outcome.wanted('root', one), self.outcome.hints('one')
        )


class TestAliasLegacy(TestAlias):
    """The same, by the legacy engine."""

    convergence = False
