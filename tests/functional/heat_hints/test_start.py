# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, or does not start."""

import pathlib
from unittest import mock

import ddt

import heat_hints
from testing.heat.templates import server, stack, template, volume
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent
KEY = 'first-key-0123456789abcdef0123456789'


class TestWrongValues(base.ToldCase):
    """Two options are wrong; ``plugin_dirs`` names the directory, too."""

    options = {'scope': 'some', 'hints': 'heat_stack_nmae'}
    settings = {'DEFAULT': {'plugin_dirs': f'{PACKAGE}/plugins'}}
    told = (
        '[heat_hints]',
        'option scope ',
        'option hints ',
        'heat_stack_nmae',
    )


@ddt.ddt
class TestRefused(base.RefusedCase):
    """One option is wrong."""

    @ddt.unpack
    @ddt.named_data(
        # Hints are not even wanted.
        [
            *('wrong_value_disabled', {'enabled': 'false', 'scope': 'some'}),
            ('option scope ', 'opt_in'),
        ],
        # Nobody knows whether hints are wanted.
        ['switch', {'enabled': 'perhaps'}, ('option enabled ', 'perhaps')],
        [
            'unknown_type',
            {'resource_types': 'OS::Nova::Severs,OS::Nova::Server'},
            ('option resource_types ', 'no resource type "OS::Nova::Severs"'),
        ],
        [
            *('wrong_nova_name', {'allowed_nova_hints': 'groups'}),
            ('option allowed_nova_hints ', 'groups'),
        ],
        [
            *('unknown_provider', {'providers': 'nobody'}),
            (
                *('option providers ', '"nobody"'),
                'installed here are: group, mapping_f',
            ),
        ],
        # The providers of this package need another option.
        [
            *('mapping_file_not_set', {'providers': 'mapping_file'}),
            ('option providers ', '[heat_hints] mapping_file is not set'),
        ],
        [
            *('group_places_not_set', {'providers': 'group'}),
            ('provider "group"', '[heat_hints] group_places is not set'),
        ],
        [
            *('keep_beside_key', {'user_hints': 'keep', 'signing_key': KEY}),
            *(('option user_hints ', 'signing_key'), KEY),
        ],
        # The second one would do.
        [
            *('first_key_too_short', {'signing_key': f'short-key,{KEY}'}),
            ('option signing_key ', 'number 1 has fewer than 32 characters'),
            'short-key',
        ],
        # oslo.config takes what follows a dollar sign for an option's name.
        [
            *('unreadable_key', {'signing_key': f'${KEY.replace("-", "_")}'}),
            *(('option signing_key ', 'it cannot be read'), 'first_key'),
        ],
    )
    def test_option(self, options, told, secret=''):
        with mock.patch.object(type(self), 'options', options):
            self.assert_not_started(*told, secret=secret)


class TestTypes(base.ScenarioCase):
    """``resource_types`` names volumes, and a type that sends no hints."""

    options = {'resource_types': 'OS::Neutron::Port,OS::Cinder::Volume'}
    stacks = (stack('root', template(one=server(name='one'), disk=volume())),)

    def test_the_right_type_sends_its_hints_and_others_send_none(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('one'))
        self.assertEqual(
            self.outcome.wanted('root', self.outcome.only('root', 'disk')),
            self.outcome.hints('disk'),
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
    stacks = (base.ONE,)

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
    stacks = (base.ONE,)

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
        stack(
            'root',
            template(
                one={**server(name='one'), 'type': 'Other::Nova::Server'}
            ),
        ),
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

    options = {'resource_types': 'OS::Nova::Server,Other::Nova::Server'}

    def test_the_type_sends_its_hints(self):
        self.assert_created('root')
        self.assertEqual(
            self.outcome.wanted('root', self.outcome.only('root', 'one')),
            self.outcome.hints('one'),
        )
        self.assert_quiet()


class TestInTreeOptionToo(base.ScenarioCase):
    """Heat's own option is on as well, and fewer hints are chosen."""

    options = {'hints': 'heat_root_stack_id,heat_resource_name'}
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    FORGED = {
        'heat_root_stack_id': 'forged',
        'heat_stack_id': 'forged',
        'tier': 'one',
    }
    stacks = (
        stack('root', template(forged=server(name='forged', hints=FORGED))),
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
