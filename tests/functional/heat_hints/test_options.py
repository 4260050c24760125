# SPDX-License-Identifier: Apache-2.0

"""What each option of ``[heat_hints]`` does to the requests."""

import re

from testing.heat import stack_hints
from testing.heat.templates import server, stack, template, volume
from tests.functional.heat_hints import base

#: No character that a log or JSON would write in another way.
KEY = 'first-key-0123456789abcdef0123456789'
PROVIDERS = '''
import hmac
import threading

from os_placement_plugins import signature


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
        return {'rack': 'other', 'own': 'yes', 'tier': 'provider'}


class Failing(Provider):
    def hints(self, request):
        if 'failing' not in request.user_hints.get('spared', ''):
            raise RuntimeError('the inventory is away')


class Unsigned(Provider):
    """Has hmac fail for the hook, as a restricted OpenSSL would."""

    def __init__(self, conf):
        signature.hmac = self

    def new(self, key, text, *rest):
        if text == b'key id':
            return hmac.new(key, text, *rest)
        raise ValueError(f'no digest for {key}')

    def hints(self, request):
        return {}


class Broken:
    def __init__(self, conf):
        raise ValueError('no inventory is configured')


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
FILES = {
    'providers_for_tests.py': PROVIDERS,
    'no_lookup_for_tests.py': NO_LOOKUP,
    'exiting.py': 'raise SystemExit("no database")\n',
}
NAMES = {
    **{
        name.lower(): f'providers_for_tests:{name}'
        for name in re.findall(r'(?m)^class (\w+)', PROVIDERS)
    },
    **{name: f'{name}:Provider' for name in ('exiting', 'gone')},
    'nolookup': 'no_lookup_for_tests:NoLookup',
}
ENTRY_POINTS = {'heat_hints.providers': NAMES}
MAPPING = {'mapping.yaml': '- {hints: {tier: provider, own: "yes"}}\n'}


class TestOptInAndKeep(base.ScenarioCase):
    """``scope = opt_in``, ``user_hints = keep``, and few hints."""

    options = {
        'scope': 'opt_in',
        'user_hints': 'keep',
        'hints': 'heat_root_stack_id,heat_stack_id',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    files = MAPPING
    stacks = (
        stack(
            'root',
            template(
                replaced=server(
                    name='replaced',
                    metadata={'heat_hints': True},
                    hints={'heat_root_stack_id': 'mine', 'tier': 'user'},
                ),
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
                    # A hint that Heat does not send itself.
                    added=server(
                        name='added',
                        metadata={'heat_hints': True},
                        hints={'heat_stack_name': 'mine'},
                    ),
                    inner_silent=server(name='inner_silent'),
                )
            },
        ),
    )

    def test_only_resources_that_say_so_get_hints(self):
        self.assert_created('root')
        self.assertEqual(
            ['added', 'replaced'],
            sorted(r.name for r in self.outcome.sent if r.hints),
        )

    def test_metadata_that_is_not_understood_is_told(self):
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn(r"heat_hints: 'maybe\n' of", warning)

    def test_user_before_own_before_provider(self):
        root = self.outcome.told['root']['root']
        self.assertEqual(
            {
                'heat_root_stack_id': 'mine',
                'heat_stack_id': root,
                'tier': 'user',
                'own': 'yes',
            },
            self.outcome.hints('replaced'),
        )
        self.assertEqual(
            'mine', self.outcome.hints('added')['heat_stack_name']
        )


class TestBothOptions(base.ScenarioCase):
    """Heat's own option is on as well; few hints; the provider wins."""

    options = {
        'signing_key': KEY,
        'scope': 'opt_out',
        'hints': 'heat_root_stack_id,heat_resource_name',
        'hint_precedence': 'provider',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    files = MAPPING
    stacks = (
        stack(
            'root',
            template(
                one=server(name='one', hints={'tier': 'user', 'zone': 'z'}),
                left_out=server(
                    name='left_out', metadata={'heat_hints': False}
                ),
                volume=volume(),
            ),
        ),
    )

    def test_only_chosen_hints_are_sent_and_the_id_for_the_signature(self):
        self.assert_created('root')
        sent = self.outcome.hints('one')
        del sent['heat_signature']
        self.assertEqual(
            {
                'heat_root_stack_id': self.outcome.told['root']['root'],
                'heat_resource_name': 'one',
                'heat_resource_uuid': self.outcome.only('root', 'one')['uuid'],
                **{'tier': 'provider', 'own': 'yes', 'zone': 'z'},
            },
            sent,
        )

    def test_heats_own_option_covers_what_is_left_out(self):
        for name in ('left_out', 'disk'):
            self.assertEqual(
                set(stack_hints.SIX), set(self.outcome.hints(name))
            )
        (warning,) = self.outcome.lines('WARNING')
        for words in ('stack_scheduler_hints is on', 'scope leave out'):
            self.assertIn(words, warning)


class TestProviders(base.ScenarioCase):
    """Providers found by their entry points, and a mapping file."""

    options = {
        'providers': 'rack,second,mapping_file,meeting,nova',
        'mapping_file': '{folder}/mapping.yaml',
        # Two servers meet, on a busy machine after a while.
        'provider_timeout': '600',
        'allowed_nova_hints': 'same_host',
    }
    files = {
        **FILES,
        'mapping.yaml': (
            '- {stack: "ro*", resource: db, hints: {zone: [z1, z2]}}\n'
            '- {project: nobody, hints: {zone: wrong}}\n'
        ),
    }
    entry_points = ENTRY_POINTS
    stacks = (
        stack(
            'root',
            template(
                db=server(name='db', hints={'tier': 'user', 'meet': 'web'}),
                web=server(name='web', hints={'meet': 'db'}),
                one={**server(name='aliased'), 'type': 'My::Server'},
            ),
            environment={'resource_registry': {'My::*': 'OS::Nova::*'}},
        ),
    )

    def test_a_provider_is_told_about_the_resource(self):
        self.assert_created('root')
        root = self.outcome.told['root']['root']
        for name, wanted in (
            ('db', ['None', 'db', root, 'root', '["meet","tier"]']),
            ('aliased', ['My::Server', 'one', root, 'root', '[]']),
        ):
            self.assertEqual(
                ['OS::Nova::Server', *wanted],
                self.outcome.hints(name)['asked'],
            )

    def test_each_source_sends_what_it_may(self):
        db, web = self.outcome.hints('db'), self.outcome.hints('web')
        # Values become strings and lists of strings.
        self.assertEqual(('7', '{"a":[1]}'), (db['rack'], db['shape']))
        self.assertNotIn('empty', db)
        root = self.outcome.told['root']['root']
        self.assertEqual((root, 'yes'), (db['heat_stack_id'], db['own']))
        # The template's hint wins over a provider's.
        self.assertEqual(('user', 'provider'), (db['tier'], web['tier']))
        self.assertEqual(['z1', 'z2'], db['zone'])
        self.assertNotIn('zone', web)
        self.assertIn('same_host', web)
        self.assertTrue({'group', '_nova_check_type'}.isdisjoint(web))

    def test_a_warning_names_the_hint_and_the_provider(self):
        warnings = '\n'.join(self.outcome.lines('WARNING'))
        for hint, provider, words in (
            ('heat_stack_id', 'rack', 'belongs to the identifiers'),
            ('rack', 'second', 'earlier provider'),
            ('group', 'nova', 'allowed_nova_hints'),
            ('_nova_check_type', 'nova', 'allowed_nova_hints'),
        ):
            self.assertRegex(
                warnings, f'\'{hint}\' of the provider "{provider}".*{words}'
            )

    def test_a_slow_provider_keeps_no_other_server_waiting(self):
        for name in ('db', 'web'):
            self.assertEqual('yes', self.outcome.hints(name)['met'])


class _Failing:
    files = FILES
    entry_points = ENTRY_POINTS
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
        ('gone', "No module named 'gone'"),
        ('exiting', 'no database'),
    )
    #: One that cannot be made.
    UNMADE = (('broken', 'no inventory is configured'),)
    #: Providers that fail when they are asked, and what is said of them.
    FAILING = (
        ('failing', 'RuntimeError: the inventory is away'),
        ('endless', 'RecursionError'),
    )
    options = {
        'providers': ','.join(
            [
                *(name for name, _ in UNLOADABLE + UNMADE + FAILING),
                # The first gives no hints, and that is no failure.
                *('nothing', 'second', 'nolookup', 'unsigned'),
            ]
        ),
        'signing_key': KEY,
    }
    PROVIDED = {'rack': 'other', 'own': 'yes', 'tier': 'provider', 'at': '1'}

    def test_servers_are_created_with_all_other_hints_but_unsigned(self):
        self.assert_created('root', 'nesting')
        one = self.outcome.only('root', 'one')
        wanted = self.outcome.wanted('root', one)
        root = wanted['heat_root_stack_id']
        self.assertEqual(
            {**wanted, **self.PROVIDED, 'root': root},
            self.outcome.hints('one'),
        )
        inner = self.outcome.only('nesting', 'inner')
        wanted = self.outcome.wanted('nesting', inner)
        del wanted['heat_root_stack_id'], wanted['heat_path_in_stack']
        # The provider is asked all the same, and sees what is missing.
        self.assertEqual(
            {**wanted, **self.PROVIDED, 'root': 'None'},
            self.outcome.hints('inner'),
        )

    def test_one_error_at_the_start_and_one_at_first_use(self):
        told = [*self.UNLOADABLE, *self.UNLOADABLE, *self.UNMADE]
        errors = self.outcome.lines('ERROR')
        # Two servers are created, and nothing is told twice.
        for error, (name, reason) in zip(errors, told, strict=True):
            self.assertIn(f'the provider "{name}"', error)
            self.assertIn(reason, error)
            self.assertIn('[heat_hints] providers', error)
            self.assertIn('restart heat-engine', error)

    def test_one_warning_for_each_failure_says_what_failed_and_why(self):
        asked = [(f'"{name}" failed', why) for name, why in self.FAILING]
        unsigned = ('could not be signed (ValueError)', 'on_error')
        lookup = ('could not be looked up', 'the database is away')
        told = [*asked, unsigned, lookup, *asked, unsigned]
        warnings = self.outcome.lines('WARNING')
        for warning, (what, why) in zip(warnings, told, strict=True):
            self.assertIn(what, warning)
            self.assertIn(why, warning)

    def test_no_key_is_in_the_log(self):
        self.assertNotIn(KEY, self.outcome.log)


class TestFailuresFail(_Failing, base.ScenarioCase):
    """``on_error = fail``."""

    options = {
        'providers': 'failing,nova,broken,nolookup',
        'on_error': 'fail',
    }
    stacks = (
        *_Failing.stacks,
        # The providers that would fail before the one that is asked about.
        stack('hint', template(one=server(hints={'spared': 'failing'}))),
        stack('made', template(one=server(hints={'spared': 'failing,nova'}))),
    )
    restarts = (
        (
            {'providers': 'unsigned', 'signing_key': KEY},
            (stack('signed', base.ONE['template']),),
        ),
    )

    def test_the_resource_fails_and_nothing_is_sent(self):
        for name, *told in (
            ('root', '"failing"', 'the inventory is away'),
            ('nesting', 'could not be looked up'),
            ('hint', '"nova" is not sent', 'allowed_nova_hints'),
            ('made', 'the provider "broken" could not be created'),
            ('signed', 'could not be signed'),
        ):
            self.assertEqual([], self.outcome.sent_for(name))
            self.assertEqual(['CREATE_FAILED'], self.outcome.statuses(name))
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
            self.assertNotIn(KEY, reason)
        self.assertNotIn(KEY, self.outcome.log)
