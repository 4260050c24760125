# SPDX-License-Identifier: Apache-2.0

"""Sentences of the two specifications that no other test is about."""

import time

import ddt

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

SERVER = {'flavor': 'small', 'networks': []}
STACK = {'template': {'heat_template_version': '2021-04-16'}}
NO_REGION = {'status': 'ERROR', 'reason': 'No region is found usable.'}
EXACTLY = {'adjustment_type': 'EXACT_CAPACITY'}


class TestCase(base.TestCase):
    def actions(self, name):
        """Return all actions with a name."""
        return self.senlin.call('GET', f'/actions?action={name}')['actions']

    def oldest(self, cluster_id, **plan):
        """Return the ids of the oldest nodes in each region of a plan."""
        regions = base.regions_of(self.senlin.nodes(cluster_id))
        by_age = self.senlin.by_age(cluster_id)
        oldest = []
        for region, count in sorted(plan.items()):
            here = [node for node in by_age if regions[node] == region]
            oldest += here[:count]
        return oldest


class RegionPlacement(TestCase):
    def test_s1_the_plan_has_the_layout_of_the_example(self):
        cluster = self.spread((ONE, 200), (TWO, 100))
        self.act(cluster, 'scale_out', count=6)
        self.assert_servers(cluster, **{ONE: 4, TWO: 2})
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual('OK', data['status'])
        self.assertEqual(3, data['deletion']['count'])
        self.assertEqual({ONE: 2, TWO: 1}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 1})

    def test_regions_are_validated_before_each_plan(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE,), (TWO,))
        cluster = self.cluster(policy, profile=profile)
        self.act(cluster, 'scale_out', count=4)
        self.cloud.keystone_regions = {THREE}
        for name, how in (
            ('scale_out', {}),
            ('scale_in', {}),
            ('resize', EXACTLY | {'number': 5}),
            ('resize', EXACTLY | {'number': 3}),
        ):
            action = self.senlin.act(cluster, name, **how)
            self.assertEqual('FAILED', action['status'])
            self.assertEqual(NO_REGION, action['data'])
        action, _ = self.senlin.start_node(cluster, profile)
        self.assertEqual(NO_REGION, self.senlin.wait(action)['data'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})
        self.cloud.keystone_regions = {ONE}
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, data['creation']['regions'])
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 3}, data['deletion']['regions'])

    def test_actions_that_senlin_derives_are_not_planned(self):
        cluster = self.spread((TWO,))
        self.act(cluster, 'scale_out', count=2)
        derived = self.actions('NODE_CREATE')
        self.assertEqual(2, len(derived))
        for action in derived:
            self.assertNotIn('creation', action['data'])


@ddt.ddt
class Deletion(TestCase):
    def test_actions_that_senlin_derives_are_not_decided(self):
        cluster = self.cluster(self.deletion_policy(), size=3)
        self.act(cluster, 'scale_in', count=2)
        derived = self.actions('NODE_DELETE')
        self.assertEqual(2, len(derived))
        for action in derived:
            self.assertNotIn('deletion', action['data'])

    @ddt.data(
        ('os.nova.server', SERVER),
        ('os.heat.stack', STACK),
        ('senlin_plugins.heat.stack', STACK),
    )
    @ddt.unpack
    def test_it_works_with_any_profile(self, type_name, properties):
        profile = self.senlin.profile(type_name, **properties)
        policy = self.deletion_policy(criteria='OLDEST_FIRST')
        cluster = self.cluster(policy, profile=profile, size=3)
        oldest, *others = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in')
        self.assertEqual([oldest], data['deletion']['candidates'])
        self.assertEqual({*others}, {*self.ids(cluster)})

    def test_s3_the_criterion_chooses_as_many_as_a_scaling_policy_says(self):
        adjustment = {'type': 'CHANGE_IN_CAPACITY', 'number': 2}
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': adjustment},
        )
        deletion = self.deletion_policy(criteria='YOUNGEST_FIRST')
        cluster = self.cluster(scaling, deletion, size=4)
        youngest_first = self.senlin.by_age(cluster)[::-1]
        data = self.act(cluster, 'scale_in')
        self.assertEqual(youngest_first[:2], data['deletion']['candidates'])

    def test_s4_the_criterion_chooses_when_a_resize_shrinks(self):
        policy = self.deletion_policy(criteria='YOUNGEST_FIRST')
        cluster = self.cluster(policy, size=3)
        youngest_first = self.senlin.by_age(cluster)[::-1]
        data = self.act(cluster, 'resize', number=1, **EXACTLY)
        self.assertEqual(2, data['deletion']['count'])
        self.assertEqual(youngest_first[:2], data['deletion']['candidates'])

    def test_s4_a_resize_that_grows_is_not_decided(self):
        cluster = self.cluster(self.deletion_policy(), size=1)
        data = self.act(cluster, 'resize', number=2, **EXACTLY)
        self.assertNotIn('deletion', data)
        self.assertNotEqual('Candidates generated', data.get('reason'))

    def test_s6_two_regions(self):
        cluster = self.cluster(
            self.region_policy((ONE, 200), (TWO, 100)),
            self.deletion_policy(criteria='OLDEST_FIRST'),
        )
        self.act(cluster, 'scale_out', count=6)
        oldest = self.oldest(cluster, **{ONE: 2, TWO: 1})
        data = self.act(cluster, 'scale_in', count=3)
        decided = {
            'count': 3,
            'regions': {ONE: 2, TWO: 1},
            'candidates': oldest,
            'destroy_after_deletion': True,
            'grace_period': 0,
            'reduce_desired_capacity': True,
        }
        self.assertEqual('OK', data['status'])
        self.assertEqual('Candidates generated', data['reason'])
        self.assertEqual(decided, data['deletion'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 1})

    def test_a_deletion_waits_for_the_timeout_of_a_hook(self):
        hook = {'type': 'zaqar', 'params': {'queue': 'farewell'}}
        policy = self.deletion_policy('1.1', hooks=hook | {'timeout': 2})
        cluster = self.cluster(policy, size=1)
        started = time.monotonic()
        self.act(cluster, 'scale_in')
        self.assertGreaterEqual(time.monotonic() - started, 2)
        self.assert_servers(cluster)
