# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, also beside other plug-ins."""

import collections
import json
import pathlib

import heat_hints
from testing.heat.templates import instance, server, stack, template, volume
from tests import signing
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent


class TestRefused(base.ScenarioCase):
    def test_wrong_values_are_told_although_no_hints_are_wanted(self):
        self.assert_not_started(
            *base.REFUSED,
            'option scope ',
            'opt_in',
            'option signing_key ',
            'number 1 has fewer than 32 characters',
            secret='short-key',
            enabled='false',
            scope='some',
            # The second one would do.
            signing_key=f'short-key,{signing.KEY}',
        )

    def test_a_type_that_heat_does_not_know(self):
        self.assert_not_started(
            *base.REFUSED,
            'option resource_types ',
            'no resource type "OS::Nova::Severs"',
            resource_types='OS::Nova::Severs,OS::Nova::Server',
        )


#: Another plug-in that overrides a type, and adds two. It collects the
#: queries of one thread from the moment when the hook asks it, which the hook
#: does first, to when the hook asks the provider, last.
OTHER = """
import json
import threading

import sqlalchemy
from heat.engine.resources.openstack.nova import server

found = {}
threads = {}


def collect(connection, cursor, statement, *args):
    if threading.get_ident() in found and 'FROM' in statement:
        found[threading.get_ident()].append(' '.join(statement.split()))


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        threads[self.uuid] = threading.get_ident()
        found[threading.get_ident()] = []
        return super()._scheduler_hints(scheduler_hints)


class Listed(server.Server):
    pass


class LeftOut(server.Server):
    pass


# Before the engine sends statements.
sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', collect
)


class Queries:
    def __init__(self, conf):
        pass

    def hints(self, request):
        thread = threads.pop(request.resource_uuid, None)
        return {'queries': json.dumps(found.pop(thread))} if thread else {}
"""
PLUGIN = """
import other_for_tests as other


def resource_mapping():
    return {
        'OS::Nova::Server': other.Server,
        'Other::Nova::Server': other.Listed,
        'Other::Nova::LeftOut': other.LeftOut,
    }
"""


class TestOtherPlugin(base.ScenarioCase):
    """Types of Heat and of another plug-in; ports, which send no hints."""

    options = {
        'providers': 'queries',
        'resource_types': (
            'OS::Neutron::Port,OS::Cinder::Volume,'
            'OS::Nova::Server,Other::Nova::Server'
        ),
    }
    # This package's own directory comes first.
    settings = {
        'DEFAULT': {'plugin_dirs': f'{PACKAGE}/plugins,{{folder}}/other'}
    }
    files = {'other_for_tests.py': OTHER, 'other/other_server.py': PLUGIN}
    entry_points = {
        'heat_hints.providers': {'queries': 'other_for_tests:Queries'}
    }
    stacks = (
        stack(
            'root',
            template(
                nested={'type': 'inner.yaml'},
                top=server(name='top'),
                other={**server(name='other'), 'type': 'Other::Nova::Server'},
                left_out={
                    **server(name='left_out'),
                    'type': 'Other::Nova::LeftOut',
                },
                disk=volume(),
                instance=instance(),
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
        # "first" is nested two levels deep, and the only one to look.
        for name, count in (('first', 2), ('second', 0), ('top', 0)):
            queries = json.loads(self.outcome.hints(name)['queries'])
            self.assertEqual(count, len(queries), queries)
            for query in queries:
                columns = query.partition(' FROM ')[0]
                self.assertIn('parent_resource_name', columns)
                self.assertEqual(3, columns.count(','))

    def test_types_that_are_named_send_hints_and_a_class_is_extended(self):
        self.assert_created('root')
        self.assertEqual(7, len(self.outcome.sent))
        for request in self.outcome.sent:
            expected = None
            if request.name in ('first', 'second', 'top', 'other', 'disk'):
                resource = self.outcome.only('root', request.name)
                expected = self.outcome.expected_hints('root', resource)
            if request.name in ('first', 'second', 'top'):
                expected['queries'] = request.hints['queries']
            self.assertEqual(expected, request.hints)

    def test_types_without_hints_are_told(self):
        (error,) = self.outcome.lines('ERROR')
        for words in (
            'type "OS::Neutron::Port" gets no hints',
            '[heat_hints] resource_types',
            'restart heat-engine',
        ):
            self.assertIn(words, error)
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn('type "Other::Nova::LeftOut" gets no hints', warning)


#: Another plug-in that overrides a type.
SEEN = """
from heat.engine.resources.openstack.nova import server


class Server(server.Server):
    def _scheduler_hints(self, scheduler_hints):
        return {**(scheduler_hints or {}), 'seen': 'yes'}


def resource_mapping():
    return {'OS::Nova::Server': Server}
"""


class TestDisabled(base.ScenarioCase):
    """Disabled, the engine is stock Heat, beside another plug-in, too."""

    options = {
        'enabled': 'false',
        'resource_types': 'OS::Nova::Server,OS::Cinder::Volume',
        'signing_key': signing.KEY,
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

    def without_hints(self, outcome):
        """Return what was sent, by the names of the servers and volumes."""
        return {
            request.name: {**request.data, request.key: None}
            for request in outcome.sent
        }

    def test_enabled_nothing_but_the_hints_is_another(self):
        enabled = self.run_scenario({**self.options, 'enabled': 'true'})
        self.assertEqual(
            self.without_hints(self.outcome), self.without_hints(enabled)
        )
        for request in enabled.sent:
            self.assertIn('heat_signature', request.hints)

    def test_the_other_plug_in_works_and_nothing_is_told(self):
        self.assertEqual({'seen': 'yes'}, self.outcome.hints('plain'))
        # Nothing but the option in the dumps of the configuration.
        self.assertNotRegex(self.outcome.log, ' [A-Z]+ heat_hints')
