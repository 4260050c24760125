# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, or does not start."""

import pathlib

import heat_hints
from testing.heat.templates import server, template
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent

ONE = {'name': 'root', 'template': template(one=server(name='one'))}
DISK = {'type': 'OS::Cinder::Volume', 'properties': {'name': 'd', 'size': 1}}


class TestWrongValues(base.RefusedCase):
    """Two options are wrong; ``plugin_dirs`` names the directory, too."""

    options = {
        'enabled': 'true',
        'scope': 'some',
        'hints': 'heat_stack_nmae',
    }
    settings = {'DEFAULT': {'plugin_dirs': f'{PACKAGE}/plugins'}}
    told = (
        '[heat_hints]',
        'option scope ',
        'option hints ',
        'heat_stack_nmae',
    )


class TestWrongValueDisabled(base.RefusedCase):
    """An option is wrong, and hints are not even wanted."""

    options = {'enabled': 'false', 'scope': 'some'}
    told = ('option scope ', 'opt_in')


class TestWrongSwitch(base.RefusedCase):
    """Nobody knows whether hints are wanted."""

    options = {'enabled': 'perhaps'}
    told = ('option enabled ', 'perhaps')


class TestUnknownType(base.RefusedCase):
    """``resource_types`` names one that Heat does not have."""

    options = {
        'enabled': 'true',
        'resource_types': 'OS::Nova::Severs,OS::Nova::Server',
    }
    told = ('option resource_types ', 'no resource type "OS::Nova::Severs"')


class TestTypes(base.ScenarioCase):
    """``resource_types`` names volumes, and a type that sends no hints."""

    options = {
        'enabled': 'true',
        'resource_types': 'OS::Neutron::Port,OS::Cinder::Volume',
    }
    stacks = (
        {
            'name': 'root',
            'template': template(one=server(name='one'), disk=DISK),
        },
    )

    def test_the_right_type_sends_its_hints_and_others_send_none(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        self.assertEqual(
            self.outcome.wanted('root', self.outcome.only('root', 'disk')),
            self.outcome.hints('d'),
        )

    def test_an_error_says_what_to_change(self):
        (error,) = self.outcome.errors()
        for words in (
            'type "OS::Neutron::Port" gets no hints',
            '[heat_hints] resource_types',
            'restart heat-engine',
        ):
            self.assertIn(words, error)


class TestTypesFail(base.NotStartedCase):
    """The same with ``on_error = fail``."""

    options = {
        **base.NotStartedCase.options,
        'resource_types': 'OS::Neutron::Port,OS::Cinder::Volume',
    }
    told = ('type "OS::Neutron::Port" gets no hints',)


OTHER_PLUGIN = """
from heat.engine.resources.openstack.nova import server


calls = []


class OtherServer(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        hints = dict(super()._scheduler_hints(scheduler_hints) or {})
        return {**hints, 'asked': str(len(calls))}


def resource_mapping():
    calls.append(1)
    return {'OS::Nova::Server': OtherServer}
"""


class TestOtherPluginFirst(base.ScenarioCase):
    """``plugin_dirs`` names another directory, as an operator does."""

    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {'other/other_server.py': OTHER_PLUGIN}
    stacks = (ONE,)

    def test_the_other_plugin_is_extended_and_asked_for_its_types_once(self):
        self.assert_created('root')
        one = self.outcome.only('root', 'one')
        self.assertEqual(
            {**self.outcome.wanted('root', one), 'asked': '1'},
            self.outcome.hints('one'),
        )
        self.assert_quiet()


class TestOtherPluginLater(base.ScenarioCase):
    """``plugin_dirs`` names this package's directory before another."""

    settings = {
        'DEFAULT': {'plugin_dirs': (f'{PACKAGE}/plugins,{{folder}}/other')}
    }
    files = {'other/other_server.py': OTHER_PLUGIN}
    stacks = (ONE,)

    def test_the_other_plugin_wins_and_one_error_says_what_to_change(self):
        self.assert_created('root')
        self.assertEqual({'asked': '1'}, self.outcome.hints('one'))
        (error,) = self.outcome.errors()
        self.assertIn('other_server', error)
        self.assertIn('plugin_dirs', error)


class TestOtherPluginLaterFails(base.NotStartedCase):
    """The same with ``on_error = fail``."""

    settings = TestOtherPluginLater.settings
    files = TestOtherPluginLater.files
    told = ('other_server', 'plugin_dirs')


DERIVED_PLUGIN = """
from heat.engine.resources.openstack.nova import server


class OtherServer(server.Server):
    pass


def resource_mapping():
    return {'Other::Nova::Server': OtherServer}
"""


class _Derived:
    """Another plug-in has a type whose class derives from Heat's server."""

    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {'other/derived_server.py': DERIVED_PLUGIN}
    stacks = (
        {
            'name': 'root',
            'template': template(
                one={**server(name='one'), 'type': 'Other::Nova::Server'}
            ),
        },
    )


class TestDerivedType(_Derived, base.ScenarioCase):
    """``resource_types`` does not name the type."""

    def test_a_warning_names_the_type(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        (warning,) = self.outcome.warnings()
        self.assertIn('type "Other::Nova::Server" gets no hints', warning)


class TestDerivedTypeNamed(_Derived, base.ScenarioCase):
    """``resource_types`` names the type."""

    options = {
        'enabled': 'true',
        'resource_types': 'OS::Nova::Server,Other::Nova::Server',
    }

    def test_the_type_sends_its_hints(self):
        self.assert_created('root')
        self.assertEqual(
            self.outcome.wanted('root', self.outcome.only('root', 'one')),
            self.outcome.hints('one'),
        )
        self.assert_quiet()


class TestInTreeOptionToo(base.ScenarioCase):
    """Heat's own option is on as well, and fewer hints are chosen."""

    options = {
        'enabled': 'true',
        'hints': 'heat_root_stack_id,heat_resource_name',
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    FORGED = {
        'heat_root_stack_id': 'forged',
        'heat_stack_id': 'forged',
        'tier': 'one',
    }
    stacks = (
        {
            'name': 'root',
            'template': template(forged=server(name='forged', hints=FORGED)),
        },
    )

    def test_only_the_chosen_hints_are_sent_and_none_is_forged(self):
        self.assert_created('root')
        self.assertEqual(
            {
                'heat_root_stack_id': self.outcome.told['root']['root'],
                'heat_resource_name': 'forged',
                'tier': 'one',
            },
            self.outcome.hints('forged'),
        )

    def test_a_warning_says_that_heats_option_adds_nothing(self):
        (warning,) = self.outcome.warnings()
        self.assertIn('stack_scheduler_hints', warning)
