# SPDX-License-Identifier: Apache-2.0

"""What heat-engine does when hints cannot be created: ``on_error``."""

import re

from testing.heat.templates import server, stack, template
from tests import signing
from tests.functional.heat_hints import base

#: The database fails for the hook's query only, the hook itself for one
#: server, and no hint can be signed: the engine imports this before it sends
#: statements.
PROVIDERS = (
    base.PROVIDER
    + """
import sqlalchemy
from away_for_tests import fail

from heat_hints import hints
from os_placement_plugins import signature

identifiers = hints.identifiers


def refuse(conn, cursor, statement, *rest):
    columns = statement.partition(' FROM ')[0]
    if columns.count(',') == 3 and 'parent_resource_name' in columns:
        # oslo.db logs the error itself, with a traceback.
        raise RuntimeError('the database is away')


def fail_once(request, *rest):
    if request.resource_name == 'unforeseen':
        fail('nobody thought of this')
    return identifiers(request, *rest)


def refuse_to_sign(keys, *rest):
    # As a restricted OpenSSL might.
    raise ValueError(f'no digest for {keys._keys}')


sqlalchemy.event.listen(
    sqlalchemy.engine.Engine, 'before_cursor_execute', refuse
)
hints.identifiers = fail_once
signature.Keys.sign = refuse_to_sign


class Failing(Provider):
    def hints(self, request):
        if 'failing' not in request.user_hints.get('spared', ''):
            fail('the inventory is away')


class Ending(Provider):
    def hints(self, request):
        fail('the inventory ends', SystemExit)


class WordlessError(Exception):
    def __str__(self):
        return None


class Wordless(Provider):
    def hints(self, request):
        raise WordlessError


class Grouping(Provider):
    def hints(self, request):
        spared = 'grouping' in request.user_hints.get('spared', '')
        return {} if spared else {'group': 'not a group'}


class Seeing(Provider):
    def hints(self, request):
        return {'root': str(request.root_stack_id), 'at': len(request.path)}
"""
)
POINTS = {
    name: f'providers_for_tests:{name.title()}'
    for name in ('ending', 'failing', 'grouping', 'seeing', 'wordless')
}
POINTS['gone'] = 'gone_for_tests:Provider'
GONE = """
from away_for_tests import fail

fail('nothing to import')
"""


class _Failing:
    files = {
        'away_for_tests.py': base.AWAY,
        'gone_for_tests.py': GONE,
        'providers_for_tests.py': PROVIDERS,
    }
    entry_points = {'heat_hints.providers': POINTS}
    stacks = (
        base.ONE,
        # The database fails when the stack above is looked up.
        stack(
            'nesting',
            template(nested={'type': 'inner.yaml'}),
            files={'inner.yaml': template(inner=server(name='inner'))},
        ),
        stack('unforeseen', template(unforeseen=server(hints={'mine': '1'}))),
        # The providers that would fail before the cause that is looked for.
        stack('hint', template(web=server(hints={'spared': 'failing'}))),
        stack(
            'unsigned',
            template(web=server(hints={'spared': 'failing,grouping'})),
        ),
    )


class TestIgnored(_Failing, base.ScenarioCase):
    """``on_error = ignore``, the default, and everything fails."""

    options = {
        'providers': 'gone,failing,ending,wordless,grouping,seeing',
        'signing_key': signing.KEY,
    }

    def test_servers_are_created_with_all_other_hints_but_unsigned(self):
        self.assert_created('root', 'nesting', 'unforeseen')
        web = self.outcome.only('root', 'web')
        expected = self.outcome.expected_hints('root', web)
        provided = {'root': expected['heat_root_stack_id'], 'at': '1'}
        self.assertEqual({**expected, **provided}, self.outcome.hints('web'))
        inner = self.outcome.only('nesting', 'inner')
        expected = self.outcome.expected_hints('nesting', inner)
        del expected['heat_root_stack_id'], expected['heat_path_in_stack']
        # The provider is asked all the same, and sees what is missing.
        provided['root'] = 'None'
        self.assertEqual({**expected, **provided}, self.outcome.hints('inner'))
        (request,) = self.outcome.sent_for('unforeseen')
        self.assertEqual({'mine': '1'}, request.hints)

    def test_one_warning_for_each_failure_says_what_failed_and_why(self):
        (error,) = self.outcome.lines('ERROR')
        self.assertIn('the provider "gone" failed at the start', error)
        self.assertIn('nothing to import: https://***@inventory', error)
        each = [
            'could not import it at its start',
            'AwayError: the inventory is away: https://***@inventory',
            'SystemExit: the inventory ends: https://***@inventory',
            'the provider "wordless" failed: WordlessError.',
            'Nova acts on this name',
            'could not be signed (ValueError)',
        ]
        told = [
            *each,
            'could not be looked up',
            *each,
            'nobody thought of this',
        ]
        warnings = self.outcome.lines('WARNING')
        for warning, cause in zip(warnings, told, strict=False):
            self.assertIn(cause, warning)
        # The last two stacks have one and two of their providers spared.
        self.assertEqual(len(told) + 5 + 4, len(warnings))
        self.assertNotIn(signing.KEY, self.outcome.log)
        self.assertNotIn(base.PASSWORD, self.outcome.log)


class TestFail(_Failing, base.ScenarioCase):
    """``on_error = fail``."""

    options = {
        'providers': 'failing,grouping',
        'on_error': 'fail',
        'signing_key': signing.KEY,
    }

    def test_the_resource_fails_and_nothing_is_sent(self):
        for name, *causes in (
            ('root', '"failing"', 'the inventory is away'),
            ('nesting', 'could not be looked up'),
            ('unforeseen', 'could not be created', 'nobody thought of this'),
            ('hint', '"grouping" is not sent', 'Nova acts on this name'),
            ('unsigned', 'could not be signed'),
        ):
            report = self.outcome.stacks[name]
            self.assertEqual('CREATE_FAILED', report['status'])
            reason = report['reason']
            self.assertIn('Ask the operator', reason)
            fault = re.search(r'fault (\S+)\.', reason)[1]
            (error,) = (e for e in self.outcome.lines('ERROR') if fault in e)
            for cause in causes[1:]:
                self.assertNotIn(cause, reason)
            for cause in causes:
                self.assertIn(cause, error)
            self.assertNotIn(signing.KEY, reason)
        self.assertEqual([], self.outcome.sent)
        self.assertNotIn(signing.KEY, self.outcome.log)
        # Heat logs why a resource fails, with a traceback.
        self.assertIn('Traceback', self.outcome.log)
        self.assertNotIn(base.PASSWORD, self.outcome.log)
