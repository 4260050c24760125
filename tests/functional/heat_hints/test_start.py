# SPDX-License-Identifier: Apache-2.0

"""What heat-engine says when it starts, also beside other plug-ins."""

import json
import pathlib

import heat_hints
from testing.heat.templates import instance, server, stack, template, volume
from tests import signing
from tests.functional.heat_hints import base

PACKAGE = pathlib.Path(heat_hints.__file__).parent


class TestRefused(base.ScenarioCase):
    def test_wrong_values_are_told_although_no_hints_are_wanted(self):
        text = self.assert_not_started(
            *base.REFUSED,
            'option on_error ',
            'stop',
            'option signing_key ',
            'number 1 has fewer than 32 characters',
            enabled='false',
            on_error='stop',
            # The second one would do.
            signing_key=f'short-key,{signing.KEY}',
        )
        self.assertNotIn('short-key', text)


#: A provider with a wrong option, and an error that nobody foresees.
BROKEN = """
from away_for_tests import fail
from heat_hints import providers


class Unset:
    @classmethod
    def check(cls, conf):
        fail('[racks] url is wrong', providers.ProviderError)

    def hints(self, request):
        return {}


find = providers.find


def find_or_fail(conf):
    if conf.heat_hints.providers:
        return find(conf)
    fail('nobody thought of this')


providers.find = find_or_fail
"""


class TestPassword(base.ScenarioCase):
    """Heat itself logs why it does not start, with a traceback."""

    files = {'away_for_tests.py': base.AWAY, 'broken_for_tests.py': BROKEN}
    entry_points = {
        # Heat imports it before the hook.
        'heat.constraints': {'broken': 'broken_for_tests:Unset'},
        'heat_hints.providers': {'unset': 'broken_for_tests:Unset'},
    }
    stacks = (base.ONE,)

    def test_no_traceback_shows_a_password(self):
        for words, options in (
            (
                'racks] url is wrong: https://***@inventory',
                {'providers': 'unset'},
            ),
            (
                'nobody thought of this: https://***@inventory',
                {'on_error': 'fail'},
            ),
        ):
            text = self.assert_not_started(words, **options)
            self.assertIn('Traceback', text)
            self.assertNotIn(base.PASSWORD, text)

    def test_no_line_shows_a_password(self):
        self.assert_created('root')
        (error,) = self.outcome.lines('ERROR')
        self.assertIn('nobody thought of this: https://***@inv', error)
        self.assertNotIn(base.PASSWORD, self.outcome.log)


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
        return {**(super()._scheduler_hints(scheduler_hints) or {}), 'seen': 1}


class Derived(server.Server):
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
        'Other::Nova::Server': other.Derived,
    }
"""


class TestOtherPlugin(base.ScenarioCase):
    """Types of Heat, and of another plug-in that overrides one of them."""

    options = {'providers': 'queries'}
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

    def test_servers_of_all_types_send_hints_and_a_class_is_extended(self):
        self.assert_created('root')
        self.assertEqual(6, len(self.outcome.sent))
        for request in self.outcome.sent:
            expected = None
            if request.kind == 'server':
                name = request.name
                if name.startswith('root-instance'):
                    name = 'instance'
                resource = self.outcome.only('root', name)
                expected = self.outcome.expected_hints('root', resource)
            if request.name in ('first', 'second', 'top'):
                expected['queries'] = request.hints['queries']
                expected['seen'] = 1
            self.assertEqual(expected, request.hints)


class TestDisabled(base.ScenarioCase):
    options = {'enabled': 'false', 'signing_key': signing.KEY}
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
        bodies = [r.body for r in stock.sent]
        self.assertEqual(3, len(bodies))
        self.assertCountEqual(bodies, [r.body for r in self.outcome.sent])
        # Nothing but the option in the dumps of the configuration.
        self.assertNotRegex(self.outcome.log, ' [A-Z]+ heat_hints')

    def test_enabled_nothing_but_the_hints_is_another(self):
        enabled = self.run_scenario({**self.options, 'enabled': 'true'})
        bodies = [
            {r.name: {**r.data, r.key: None} for r in outcome.sent}
            for outcome in (self.outcome, enabled)
        ]
        self.assertEqual(*bodies)
        hints = {r.name: r.hints or {} for r in enabled.sent}
        signed = {name for name in hints if 'heat_signature' in hints[name]}
        self.assertEqual({'plain', 'hinted'}, signed)


class TestHeatsOption(base.ScenarioCase):
    options = {'signing_key': signing.KEY}
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    stacks = (stack('root', template(web=server(name='web'), disk=volume())),)

    def test_it_sends_hints_with_volumes(self):
        for value, kinds in (('true', {'server'}), ('false', set())):
            outcome = self.run_scenario({**self.options, 'enabled': value})
            hints = {r.kind: r.hints or {} for r in outcome.sent}
            self.assertIn('heat_root_stack_id', hints['server'])
            self.assertIn('heat_root_stack_id', hints['volume'])
            # Only this package signs.
            signed = {
                kind for kind in hints if 'heat_signature' in hints[kind]
            }
            self.assertEqual(kinds, signed)
