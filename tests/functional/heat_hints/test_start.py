# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, or does not start."""

import collections
import json
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


#: Other plug-ins, each with a type whose class derives from Heat's server.
DERIVED_PLUGINS = """
from heat.engine.resources.openstack.nova import server


class Listed(server.Server):
    pass


class LeftOut(server.Server):
    pass


def resource_mapping():
    return {'Other::Nova::Server': Listed, 'Other::Nova::LeftOut': LeftOut}
"""


class TestTypes(base.ScenarioCase):
    """``resource_types`` names volumes, another plug-in's type, and ports.

    Ports send no hints.
    """

    options = {
        'resource_types': (
            'OS::Neutron::Port,OS::Cinder::Volume,'
            'OS::Nova::Server,Other::Nova::Server'
        )
    }
    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {'other/derived_servers.py': DERIVED_PLUGINS}
    stacks = (
        stack(
            'root',
            template(
                other={**server(name='other'), 'type': 'Other::Nova::Server'},
                left_out={
                    **server(name='left_out'),
                    'type': 'Other::Nova::LeftOut',
                },
                disk=volume(),
                instance=instance(),
            ),
        ),
    )

    def test_the_right_types_send_their_hints_and_others_send_none(self):
        self.assert_created('root')
        for request in self.outcome.sent:
            wanted = None
            if request.name in ('other', 'disk'):
                resource = self.outcome.only('root', request.name)
                wanted = self.outcome.wanted('root', resource)
            self.assertEqual(wanted, request.hints)

    def test_one_error_says_what_to_change(self):
        (error,) = self.outcome.lines('ERROR')
        for words in (
            'type "OS::Neutron::Port" gets no hints',
            '[heat_hints] resource_types',
            'restart heat-engine',
        ):
            self.assertIn(words, error)

    def test_a_warning_names_the_type_that_is_left_out(self):
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn('type "Other::Nova::LeftOut" gets no hints', warning)

    def test_with_on_error_fail_it_does_not_start(self):
        self.assert_not_started(
            base.NOT_STARTED,
            'type "OS::Neutron::Port" gets no hints',
            on_error='fail',
        )


#: Another plug-in that overrides the type. It collects the queries of one
#: thread from the moment when the hook asks it, which the hook does first,
#: to when the hook asks the provider, last.
OVERRIDING = """
import json
import threading

import sqlalchemy
from heat.engine.resources.openstack.nova import server

found = {}
threads = {}
mapped = []


def collect(connection, cursor, statement, *args):
    if threading.get_ident() in found and 'FROM' in statement:
        found[threading.get_ident()].append(' '.join(statement.split()))


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        threads[self.uuid] = threading.get_ident()
        found[threading.get_ident()] = []
        hints = dict(super()._scheduler_hints(scheduler_hints) or {})
        return {**hints, 'mapped': str(len(mapped))}


# Before the engine sends statements.
sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', collect
)


class Queries:
    def __init__(self, conf):
        pass

    def hints(self, request):
        queries = found.pop(threads.pop(request.resource_uuid))
        return {'queries': json.dumps(queries)}
"""
PLUGIN = """
import overriding_for_tests


def resource_mapping():
    overriding_for_tests.mapped.append(1)
    return {'OS::Nova::Server': overriding_for_tests.Server}
"""


class TestOtherPlugin(base.ScenarioCase):
    """Beside another plug-in: it is extended, and what hints cost."""

    options = {'providers': 'queries'}
    # This package's own directory comes first.
    settings = {
        'DEFAULT': {'plugin_dirs': f'{PACKAGE}/plugins,{{folder}}/other'}
    }
    files = {
        'overriding_for_tests.py': OVERRIDING,
        'other/other_server.py': PLUGIN,
    }
    entry_points = {
        'heat_hints.providers': {'queries': 'overriding_for_tests:Queries'}
    }
    stacks = (
        stack(
            'root',
            template(
                nested={'type': 'inner.yaml'},
                top={**server(name='top'), 'depends_on': 'nested'},
            ),
            files={
                'inner.yaml': template(deep={'type': 'deepest.yaml'}),
                'deepest.yaml': template(
                    first=server(name='first'),
                    second={**server(name='second'), 'depends_on': 'first'},
                ),
            },
        ),
    )

    def test_one_narrow_query_for_each_stack_above_that_is_not_known(self):
        self.assert_created('root')
        # "first" is nested two levels deep, and the only one to look.
        for name, count in (('first', 2), ('second', 0), ('top', 0)):
            queries = json.loads(self.outcome.hints(name)['queries'])
            self.assertEqual(count, len(queries), queries)
            for query in queries:
                columns = query.partition(' FROM ')[0]
                self.assertIn('parent_resource_name', columns)
                self.assertEqual(3, columns.count(','))

    def test_the_other_plug_in_is_extended_and_asked_for_types_once(self):
        for name in ('first', 'second', 'top'):
            resource = self.outcome.only('root', name)
            sent = self.outcome.hints(name)
            self.assertEqual(
                {
                    **self.outcome.wanted('root', resource),
                    'mapped': '1',
                    'queries': sent['queries'],
                },
                sent,
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


#: Whether its function was replaced, as the page says.
SEEN = """
from heat.engine.resources.openstack.nova import server


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        replaced = hasattr(resource_mapping, 'cache_info')
        return {**(scheduler_hints or {}), 'replaced': str(replaced)}


def resource_mapping():
    return {'OS::Nova::Server': Server}
"""


class TestDisabled(base.ScenarioCase):
    """Disabled, the engine is stock Heat, beside another plug-in, too."""

    options = {
        'enabled': 'false',
        'resource_types': 'OS::Nova::Server,OS::Cinder::Volume',
        'signing_key': KEY,
    }
    settings = {'DEFAULT': {'plugin_dirs': '{folder}/other'}}
    files = {'other/seen_server.py': SEEN}
    # Heat's default user data has a random boundary: RAW has none.
    stacks = (
        stack(
            'root',
            template(
                plain=server(name='plain', user_data_format='RAW'),
                hinted=server(
                    name='hinted',
                    user_data_format='RAW',
                    hints={'heat_stack_id': 'mine', 'tier': 'one'},
                ),
                volume=volume(scheduler_hints={'tier': 'one'}),
            ),
        ),
    )

    def test_bodies_are_those_of_stock_heat_byte_for_byte(self):
        self.assert_created('root')
        stock = self.run_scenario(blocked=True)
        self.assertIn('Not using heat_hints', stock.log)
        bodies = collections.Counter(r.body for r in stock.sent)
        self.assertEqual(3, sum(bodies.values()))
        self.assertEqual(
            bodies, collections.Counter(r.body for r in self.outcome.sent)
        )

    def test_nothing_is_replaced_and_nothing_told(self):
        self.assertEqual({'replaced': 'False'}, self.outcome.hints('plain'))
        # Nothing but the option in the dumps of the configuration.
        self.assertNotRegex(self.outcome.log, ' [A-Z]+ heat_hints')
