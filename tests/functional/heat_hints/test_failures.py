# SPDX-License-Identifier: Apache-2.0

"""What heat-engine does when hints cannot be created: ``on_error``."""

import re

from testing.heat.templates import server, stack, template
from tests import signing
from tests.functional.heat_hints import base

PROVIDERS = (
    base.PROVIDER
    + '''
import hmac

from os_placement_plugins import signature


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


class Odd(Provider):
    def hints(self, request):
        return {'object': object(), 'odd': 1}


class Large(Provider):
    def hints(self, request):
        return {'large': 'x' * 3_000_000}


class Own(Provider):
    def hints(self, request):
        return {'own': 'yes'}


class Grouping(Provider):
    def hints(self, request):
        spared = 'grouping' in request.user_hints.get('spared', '')
        return {} if spared else {'group': 'not a group'}
'''
)
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
        return {
            'root': str(request.root_stack_id),
            'at': len(request.path),
        }
"""
#: Breaks what the hook does before it asks a provider.
UNFORESEEN = """
from heat_hints import hints


def fail(*args):
    raise RuntimeError('nobody thought of this')


hints.identifiers = fail


class Provider:
    def __init__(self, conf):
        pass

    def hints(self, request):
        return {}
"""

POINTS = {
    **base.providers(PROVIDERS),
    'nolookup': 'no_lookup:NoLookup',
    **{name: f'{name}:Provider' for name in ('exiting', 'gone')},
}


class _Failing:
    files = {
        'providers_for_tests.py': PROVIDERS,
        'no_lookup.py': NO_LOOKUP,
        'exiting.py': 'raise SystemExit("no database")\n',
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
    )


class TestIgnored(_Failing, base.ScenarioCase):
    """``on_error = ignore``, the default, and everything fails."""

    options = {
        # One gives no hints, and that is no failure.
        'providers': (
            'gone,exiting,broken,failing,odd,large,nothing,own,nolookup,'
            'unsigned'
        ),
        'signing_key': signing.KEY,
    }

    def test_servers_are_created_with_all_other_hints_but_unsigned(self):
        self.assert_created('root', 'nesting')
        web = self.outcome.only('root', 'web')
        expected = self.outcome.expected_hints('root', web)
        provided = {'odd': '1', 'own': 'yes', 'at': '1'}
        provided['root'] = expected['heat_root_stack_id']
        self.assertEqual({**expected, **provided}, self.outcome.hints('web'))
        inner = self.outcome.only('nesting', 'inner')
        expected = self.outcome.expected_hints('nesting', inner)
        del expected['heat_root_stack_id'], expected['heat_path_in_stack']
        # The provider is asked all the same, and sees what is missing.
        provided['root'] = 'None'
        self.assertEqual({**expected, **provided}, self.outcome.hints('inner'))

    def test_one_error_for_each_that_cannot_be_used_at_the_start(self):
        unloadable = (
            ('gone', "No module named 'gone'"),
            ('exiting', 'no database'),
        )
        errors = self.outcome.lines('ERROR')
        for error, (name, reason) in zip(errors, unloadable, strict=True):
            self.assertIn(f'the provider "{name}"', error)
            self.assertIn(reason, error)
            self.assertIn('[heat_hints] providers', error)
            self.assertIn('restart heat-engine', error)

    def test_one_warning_for_each_failure_says_what_failed_and_why(self):
        each = (
            ('"gone" failed', "No module named 'gone'"),
            ('"exiting" failed', 'SystemExit: no database'),
            ('"broken" failed', 'no inventory is configured'),
            ('"failing" failed', 'RuntimeError: the inventory is away'),
            ("'object' of the provider", 'must be a string, a number'),
            ('"large" failed', 'bytes, more than 16384'),
            ('could not be signed (ValueError)', 'on_error'),
        )
        lookup = ('could not be looked up', 'the database is away')
        warnings = self.outcome.lines('WARNING')
        for warning, (what, why) in zip(
            warnings, [*each, lookup, *each], strict=True
        ):
            self.assertIn(what, warning)
            self.assertIn(why, warning)

    def test_no_key_is_in_the_log(self):
        self.assertNotIn(signing.KEY, self.outcome.log)


class TestFail(_Failing, base.ScenarioCase):
    """``on_error = fail``."""

    options = {
        'providers': 'failing,grouping,broken,nolookup',
        'on_error': 'fail',
    }
    stacks = (
        *_Failing.stacks,
        # The providers that would fail before the one that is asked about.
        stack('hint', template(web=server(hints={'spared': 'failing'}))),
        stack(
            'made', template(web=server(hints={'spared': 'failing,grouping'}))
        ),
    )
    causes = (
        ('root', '"failing"', 'the inventory is away'),
        ('nesting', 'could not be looked up'),
        ('hint', '"grouping" is not sent', 'Nova acts on this name'),
        ('made', '"broken" failed', 'no inventory is configured'),
    )

    def test_the_resource_fails_and_nothing_is_sent(self):
        for name, *causes in self.causes:
            self.assertEqual([], self.outcome.sent_for(name))
            self.assertEqual(['CREATE_FAILED'], self.outcome.statuses(name))
            reason = self.outcome.stacks[name]['reason']
            self.assertIn('Ask the operator', reason)
            (error,) = (
                line
                for line in self.outcome.lines('ERROR')
                if re.search(r'fault (\S+)\.', reason)[1] in line
            )
            for cause in causes:
                self.assertIn(cause, error)
                self.assertNotIn(cause, reason)
            self.assertNotIn(signing.KEY, reason)
        self.assertNotIn(signing.KEY, self.outcome.log)


class TestUnsigned(TestFail):
    """A server without the signature that was asked for is not created."""

    options = {
        'providers': 'unsigned',
        'on_error': 'fail',
        'signing_key': signing.KEY,
    }
    stacks = (base.ONE,)
    causes = (('root', 'could not be signed'),)


class TestUnforeseen(base.ScenarioCase):
    """A mistake in this package ends as ``on_error`` says, too."""

    files = {'unforeseen.py': UNFORESEEN}
    entry_points = {
        'heat_hints.providers': {'unforeseen': 'unforeseen:Provider'}
    }
    options = {'providers': 'unforeseen'}
    stacks = (stack('ignoring', template(web=server(hints={'mine': 'yes'}))),)

    def test_the_hints_of_the_user_are_sent(self):
        self.assert_created('ignoring')
        (request,) = self.outcome.sent_for('ignoring')
        self.assertEqual({'mine': 'yes'}, request.hints)
        (warning,) = self.outcome.lines('WARNING')
        self.assertIn('the hints could not be created', warning)
        self.assertIn('RuntimeError: nobody thought of this', warning)

    def test_the_resource_fails(self):
        outcome = self.run_scenario({**self.options, 'on_error': 'fail'})
        self.assertEqual([], outcome.sent)
        self.assertEqual(['CREATE_FAILED'], outcome.statuses('ignoring'))
        reason = outcome.stacks['ignoring']['reason']
        self.assertNotIn('nobody', reason)
        (error,) = outcome.lines('ERROR')
        self.assertIn('the hints could not be created', error)
