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


def few(**more):
    """Return a template with one such server and the late hints."""
    names = {'type': 'OS::Heat::Value', 'properties': NAMES}
    return template(names=names, kept=MEMBER, **more)


class _Reject:
    """Stacks are created by one engine, and updated by the next."""

    stacks = (
        stack('every', every(1, {}), files=FILES),
        stack('few', few()),
        stack('scaled', autoscaling(1, MEMBER)),
    )
    #: A key reserves more names.
    restarts = (
        (
            {'user_hints': 'reject', 'signing_key': signing.KEY},
            (
                {
                    'name': 'every',
                    'steps': update(every(2, NEW, **OTHER)),
                },
                {
                    'name': 'few',
                    'steps': update(
                        few(other=ADDED),
                        few(**OTHER, another=ADDED),
                        few(later=server(**LATE)),
                    ),
                },
                {
                    'name': 'scaled',
                    'steps': [
                        *update(autoscaling(1, MEMBER, **OTHER)),
                        ('signal', ('out', 2)),
                        *(('signal', ('in', left)) for left in (1, 0)),
                        # The group was empty.
                        ('signal', ('out', 1)),
                        *update(autoscaling(2, server(), **OTHER)),
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
            self.outcome.statuses('every'),
            self.outcome.told['every'],
        )
        # "replaced" and "late", a member, a cell, and "other".
        self.assertEqual(8 + 5, len(self.outcome.sent_for('every')))

    def test_an_autoscaling_group_grows_shrinks_and_changes(self):
        statuses = self.outcome.statuses('scaled')
        failed = [s for s in statuses if not s.endswith('_COMPLETE')]
        self.assertEqual([], failed, self.outcome.told['scaled'])
        # One, another beside it, one out, one again, and two without hints.
        self.assertEqual(6, len(self.outcome.sent_for('scaled')))

    def test_what_is_new_is_refused_and_named(self):
        for name, step, resource in (
            ('few', 1, 'other'),
            ('few', 2, 'another'),
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
        told = self.outcome.told['few']
        self.assertEqual('UPDATE_FAILED', told['status'])
        self.assertIn('"heat_stack_id"', told['reason'])
        self.assertEqual(1, len(self.outcome.sent_for('few')))

    def test_nothing_of_the_template_is_sent_signed(self):
        signed = [r.hints for r in self.outcome.sent if SIGNATURE in r.hints]
        self.assertEqual(5 + 5, len(signed))
        for hints in signed:
            self.assertNotIn('mine', hints.values())
            self.assertNotIn('heat_tier', hints)


class TestConvergence(_Reject, base.ScenarioCase):
    """Heat's engine of today."""


class TestLegacyEngine(_Reject, base.ScenarioCase):
    """``convergence_engine = false``, and what is stored is encrypted."""

    convergence = False
    settings = {'DEFAULT': {'encrypt_parameters_and_properties': 'true'}}
