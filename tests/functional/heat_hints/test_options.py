# SPDX-License-Identifier: Apache-2.0

"""What the options of ``[heat_hints]`` do to the requests."""

from testing.heat import stack_hints
from testing.heat.templates import server, stack, template, volume
from tests import signing
from tests.functional.heat_hints import base

PROVIDERS = (
    base.PROVIDER
    + '''
import threading


class Rack(Provider):
    def hints(self, request):
        return {
            'rack': 7,
            'shape': ['a', 1],
            'asked': [
                request.resource_type,
                request.resource_name,
                request.root_stack_id,
                request.path[0].stack,
                ','.join(sorted(request.user_hints)),
            ],
        }


class Second(Provider):
    def hints(self, request):
        return {'rack': 'other', 'own': 'yes', 'tier': 'provider'}


class Nova(Provider):
    """Names that Nova acts on."""

    def hints(self, request):
        return {
            'same_host': 'aaaaaaaa-0000-4000-8000-000000000002',
            'group': 'not a group',
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
)


class TestOptInAndKeep(base.ScenarioCase):
    """``scope = opt_in``, ``user_hints = keep``, and few hints."""

    options = {
        'scope': 'opt_in',
        'user_hints': 'keep',
        'hints': 'heat_root_stack_id,heat_stack_id',
        'providers': 'second',
    }
    files = {'providers_for_tests.py': PROVIDERS}
    entry_points = {'heat_hints.providers': base.providers(PROVIDERS)}
    stacks = (
        stack(
            'root',
            template(
                replaced=server(
                    name='replaced',
                    metadata={'heat_hints': True},
                    hints={'heat_root_stack_id': 'mine', 'tier': 'user'},
                ),
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
                    added=server(name='added', metadata={'heat_hints': True}),
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

    def test_user_before_own_before_provider(self):
        root = self.outcome.stacks['root']['root']
        self.assertEqual(
            {
                'heat_root_stack_id': 'mine',
                'heat_stack_id': root,
                'tier': 'user',
                'rack': 'other',
                'own': 'yes',
            },
            self.outcome.hints('replaced'),
        )


class TestProviders(base.ScenarioCase):
    """Several providers; Heat's own option is on as well; few hints."""

    options = {
        'providers': 'rack,second,meeting,nova',
        'hints': 'heat_root_stack_id,heat_stack_id',
        'signing_key': signing.KEY,
        'scope': 'opt_out',
        # Two servers meet, on a busy machine after a while.
        'provider_timeout': '600',
        'allowed_nova_hints': 'same_host',
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    files = {'providers_for_tests.py': PROVIDERS}
    entry_points = {'heat_hints.providers': base.providers(PROVIDERS)}
    stacks = (
        stack(
            'root',
            template(
                db=server(name='db', hints={'tier': 'user', 'meet': 'web'}),
                web=server(name='web', hints={'meet': 'db'}),
                cache={**server(name='aliased'), 'type': 'My::Server'},
                left_out=server(
                    name='left_out', metadata={'heat_hints': False}
                ),
                volume=volume(),
            ),
            environment={'resource_registry': {'My::*': 'OS::Nova::*'}},
        ),
    )

    def test_a_provider_is_told_about_the_resource(self):
        self.assert_created('root')
        root = self.outcome.stacks['root']['root']
        for name, facts in (
            ('db', ['db', root, 'root', 'meet,tier']),
            ('aliased', ['cache', root, 'root', '']),
        ):
            self.assertEqual(
                ['OS::Nova::Server', *facts],
                self.outcome.hints(name)['asked'],
            )

    def test_each_source_sends_what_it_may(self):
        root = self.outcome.stacks['root']['root']
        uuid = self.outcome.only('root', 'db')['uuid']
        sent = self.outcome.hints('db')
        del sent['asked'], sent['heat_signature']
        self.assertEqual(
            {
                'heat_root_stack_id': root,
                'heat_stack_id': root,
                # For the signature.
                'heat_resource_uuid': uuid,
                # Values become strings and lists of strings.
                **{'rack': '7', 'shape': ['a', '1'], 'own': 'yes'},
                # The template's hint wins over a provider's.
                **{'tier': 'user', 'meet': 'web'},
                'same_host': 'aaaaaaaa-0000-4000-8000-000000000002',
                'met': 'yes',
            },
            sent,
        )

    def test_a_warning_names_the_hint_and_the_provider(self):
        warnings = '\n'.join(self.outcome.lines('WARNING'))
        for hint, provider, words in (
            ('rack', 'second', 'earlier provider'),
            ('group', 'nova', 'allowed_nova_hints'),
        ):
            self.assertRegex(
                warnings, f'\'{hint}\' of the provider "{provider}".*{words}'
            )

    def test_a_slow_provider_keeps_no_other_server_waiting(self):
        self.assertEqual('yes', self.outcome.hints('web')['met'])

    def test_heats_own_option_covers_what_is_left_out(self):
        for name in ('left_out', 'disk'):
            sent = self.outcome.hints(name)
            self.assertEqual(set(stack_hints.SIX), set(sent))
        warning = self.outcome.lines('WARNING')[0]
        for words in ('stack_scheduler_hints is on', 'scope leave out'):
            self.assertIn(words, warning)
