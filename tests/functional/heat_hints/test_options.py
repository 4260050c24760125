# SPDX-License-Identifier: Apache-2.0

"""What each option of ``[heat_hints]`` does to the requests."""

import re

from testing.heat.templates import server, stack, template
from tests.functional.heat_hints import base

PROVIDERS = '''
import sys
import threading


class Provider:
    def __init__(self, conf):
        pass


class Rack(Provider):
    def hints(self, request):
        return {
            'rack': 7,
            'empty': None,
            'shape': {'a': [1]},
            'asked': [
                request.resource_type,
                str(request.alias),
                request.resource_name,
                request.root_stack_id,
                request.path[0].stack,
                sorted(request.user_hints),
            ],
            'heat_stack_id': 'forged',
        }


class Second(Provider):
    def hints(self, request):
        # A copy: what becomes of it is nobody else's concern.
        request.user_hints['tier'] = 'changed'
        return {'rack': 'other', 'own': 'yes', 'tier': 'provider'}


class Failing(Provider):
    def hints(self, request):
        if 'failing' not in request.user_hints.get('spared', ''):
            raise RuntimeError('the inventory is away')


class Broken:
    def __init__(self, conf):
        raise ValueError('no inventory is configured')


class Leaving(Provider):
    def hints(self, request):
        sys.exit('no inventory')


class Nothing(Provider):
    def hints(self, request):
        return None


class Endless(Provider):
    def hints(self, request):
        ring = {}
        ring['ring'] = ring
        return ring


class Nova(Provider):
    """Names that Nova acts on."""

    def hints(self, request):
        if 'nova' in request.user_hints.get('spared', ''):
            return {}
        return {
            'same_host': 'aaaaaaaa-0000-4000-8000-000000000002',
            'group': 'not a group',
            '_nova_check_type': 'rebuild',
        }


class Meeting:
    """Answers one of two servers only when the other asks, too."""

    def __init__(self, conf):
        self.both = threading.Barrier(2, timeout=600)

    def hints(self, request):
        if 'meet' not in request.user_hints:
            return {}
        self.both.wait()
        return {'met': 'yes'}
'''
#: Has the database fail for the hook's query, and for no other. SQLAlchemy
#: is told before the engine sends statements.
NO_LOOKUP = """
import sqlalchemy


def refuse(conn, cursor, statement, *rest):
    columns = statement.partition(' FROM ')[0]
    if columns.count(',') == 3 and 'parent_resource_name' in columns:
        raise RuntimeError('the database is away')


sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', refuse
)


class NoLookup:
    def __init__(self, conf):
        pass

    def hints(self, request):
        return {'root': str(request.root_stack_id), 'at': len(request.path)}
"""
NAMES = {
    **{
        name.lower(): f'providers_for_tests:{name}'
        for name in (
            *('Rack', 'Second', 'Failing', 'Leaving', 'Nothing', 'Endless'),
            *('Meeting', 'Nova', 'Broken'),
        )
    },
    'asserting': 'asserting_for_tests:Provider',
    'exiting': 'exiting_for_tests:Provider',
    'no_lookup': 'no_lookup_for_tests:NoLookup',
    'missing_module': 'no_such_module_anywhere:Provider',
}


class _WithProviders:
    files = {
        'providers_for_tests.py': PROVIDERS,
        'no_lookup_for_tests.py': NO_LOOKUP,
        'asserting_for_tests.py': 'raise AssertionError("not today")\n',
        'exiting_for_tests.py': 'raise SystemExit("no database")\n',
    }
    entry_points = {'heat_hints.providers': NAMES}


class TestOptIn(base.ScenarioCase):
    """``scope = opt_in``; three servers at the top, and a nested stack."""

    options = {'scope': 'opt_in'}
    stacks = (
        stack(
            'root',
            template(
                yes=server(name='yes', metadata={'heat_hints': True}),
                no=server(name='no', metadata={'heat_hints': 'false'}),
                silent=server(name='silent'),
                odd=server(name='odd', metadata={'heat_hints': 'maybe\n'}),
                list=server(name='list', metadata={'get_param': 'numbers'}),
                nested={
                    'type': 'inner.yaml',
                    'metadata': {'heat_hints': True},
                },
            )
            | {'parameters': {'numbers': {'type': 'json', 'default': [1]}}},
            files={
                'inner.yaml': template(
                    inner=server(name='inner', metadata={'heat_hints': True}),
                    inner_silent=server(name='inner_silent'),
                )
            },
        ),
    )

    def test_only_resources_that_say_so_get_hints(self):
        self.assert_created('root')
        self.assertEqual(
            ['inner', 'yes'],
            sorted(r.name for r in self.outcome.sent if r.hints),
        )

    def test_metadata_that_is_not_understood_is_told(self):
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn(r"heat_hints: 'maybe\n' of", warning)


