# SPDX-License-Identifier: Apache-2.0

"""What the options of ``[heat_hints]`` do to the requests."""

from testing.heat import stack_hints
from testing.heat.templates import server, stack, template, volume
from tests import signing
from tests.functional.heat_hints import base

PROVIDERS = (
    base.PROVIDER
    + '''

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
'''
)


class TestProviders(base.ScenarioCase):
    """Several providers; Heat's own option is on as well."""

    options = {
        'providers': 'rack,second,nova',
        'signing_key': signing.KEY,
    }
    settings = {'DEFAULT': {'stack_scheduler_hints': 'true'}}
    files = {'providers_for_tests.py': PROVIDERS}
    entry_points = {'heat_hints.providers': base.providers(PROVIDERS)}
    stacks = (
        stack(
            'root',
            template(
                db=server(name='db', hints={'tier': 'user'}),
                cache={**server(name='aliased'), 'type': 'My::Server'},
                volume=volume(),
            ),
            environment={'resource_registry': {'My::*': 'OS::Nova::*'}},
        ),
    )

    def test_a_provider_is_told_about_the_resource(self):
        self.assert_created('root')
        root = self.outcome.stacks['root']['root']
        for name, facts in (
            ('db', ['db', root, 'root', 'tier']),
            ('aliased', ['cache', root, 'root', '']),
        ):
            self.assertEqual(
                ['OS::Nova::Server', *facts],
                self.outcome.hints(name)['asked'],
            )

    def test_each_source_sends_what_it_may(self):
        db = self.outcome.only('root', 'db')
        sent = self.outcome.hints('db')
        del sent['asked'], sent['heat_signature']
        self.assertEqual(
            {
                **self.outcome.expected_hints('root', db),
                # Values become strings and lists of strings.
                **{'rack': '7', 'shape': ['a', '1'], 'own': 'yes'},
                # The template's hint wins over a provider's.
                'tier': 'user',
            },
            sent,
        )

    def test_a_warning_names_the_hint_and_the_provider(self):
        warnings = '\n'.join(self.outcome.lines('WARNING'))
        for hint, provider, words in (
            ('rack', 'second', 'earlier provider'),
            ('group', 'nova', 'Nova acts on this name'),
            ('same_host', 'nova', 'Nova acts on this name'),
        ):
            self.assertRegex(
                warnings, f'\'{hint}\' of the provider "{provider}".*{words}'
            )

    def test_heats_own_option_covers_volumes(self):
        sent = self.outcome.hints('disk')
        self.assertEqual(set(stack_hints.SIX), set(sent))
