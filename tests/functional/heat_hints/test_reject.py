# SPDX-License-Identifier: Apache-2.0

"""``user_hints = reject`` where stacks with such hints exist."""

from os_placement_plugins.signature import HINT as SIGNATURE
from testing.heat.templates import (
    autoscaling,
    group,
    instance,
    server,
    stack,
    template,
    texts,
)
from tests import signing
from tests.functional.heat_hints import base

#: Hints of a template that were accepted before, and are forbidden then.
OLD = {'heat_stack_id': 'mine', 'heat_tier': 'gold'}
MEMBER = server(hints=OLD)
FILES = {'cell.yaml': template(inside=MEMBER)}
NESTED = {'type': 'cell.yaml'}


AMAZON = instance(NovaSchedulerHints=[{'Key': 'heat_tier', 'Value': 'gold'}])


def plain(**more):
    """Return a template with a server that has such hints."""
    return template(**{'one': MEMBER, 'amazon': AMAZON, **more})


def late(**servers):
    """Return a template in which servers take hints from a resource."""
    return template(
        names={
            'type': 'OS::Heat::Value',
            'properties': {'type': 'json', 'value': OLD},
        },
        **{'one': server(**LATE), **servers},
    )


def update(name, *templates):
    """Return a stack that exists, and is updated."""
    return {
        'name': name,
        'steps': [
            ('update', data, {'files': texts(FILES)}) for data in templates
        ],
    }


def replaced(**properties):
    """Return a server that Heat replaces, if it is there."""
    return server(user_data='new', user_data_format='RAW', **properties)


OTHER = {'other': server()}
#: Heat validates only one of several servers that are the same.
ADDED = server(name='added', hints=OLD)
LATE = {'scheduler_hints': {'get_attr': ['names', 'value']}}


class _Reject:
    """Stacks are created by one engine, and updated by the next."""

    stacks = (
        *(
            stack(name, plain())
            for name in ('plain', 'adding', 'new', 'replacing')
        ),
        *(stack(name, late(one=server(**LATE))) for name in ('late', 'later')),
        stack('group', template(group=group(2, MEMBER))),
        stack('cells', template(group=group(1, NESTED)), files=FILES),
        stack('nested', template(below=NESTED), files=FILES),
        stack('scaled', autoscaling(2, MEMBER)),
        stack('removed', autoscaling(2, MEMBER)),
    )
    #: A key reserves more names.
    restarts = (
        (
            {'user_hints': 'reject', 'signing_key': signing.KEY},
            (
                update('plain', plain(**OTHER)),
                update(
                    'adding',
                    plain(**OTHER),
                    plain(other=server(name='o', hints=OLD)),
                ),
                update('new', plain(another=ADDED)),
                update('replacing', plain(one=replaced(hints=OLD))),
                update('late', late(one=replaced(**LATE))),
                update('later', late(two=server(**LATE))),
                update('group', template(group=group(3, MEMBER), **OTHER)),
                update('cells', template(group=group(2, NESTED), **OTHER)),
                update('nested', template(below=NESTED, **OTHER)),
                {
                    'name': 'scaled',
                    'steps': [
                        ('update', autoscaling(2, MEMBER, **OTHER)),
                        ('signal', ('out', 4)),
                        *(('signal', ('in', left)) for left in (3, 2, 1)),
                        # The group was empty.
                        ('signal', ('out', 2)),
                        (
                            'update',
                            autoscaling(2, MEMBER, **OTHER, more=server()),
                        ),
                    ],
                },
                update('removed', autoscaling(2, server())),
                stack('created', template(one=MEMBER)),
                stack('below', template(below=NESTED), files=FILES),
                stack('instance', template(amazon=AMAZON)),
            ),
        ),
    )

    def assert_done(self, name, servers):
        """Fail unless all was done to a stack, and so much was sent."""
        told = self.outcome.told[name]
        self.assertEqual(
            [], [s for s in told['steps'] if 'COMPLETE' not in s], told
        )
        self.assertEqual(servers, len(self.outcome.sent_for(name)))

    def test_an_unrelated_change_goes_and_replaces_nothing(self):
        self.assert_done('plain', 3)
        self.assert_done('nested', 2)

    def test_groups_grow(self):
        self.assert_done('group', 4)
        self.assert_done('cells', 3)

    def test_a_server_that_has_the_hint_is_replaced_without_it(self):
        self.assert_done('replacing', 3)
        self.assert_done('late', 2)

    def test_an_autoscaling_group_grows_shrinks_and_changes(self):
        # Two, another beside them, one out, one again, and two more.
        self.assert_done('scaled', 7)

    def test_the_hint_can_be_removed_from_an_autoscaling_group(self):
        self.assert_done('removed', 4)

    def test_what_is_new_is_refused_and_named(self):
        for name, resource in (
            ('adding', 'other'),
            ('new', 'another'),
            ('created', 'one'),
            ('below', 'inside'),
            ('instance', 'amazon'),
        ):
            told = self.outcome.told[name]
            self.assertEqual('REFUSED', told['status'], told)
            words = ('"heat_tier"', f'resource "{resource}"', 'remove them')
            for word in words:
                self.assertIn(word, told['reason'])

    def test_a_new_server_whose_hints_come_from_a_resource_fails(self):
        told = self.outcome.told['later']
        self.assertEqual('UPDATE_FAILED', told['status'])
        self.assertIn('"heat_stack_id"', told['reason'])
        self.assertEqual(1, len(self.outcome.sent_for('later')))

    def test_nothing_of_the_template_is_sent_signed(self):
        signed = [r.hints for r in self.outcome.sent if SIGNATURE in r.hints]
        self.assertEqual(16, len(signed))
        for hints in signed:
            self.assertNotIn('mine', hints.values())
            self.assertNotIn('heat_tier', hints)


class TestConvergence(_Reject, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Reject, base.ScenarioCase):
    """``convergence_engine = false``, and what is stored is encrypted."""

    convergence = False
    settings = {'DEFAULT': {'encrypt_parameters_and_properties': 'true'}}