class TestProviders(_WithProviders, base.ScenarioCase):
    """Providers found by their entry points, and a mapping file."""

    options = {
        'providers': 'rack,second,mapping_file,meeting,nova',
        'mapping_file': '{folder}/mapping.yaml',
        # Two servers meet, on a busy machine after a while.
        'provider_timeout': '600',
        'allowed_nova_hints': 'same_host',
    }
    files = {
        **_WithProviders.files,
        'mapping.yaml': (
            '- {stack: "ro*", resource: db, hints: {zone: [z1, z2]}}\n'
            '- {project: nobody, hints: {zone: wrong}}\n'
        ),
    }
    stacks = (
        stack(
            'root',
            template(
                db=server(name='db', hints={'tier': 'user'}),
                web=server(name='web'),
            ),
        ),
        stack(
            'aliased',
            template(one={**server(name='aliased'), 'type': 'My::Server'}),
            environment={'resource_registry': {'My::*': 'OS::Nova::*'}},
        ),
        stack(
            'meeting',
            template(
                first=server(hints={'meet': 'second'}),
                second=server(hints={'meet': 'first'}),
            ),
        ),
    )

    def test_values_become_strings_and_lists_of_strings(self):
        self.assert_created('root')
        sent = self.outcome.hints('db')
        self.assertEqual('7', sent['rack'])
        self.assertEqual('{"a":[1]}', sent['shape'])
        self.assertNotIn('empty', sent)

    def test_a_provider_is_told_about_the_resource(self):
        root = self.outcome.told['root']['root']
        self.assertEqual(
            ['OS::Nova::Server', 'None', 'db', root, 'root', '["tier"]'],
            self.outcome.hints('db')['asked'],
        )

    def test_a_provider_sees_the_type_and_its_alias_beside(self):
        self.assert_created('aliased')
        self.assertEqual(
            ['OS::Nova::Server', 'My::Server', 'one'],
            self.outcome.hints('aliased')['asked'][:3],
        )

    def test_a_provider_sets_no_reserved_name_and_none_that_is_taken(self):
        sent = self.outcome.hints('db')
        self.assertEqual(
            self.outcome.told['root']['root'], sent['heat_stack_id']
        )
        self.assertEqual('yes', sent['own'])
        for hint, provider in (('heat_stack_id', 'rack'), ('rack', 'second')):
            self.assertIn(
                f'\'{hint}\' of the provider "{provider}"',
                '\n'.join(self.outcome.lines('WARNING')),
            )

    def test_the_templates_hint_wins_over_a_providers(self):
        self.assertEqual('user', self.outcome.hints('db')['tier'])
        self.assertEqual('provider', self.outcome.hints('web')['tier'])

    def test_the_mapping_file_gives_hints_to_the_resources_it_names(self):
        self.assertEqual(['z1', 'z2'], self.outcome.hints('db')['zone'])
        self.assertNotIn('zone', self.outcome.hints('web'))

    def test_names_that_nova_acts_on_need_the_operators_leave(self):
        sent = self.outcome.hints('web')
        self.assertIn('same_host', sent)
        for name in ('group', '_nova_check_type'):
            self.assertNotIn(name, sent)
            self.assertTrue(
                any(
                    f'\'{name}\' of the provider "nova"' in line
                    and 'allowed_nova_hints' in line
                    for line in self.outcome.lines('WARNING')
                ),
                name,
            )

    def test_a_slow_provider_keeps_no_other_server_waiting(self):
        self.assert_created('meeting')
        self.assertEqual(
            ['yes', 'yes'],
            [r.hints['met'] for r in self.outcome.sent_for('meeting')],
        )


class _Failing(_WithProviders):
    stacks = (
        base.ONE,
        # The database fails when the stack above is looked up.
        stack(
            'nesting',
            template(nested={'type': 'inner.yaml'}),
            files={'inner.yaml': template(inner=server(name='inner'))},
        ),
    )


