# SPDX-License-Identifier: Apache-2.0

"""Stacks that change: what tenants write is never followed or believed."""

from os_placement_plugins.signature import HINT as SIGNATURE
from testing.heat.templates import (
    autoscaling,
    group,
    server,
    stack,
    template,
)
from tests import signing
from tests.functional.heat_hints import base

#: Hints that forge the place of a server.
FORGED = {'heat_stack_id': 'mine', 'heat_tier': 'gold'}
MEMBER = server(hints=FORGED)
OTHER = {'other': server()}
#: A resource that says it made the stack that holds it.
RING = {'type': 'OS::Heat::None', 'external_id': {'get_param': 'OS::stack_id'}}


#: What a Heat has abandoned, and another one adopts.
LEFT_IN_GROUP = template(group=group(1, MEMBER), web=MEMBER)
ADOPTED = template(group=group(2, MEMBER), web=MEMBER, db=MEMBER)
#: The other Heat does not say which server it has made.
WITHOUT_ID = {
    'name': 'unknown',
    'template': template(web=MEMBER),
    'environment': {},
    'resources': {'web': {'name': 'web', 'type': 'OS::Nova::Server'}},
}


class _LifeCycle:
    options = {'signing_key': signing.KEY}
    settings = {
        'DEFAULT': {
            'enable_stack_abandon': 'true',
            'enable_stack_adopt': 'true',
        }
    }
    stacks = (
        stack(
            'ring',
            template(web=MEMBER),
            steps=[
                ('update', template(web=MEMBER, ring=RING)),
                # Then a server that forges hints takes its name.
                ('update', template(web=MEMBER, ring=MEMBER)),
            ],
        ),
        stack(
            'adopted',
            LEFT_IN_GROUP,
            steps=[('abandon', None), ('update', ADOPTED)],
        ),
        {'name': 'unknown', 'steps': [('adopt', WITHOUT_ID)]},
        stack(
            'scaled',
            autoscaling(1, MEMBER),
            steps=[
                ('update', autoscaling(1, MEMBER, **OTHER)),
                ('signal', ('out', 2)),
                ('signal', ('in', 1)),
                ('signal', ('in', 0)),
                # The group was empty.
                ('signal', ('out', 1)),
                ('update', autoscaling(2, server(), **OTHER)),
            ],
        ),
    )

    def test_an_adopted_stack_sends_the_hints_of_the_adopted_stack(
        self,
    ) -> None:
        self.assertEqual(
            ['CREATE_COMPLETE', 'ADOPT_COMPLETE', 'UPDATE_COMPLETE'],
            self.outcome.statuses('adopted'),
            self.outcome.stacks['adopted'],
        )
        requests = self.outcome.sent_for('adopted')
        # Heat asks Nova for nothing when it adopts a server: the two servers
        # keep the hints that the other Heat has sent.
        self.assertEqual(4, len(requests))
        root = self.outcome.stacks['adopted']['root']
        for request in requests[:2]:
            self.assertNotEqual(root, request.hints['heat_root_stack_id'])
        new_hints = [request.hints for request in requests[2:]]
        self.assertEqual(
            {'1', 'db'}, {hints['heat_resource_name'] for hints in new_hints}
        )
        for hints in new_hints:
            self.assertEqual(root, hints['heat_root_stack_id'])

    def test_a_server_that_is_not_there_is_not_adopted(self) -> None:
        self.assertEqual(['ADOPT_FAILED'], self.outcome.statuses('unknown'))
        self.assertEqual([], self.outcome.sent_for('unknown'))

    def test_a_stack_that_names_itself_is_answered(self) -> None:
        self.assertEqual(
            ['CREATE_COMPLETE', *['UPDATE_COMPLETE'] * 2],
            self.outcome.statuses('ring'),
            self.outcome.stacks['ring'],
        )
        self.assertEqual(2, len(self.outcome.sent_for('ring')))

    def test_an_autoscaling_group_grows_shrinks_and_changes(self) -> None:
        statuses = self.outcome.statuses('scaled')
        failed = [s for s in statuses if not s.endswith('_COMPLETE')]
        self.assertEqual([], failed, self.outcome.stacks['scaled'])
        # One, another beside it, one out, one again, and two without hints.
        self.assertEqual(6, len(self.outcome.sent_for('scaled')))

    def test_nothing_of_the_templates_is_sent(self) -> None:
        for request in self.outcome.sent:
            hints = request.hints
            signature = hints.pop(SIGNATURE)
            right = signing.signature(hints, request.project, signing.KEY)
            self.assertEqual(right, signature)
            self.assertNotIn('mine', hints.values())
            self.assertNotIn('heat_tier', hints)


class TestConvergence(_LifeCycle, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_LifeCycle, base.ScenarioCase):
    """``convergence_engine = false``."""

    convergence = False


class TestReject(base.ScenarioCase):
    """A value of the option that is gone: it searched stacks for ever."""

    def test_heat_engine_does_not_start_and_says_what_to_use(self) -> None:
        self.assert_not_started(
            *base.REFUSED,
            'option user_hints ',
            'override',
            user_hints='reject',
        )
