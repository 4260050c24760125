# SPDX-License-Identifier: Apache-2.0

"""The attacks of the table on the page, with what becomes of them."""

import json

from os_placement_plugins import signature, stack_hints
from testing.heat import nova_side
from testing.heat.templates import (
    group,
    instance,
    scaled,
    server,
    stack,
    template,
)
from tests import signing
from tests.functional.heat_hints import base

FORGED = {
    **dict.fromkeys(stack_hints.RESERVED, 'forged'),
    'heat_tier': 'forged',
}
INSTANCE = instance(
    NovaSchedulerHints=[
        {'Key': name, 'Value': value} for name, value in FORGED.items()
    ]
)
MEMBER = server(hints=FORGED)
LINE = '\n00:00 1 ERROR heat_hints made up\r\n'

#: Reserved names by every way into a template.
WAYS = (
    stack('literal', template(one=MEMBER)),
    stack(
        'parameter',
        {
            **template(one=server(scheduler_hints={'get_param': 'hints'})),
            'parameters': {'hints': {'type': 'json', 'default': FORGED}},
        },
    ),
    stack(
        'environment',
        {
            **template(one=server(scheduler_hints={'get_param': 'hints'})),
            'parameters': {'hints': {'type': 'json'}},
        },
        environment={'parameter_defaults': {'hints': FORGED}},
    ),
    stack(
        'attribute',
        template(
            names={
                'type': 'OS::Heat::Value',
                'properties': {'type': 'json', 'value': FORGED},
            },
            one=server(scheduler_hints={'get_attr': ['names', 'value']}),
        ),
    ),
    stack(
        'function',
        template(
            one=server(scheduler_hints={'map_merge': [FORGED, {'tier': '1'}]})
        ),
    ),
    stack('instance', template(one=INSTANCE)),
    stack(
        'amazon',
        {
            'AWSTemplateFormatVersion': '2010-09-09',
            'Resources': {
                'one': {
                    'Type': INSTANCE['type'],
                    'Properties': INSTANCE['properties'],
                }
            },
        },
    ),
    stack(
        'nested',
        template(below={'type': 'inner.yaml'}),
        files={'inner.yaml': template(one=MEMBER)},
    ),
    stack('group', template(group=group(1, MEMBER))),
    stack('scaled', template(group=scaled(1, MEMBER))),
    stack(
        'alias',
        template(one={**MEMBER, 'type': 'My::Server'}),
        environment={'resource_registry': {'My::Server': 'OS::Nova::Server'}},
    ),
)