class TestFailuresIgnored(_Failing, base.ScenarioCase):
    """``on_error = ignore``, the default, and everything fails."""

    #: Providers that cannot be imported, and what is said of them.
    UNLOADABLE = (
        ('missing_module', 'no_such_module_anywhere'),
        ('asserting', 'not today'),
        ('exiting', 'no database'),
    )
    #: One that cannot be made.
    UNMADE = (('broken', 'no inventory is configured'),)
    #: Providers that fail when they are asked, and what is said of them.
    FAILING = (
        ('failing', 'RuntimeError: the inventory is away'),
        ('leaving', 'SystemExit: no inventory'),
        ('endless', 'RecursionError'),
    )
    options = {
        'providers': ','.join(
            [
                *(name for name, _ in UNLOADABLE + UNMADE + FAILING),
                # This one gives no hints, and that is no failure.
                *('nothing', 'second', 'no_lookup'),
            ]
        )
    }
    PROVIDED = {'rack': 'other', 'own': 'yes', 'tier': 'provider'}

    def test_a_server_is_created_with_all_other_hints(self):
        self.assert_created('root')
        one = self.outcome.only('root', 'one')
        wanted = self.outcome.wanted('root', one)
        self.assertEqual(
            {
                **wanted,
                **self.PROVIDED,
                'root': wanted['heat_root_stack_id'],
                'at': '1',
            },
            self.outcome.hints('one'),
        )

    def test_without_a_lookup_a_server_is_created_without_root_and_path(self):
        self.assert_created('nesting')
        inner = self.outcome.only('nesting', 'inner')
        wanted = self.outcome.wanted('nesting', inner)
        del wanted['heat_root_stack_id'], wanted['heat_path_in_stack']
        # The provider is asked all the same, and sees what is missing.
        self.assertEqual(
            {**wanted, **self.PROVIDED, 'root': 'None', 'at': '1'},
            self.outcome.hints('inner'),
        )

    def test_one_error_at_the_start_and_one_at_first_use(self):
        told = [*self.UNLOADABLE, *self.UNLOADABLE, *self.UNMADE]
        errors = self.outcome.lines('ERROR')
        # Two servers are created, and nothing is told twice.
        self.assertEqual(len(told), len(errors))
        for error, (name, reason) in zip(errors, told, strict=True):
            self.assertIn(f'the provider "{name}"', error)
            self.assertIn(reason, error)
            self.assertIn('[heat_hints] providers', error)
            self.assertIn('restart heat-engine', error)

    def test_one_warning_for_each_failure_says_what_failed_and_why(self):
        warnings = self.outcome.lines('WARNING')
        asked = [(f'"{name}" failed', why) for name, why in self.FAILING]
        lookup = ('could not be looked up', 'the database is away')
        told = [*asked, lookup, *asked]
        self.assertEqual(len(told), len(warnings))
        for warning, (what, why) in zip(warnings, told, strict=True):
            self.assertIn(what, warning)
            self.assertIn(why, warning)


class TestFailuresFail(_Failing, base.ScenarioCase):
    """``on_error = fail``."""

    options = {
        'providers': 'failing,nova,broken,no_lookup',
        'on_error': 'fail',
    }
    stacks = (
        *_Failing.stacks,
        # The providers that would fail before the one that is asked about.
        stack('hint', template(one=server(hints={'spared': 'failing'}))),
        stack('made', template(one=server(hints={'spared': 'failing,nova'}))),
    )

    def test_the_resource_fails_and_nothing_is_sent(self):
        for name, *told in (
            ('root', '"failing"', 'the inventory is away'),
            ('nesting', 'could not be looked up'),
            ('hint', '"nova" is not sent', 'allowed_nova_hints'),
            ('made', 'the provider "broken" could not be created'),
        ):
            self.assertEqual([], self.outcome.sent_for(name))
            reason = self.outcome.told[name]['reason']
            self.assertIn('Ask the operator', reason)
            (error,) = (
                line
                for line in self.outcome.lines('ERROR')
                if re.search(r'fault (\S+)\.', reason)[1] in line
            )
            for words in told:
                self.assertIn(words, error)
                self.assertNotIn(words, reason)
