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
AMAZON = instance(NovaSchedulerHints=[{'Key': 'heat_tier', 'Value': 'gold'}])
NESTED = {'type': 'cell.yaml'}
FILES = {'cell.yaml': template(inside=MEMBER)}
#: Hints that another resource tells.
LATE = {'scheduler_hints': {'get_attr': ['names', 'value']}}
NAMES = {'type': 'json', 'value': OLD}


def every(size, changes, **more):
    """Return a template with such hints in every place.

    :param size: how many members the groups have.
    :param changes: properties of two servers that Heat replaces for them.
    """
    return template(
        names={'type': 'OS::Heat::Value', 'properties': NAMES},
        kept=MEMBER,
        amazon=AMAZON,
        replaced=server(hints=OLD, **changes),
        late=server(**LATE, **changes),
        group=group(size + 1, MEMBER),
        cells=group(size, NESTED),
        below=NESTED,
        **more,
    )


def update(*templates):
    """Return steps that update a stack."""
    files = {'files': texts(FILES)}
    return [('update', data, files) for data in templates]


NEW = {'user_data': 'new', 'user_data_format': 'RAW'}
OTHER = {'other': server()}
#: Heat validates only one of several servers that are the same.
ADDED = server(name='added', hints=OLD)


class _Reject:
    """Stacks are created by one engine, and updated by the next."""

    stacks = (
        stack('every', every(1, {}), files=FILES),
        stack('scaled', autoscaling(2, MEMBER)),
    )
    #: A key reserves more names.
    restarts = (
        (
            {'user_hints': 'reject', 'signing_key': signing.KEY},
            (
                {
                    'name': 'every',
                    'steps': update(
                        every(2, NEW, **OTHER),
                        every(2, NEW, other=ADDED),
                        every(2, NEW, **OTHER, another=ADDED),
                        every(2, NEW, **OTHER, later=server(**LATE)),
                    ),
                },
                {
                    'name': 'scaled',
                    'steps': [
                        *update(autoscaling(2, MEMBER, **OTHER)),
                        ('signal', ('out', 3)),
                        *(('signal', ('in', left)) for left in (2, 1, 0)),
                        # The group was empty.
                        ('signal', ('out', 1)),
                        *update(
                            autoscaling(2, MEMBER, **OTHER),
                            autoscaling(2, server(), **OTHER),
                        ),
                    ],
                },
                stack('created', template(one=MEMBER)),
                stack('below', template(below=NESTED), files=FILES),
                stack('instance', template(amazon=AMAZON)),
            ),
        ),
    )

    def test_what_was_accepted_is_replaced_and_grows_without_it(self):
        self.assertEqual(
            ['CREATE_COMPLETE', 'UPDATE_COMPLETE'],
            self.outcome.statuses('every')[:2],
            self.outcome.told['every'],
        )
        # "replaced" and "late", a member, a cell, and "other".
        self.assertEqual(8 + 5, len(self.outcome.sent_for('every')))

    def test_an_autoscaling_group_grows_shrinks_and_changes(self):
        statuses = self.outcome.statuses('scaled')
        failed = [s for s in statuses if not s.endswith('_COMPLETE')]
        self.assertEqual([], failed, self.outcome.told['scaled'])
        # Two, another beside them, one out, one again, one more, and both
        # without the hint.
        self.assertEqual(8, len(self.outcome.sent_for('scaled')))

    def test_what_is_new_is_refused_and_named(self):
        for name, step, resource in (
            ('every', 2, 'other'),
            ('every', 3, 'another'),
            ('created', 0, 'one'),
            ('below', 0, 'inside'),
            ('instance', 0, 'amazon'),
        ):
            status, reason = self.outcome.told[name]['steps'][step]
            self.assertEqual('REFUSED', status, reason)
            words = ('"heat_tier"', f'resource "{resource}"', 'remove them')
            for word in words:
                self.assertIn(word, reason)

    def test_a_new_server_whose_hints_come_from_a_resource_fails(self):
        told = self.outcome.told['every']
        self.assertEqual('UPDATE_FAILED', told['status'])
        self.assertIn('"heat_stack_id"', told['reason'])

    def test_nothing_of_the_template_is_sent_signed(self):
        signed = [r.hints for r in self.outcome.sent if SIGNATURE in r.hints]
        self.assertEqual(5 + 6, len(signed))
        for hints in signed:
            self.assertNotIn('mine', hints.values())
            self.assertNotIn('heat_tier', hints)


class TestConvergence(_Reject, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Reject, base.ScenarioCase):
    """``convergence_engine = false``, and what is stored is encrypted."""

    convergence = False
    settings = {'DEFAULT': {'encrypt_parameters_and_properties': 'true'}}