class TestAttacks(base.ScenarioCase):
    """A key, providers, and stacks of a project that is hostile."""

    refused = ('null',)

    options = {
        'signing_key': signing.KEY,
        'scope': 'opt_out',
        'providers': 'mapping_file',
        'mapping_file': '{folder}/mapping.yaml',
    }
    files = {'mapping.yaml': '- {hints: {rack: r1, heat_group_place: p1}}\n'}
    stacks = (
        *WAYS,
        stack(
            'scope',
            template(
                one=server(
                    hints={**FORGED, 'tier': 'gold'},
                    metadata={'heat_hints': False},
                )
            ),
        ),
        stack(
            'large',
            template(
                one=server(hints={'heat_x': 'x' * 100_000, 'y' * 1000: 'y'})
            ),
        ),
        stack(
            'line',
            template(
                one=server(
                    hints={f'heat_{LINE}': LINE, f'tier{LINE}': LINE},
                    metadata={'heat_hints': f'maybe{LINE}'},
                )
            ),
        ),
        stack(
            'odd',
            template(
                one=server(
                    hints={
                        'tier': {'a': [{'b': None}]},
                        'heat_stack_id': [{'a': 'b'}],
                        'flag': True,
                    }
                )
            ),
        ),
        stack(
            'null',
            template(
                one=server(hints={'group': None, 'different_host': [None]})
            ),
        ),
        stack(
            'update',
            template(one=server(hints={'tier': '1'})),
            steps=[('update', template(one=MEMBER))],
        ),
    )

    def believed(self, hints, project, *keys):
        """Return what a nova-scheduler believes of hints."""
        return stack_hints.read(
            hints, project, signature.Keys(keys or [signing.KEY])
        )

    def assert_of(self, stack):
        """Fail unless all requests say that they are of a stack."""
        self.assertTrue(self.outcome.sent_for(stack))
        root = self.outcome.told[stack]['root']
        for request in self.outcome.sent_for(stack):
            stored = nova_side.stored(request)['nova_object.data']
            hints = self.believed(
                stored['scheduler_hints'], stored['project_id']
            )
            self.assertEqual(root, hints.root_stack_id)
            self.assertNotIn('forged', json.dumps(stored['scheduler_hints']))

    def test_reserved_names_by_every_way_into_a_template(self):
        for way in (one['name'] for one in WAYS):
            with self.subTest(way):
                self.assert_created(way)
                self.assert_of(way)

    def test_reserved_names_in_an_update(self):
        self.assert_created('update', action='UPDATE')
        self.assertEqual(2, len(self.outcome.sent_for('update')))
        self.assert_of('update')

    def test_reserved_names_out_of_scope(self):
        self.assert_created('scope')
        (request,) = self.outcome.sent_for('scope')
        self.assertEqual({'tier': 'gold'}, request.hints)

    def test_a_large_hint_is_stock_heats_and_a_reserved_one_is_dropped(self):
        self.assert_created('large')
        self.assert_of('large')
        (request,) = self.outcome.sent_for('large')
        self.assertNotIn('heat_x', request.hints)
        self.assertEqual('y', request.hints['y' * 1000])

    def test_a_newline_makes_no_line_of_the_log(self):
        self.assert_created('line')
        self.assert_of('line')
        forged = [
            line
            for line in self.outcome.log.splitlines()
            if line.startswith('00:00 1 ERROR')
        ]
        self.assertEqual([], forged)
        (warning,) = self.outcome.warnings()
        self.assertIn(r'maybe\n00:00', warning)

    def test_what_cannot_be_a_key_or_a_text_is_text(self):
        self.assert_created('odd')
        self.assert_of('odd')
        (request,) = self.outcome.sent_for('odd')
        self.assertEqual('{"a":[{"b":null}]}', request.hints['tier'])
        self.assertEqual('True', request.hints['flag'])

    def test_a_null_is_novas_to_refuse(self):
        (request,) = self.outcome.sent_for('null')
        self.assertIsNone(request.hints['group'])
        self.assertEqual([None], request.hints['different_host'])
        with self.assertRaisesRegex(AssertionError, 'Nova refuses the hints'):
            nova_side.check(request)

    def test_forged_and_copied_hints_sent_straight_to_nova(self):
        (request,) = self.outcome.sent_for('literal')
        hints, project = request.hints, request.project
        nothing = stack_hints.StackHints()
        unsigned = {k: v for k, v in hints.items() if k != signature.HINT}
        (key_id,) = signature.Keys([signing.KEY]).ids
        attacks = {
            'forged': ({'heat_root_stack_id': 'x'}, project),
            'unsigned': (unsigned, project),
            'changed': ({**hints, 'heat_resource_name': 'two'}, project),
            'added': ({**hints, 'heat_tier': 'gold'}, project),
            'other uuid': ({**hints, 'heat_resource_uuid': 'x'}, project),
            'other version': (
                {**hints, signature.HINT: f'2{hints[signature.HINT][1:]}'},
                project,
            ),
            'own key': (
                signing.signed(unsigned, project, signing.OTHER_KEY),
                project,
            ),
            'made up': (
                {**hints, signature.HINT: f'1:{key_id}:{"0" * 64}'},
                project,
            ),
            'replayed in another project': (hints, 'mallory'),
        }
        for name, (sent, owner) in attacks.items():
            with self.subTest(name):
                self.assertEqual(nothing, self.believed(sent, owner))

    def test_hints_copied_in_the_project_count_for_their_own_stack(self):
        (request,) = self.outcome.sent_for('literal')
        copied = self.believed(request.hints, request.project)
        self.assertEqual(
            self.outcome.told['literal']['root'], copied.root_stack_id
        )
        # What a provider has signed, too.
        self.assertEqual('p1', copied.place)
