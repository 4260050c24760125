# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, or does not start."""

import pathlib

import ddt

import heat_hints
from testing.heat.templates import instance, server, stack, template, volume
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent
KEY = 'first-key-0123456789abcdef0123456789'


@ddt.ddt
class TestRefused(base.ScenarioCase):
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
        # The provider needs another option.
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
    )
    def test_option(self, options, told, secret=''):
        self.assert_not_started(*base.REFUSED, *told, secret=secret, **options)


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
    OTHER = {**server(name='other'), 'type': 'Other::Nova::Server'}


class TestTypes(_Derived, base.ScenarioCase):
    """``resource_types`` names volumes, the other plug-in's type, and ports.

    Ports send no hints.
    """

    options = {
        'resource_types': (
            'OS::Neutron::Port,OS::Cinder::Volume,'
            'OS::Nova::Server,Other::Nova::Server'
        )
    }
    stacks = (
        stack(
            'root',
            template(other=_Derived.OTHER, disk=volume(), instance=instance()),
        ),
    )

    def test_the_right_types_send_their_hints_and_others_send_none(self):
        self.assert_created('root')
        for name in ('other', 'disk'):
            self.assertEqual(
                self.outcome.wanted('root', self.outcome.only('root', name)),
                self.outcome.hints(name),
            )
        (instance,) = (
            r for r in self.outcome.sent if r.name not in ('other', 'disk')
        )
        self.assertIsNone(instance.hints)

    def test_one_error_says_what_to_change(self):
        (error,) = self.outcome.errors()
        for words in (
            'type "OS::Neutron::Port" gets no hints',
            '[heat_hints] resource_types',
            'restart heat-engine',
        ):
            self.assertIn(words, error)
        self.assertEqual([], self.outcome.warnings())

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(
            base.NOT_STARTED,
            'type "OS::Neutron::Port" gets no hints',
            on_error='fail',
        )


class TestDerivedType(_Derived, base.ScenarioCase):
    """``resource_types`` does not name the other plug-in's type."""

    stacks = (stack('root', template(one=_Derived.OTHER)),)

    def test_a_warning_names_the_type(self):
        self.assert_created('root')
        self.assertIsNone(self.outcome.hints('other'))
        (warning,) = self.outcome.warnings()
        self.assertIn('type "Other::Nova::Server" gets no hints', warning)


OTHER_PLUGIN = """
from heat.engine.resources.openstack.nova import server


calls = []


class OtherServer(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        replaced = hasattr(resource_mapping, 'cache_info')
        return {'asked': str(len(calls)), 'replaced': str(replaced)}


def resource_mapping():
    calls.append(1)
    return {'OS::Nova::Server': OtherServer}
"""


class TestOtherPluginLater(base.ScenarioCase):
    """``plugin_dirs`` names this package's directory before another."""

    settings = {
        'DEFAULT': {'plugin_dirs': (f'{PACKAGE}/plugins,{{folder}}/other')}
    }
    files = {'other/other_server.py': OTHER_PLUGIN}
    stacks = (base.ONE,)

    def test_the_other_plugin_is_extended(self):
        self.assert_created('root')
        one = self.outcome.only('root', 'one')
        self.assertEqual(
            {
                **self.outcome.wanted('root', one),
                'asked': '1',
                # As the page says.
                'replaced': 'True',
            },
            self.outcome.hints('one'),
        )
        self.assert_quiet()

    def test_two_wrong_options_are_told(self):
        self.assert_not_started(
            *base.REFUSED,
            *('[heat_hints]', 'option scope '),
            *('option hints ', 'heat_stack_nmae'),
            scope='some',
            hints='heat_stack_nmae',
        )


class TestOtherPluginBesideDisabled(base.ScenarioCase):
    """The same with ``enabled = false``."""

    options = {'enabled': 'false'}
    settings = TestOtherPluginLater.settings
    files = TestOtherPluginLater.files
    stacks = (base.ONE,)

    def test_nothing_of_the_other_plugin_is_changed(self):
        self.assert_created('root')
        self.assertEqual(
            {'asked': '1', 'replaced': 'False'}, self.outcome.hints('one')
        )
