# SPDX-License-Identifier: Apache-2.0

"""The deletion policy on the real engine, section by section."""

import copy
import time

import eventlet
from senlin import objects
from senlin.common import context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from testing.senlin import driver
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE

DEFAULTS = {
    'destroy_after_deletion': True,
    'grace_period': 0,
    'reduce_desired_capacity': True,
}
HOOK = {'type': 'zaqar', 'params': {'queue': 'goodbye'}, 'timeout': 1}
EXACTLY = {'adjustment_type': 'EXACT_CAPACITY'}
WEBHOOK = {'type': 'webhook', 'params': {'url': 'http://x.example'}}


class TestCase(base.TestCase):
    def assert_decided(self, data, candidates, **details):
        """Check the whole layout that the document shows."""
        self.assertEqual('OK', data['status'])
        self.assertEqual('Candidates generated', data['reason'])
        deletion = data['deletion']
        self.assertEqual(len(candidates), deletion['count'])
        self.assertEqual(candidates, deletion['candidates'])
        for key, value in (DEFAULTS | details).items():
            self.assertEqual(value, deletion[key], key)


class Scenarios(TestCase):
    def test_s1_del_nodes(self):
        policy = self.deletion_policy(
            grace_period=1, reduce_desired_capacity=False
        )
        cluster = self.cluster(policy, size=3)
        nodes = self.ids(cluster)
        started = time.monotonic()
        data = self.act(cluster, 'del_nodes', nodes=[nodes[2], nodes[0]])
        # The grace period has passed.
        self.assertGreaterEqual(time.monotonic() - started, 1)
        # What the engine keeps after it has used the decision.
        self.assertEqual('OK', data['status'])
        self.assert_decided(
            data,
            [nodes[2], nodes[0]],
            grace_period=1,
            reduce_desired_capacity=False,
        )
        self.assertEqual([nodes[1]], self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})
        self.assert_capacity(cluster, 3)

    def test_s1_nodes_of_other_clusters_are_passed_over_by_the_engine(self):
        policy = self.deletion_policy()
        cluster, other = self.cluster(policy, size=2), self.cluster(size=1)
        (stranger,) = self.ids(other)
        goes, stays = self.ids(cluster)
        action = self.senlin.run(
            cluster, 'CLUSTER_DEL_NODES', candidates=[stranger, goes, goes]
        )
        self.assert_done(action)
        self.assertEqual([stays], self.ids(cluster))
        self.assertEqual([stranger], self.ids(other))

    def test_s1_nodes_that_are_to_survive_leave_the_cluster(self):
        policy = self.deletion_policy(destroy_after_deletion=False)
        cluster = self.cluster(policy, size=1)
        (node,) = self.senlin.nodes(cluster)
        self.act(cluster, 'del_nodes', nodes=[node['id']])
        self.assertEqual([], self.ids(cluster))
        self.assertEqual(ONE, self.cloud.region_of_server(node['physical_id']))
        # As the property's default has it.
        self.assert_capacity(cluster, 0)

    def test_s2_the_criteria(self):
        old, new = self.senlin.profile(), self.senlin.profile()
        cluster = self.cluster(profile=new)
        # One after the other: each is younger than the one before.
        for profile in (new, new, new, old, new):
            self.add_node(cluster, profile)
        nodes = self.ids(cluster)
        self.assertEqual(nodes, self.senlin.by_age(cluster))
        for criterion, count, expected in (
            ('OLDEST_FIRST', {'count': 2}, nodes[:2]),
            ('OLDEST_PROFILE_FIRST', {'count': 1}, nodes[3:4]),
            # One without a count.
            ('YOUNGEST_FIRST', {}, nodes[4:]),
        ):
            # The hooks as the specification gives them by default.
            policy = self.deletion_policy('1.1', criteria=criterion, hooks={})
            self.attach(cluster, policy)
            data = self.act(cluster, 'scale_in', **count)
            self.assert_decided(data, expected)
            self.assertNotIn('hooks', data)
            self.assertFalse({*expected} & {*self.ids(cluster)})
            self.detach(cluster)
        self.assertEqual(nodes[2:3], self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})

    def test_s2_the_criteria_order_the_nodes_of_no_use(self):
        old, new = self.senlin.profile(), self.senlin.profile()
        cluster = self.cluster(profile=new)
        for profile in (new, old, new, new):
            self.add_node(cluster, profile)
        nodes = self.senlin.by_age(cluster)
        changes = {'status': 'ERROR'}, {'status': 'WARNING'}, {'tainted': True}
        for node, values in zip(nodes, changes, strict=False):
            admin = context.get_admin_context()
            objects.Node.update(admin, node, values)
        for criterion, leaving in (
            ('YOUNGEST_FIRST', nodes[2]),
            ('OLDEST_PROFILE_FIRST', nodes[1]),
            ('OLDEST_FIRST', nodes[0]),
        ):
            self.attach(cluster, self.deletion_policy(criteria=criterion))
            data = self.act(cluster, 'scale_in')
            self.assert_decided(data, [leaving])
            self.detach(cluster)
        self.assertEqual(nodes[3:], self.ids(cluster))

    def test_s3_the_count_of_a_scaling_policy_goes_first(self):
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {
                'event': 'CLUSTER_SCALE_IN',
                'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 2},
            },
        )
        cluster = self.cluster(scaling, self.deletion_policy(), size=5)
        nodes = self.ids(cluster)
        # S4: a resize does not ask it.
        for left, name, how in (
            (3, 'scale_in', {}),
            (1, 'resize', EXACTLY | {'number': 1}),
        ):
            data = self.act(cluster, name, **how)
            candidates = data['deletion']['candidates']
            self.assertEqual(2, len({*candidates}))
            self.assert_decided(data, candidates)
            self.assertEqual({*nodes} - {*candidates}, {*self.ids(cluster)})
            nodes = self.ids(cluster)
            self.assertEqual(left, len(nodes))

    def test_s5_resize_by_a_count_that_another_policy_decided(self):
        cluster = self.cluster(
            self.deletion_policy(criteria='OLDEST_FIRST'), size=3
        )
        nodes = self.senlin.by_age(cluster)
        # None of Senlin's own policies decides about a resize.
        decided = {'deletion': {'count': 2}}
        action = self.senlin.run(cluster, 'CLUSTER_RESIZE', decided)
        self.assert_done(action)
        self.assert_decided(action['data'], nodes[:2])
        self.assertEqual(nodes[2:], self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})

    def test_s6_two_zones(self):
        zones = self.senlin.policy(
            'senlin.policy.zone_placement',
            {'zones': [{'name': 'AZ-1', 'weight': 200}, {'name': 'AZ-2'}]},
        )
        # Senlin writes its plan for new nodes down, and nothing reads it: so
        # the profiles say in which zone they are.
        profiles = [
            self.senlin.profile(
                flavor='small', networks=[], availability_zone=zone
            )
            for zone in ('AZ-1', 'AZ-2', 'AZ-1', 'AZ-1', 'AZ-2', 'AZ-1')
        ]
        cluster = self.cluster(
            zones,
            self.deletion_policy(criteria='OLDEST_FIRST'),
            profile=profiles[0],
        )
        for profile in profiles:
            self.add_node(cluster, profile)
        zone_of = {
            node['id']: node['data']['placement']['zone']
            for node in self.senlin.nodes(cluster)
        }
        oldest_first = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in', count=3)
        plan = data['deletion']['zones']
        self.assertEqual({'AZ-1': 2, 'AZ-2': 1}, plan)
        candidates = []
        for zone, count in sorted(plan.items()):
            here = [node for node in oldest_first if zone_of[node] == zone]
            candidates += here[:count]
        self.assert_decided(data, candidates)
        self.assertEqual(
            set(zone_of) - set(candidates), set(self.ids(cluster))
        )
        self.assert_servers(cluster, **{ONE: 3})

    def test_s7_node_delete(self):
        cluster = self.cluster(
            self.deletion_policy(reduce_desired_capacity=False), size=2
        )
        victim, survivor = self.ids(cluster)
        action = self.senlin.delete(f'/nodes/{victim}')
        self.assert_done(action)
        self.assert_decided(
            action['data'], [victim], reduce_desired_capacity=False
        )
        self.assertEqual([survivor], self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})
        self.assert_capacity(cluster, 2)


class Hooks(TestCase):
    def test_a_hook_is_sent_in_each_way(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=3)
        for name, arguments in self.ways(cluster, 1):
            data = self.act(cluster, name, **arguments)
            self.assertEqual('zaqar', data['hooks']['type'])
            # Senlin counts from the start of the action.
            self.assertGreaterEqual(data['hooks']['timeout'], 1)
            self.assertEqual('goodbye', data['hooks']['params']['queue'])
            posted = {m['node_id'] for m in self.cloud.queues['goodbye']}
            self.assertLessEqual({*data['deletion']['candidates']}, posted)
        self.assert_servers(cluster)

    def test_the_timeout_begins_with_the_message(self):
        hook = HOOK | {'timeout': 2}
        policy = self.deletion_policy('1.1', hooks=hook, grace_period=1)
        cluster = self.cluster(policy, size=1)
        times = {}

        def ask_slowly(queue, name):
            eventlet.sleep(1)
            return True

        def note(queue, name, body):
            times['message'] = time.monotonic()

        def delete(compute, server, ignore_missing=True):
            times['deletion'] = time.monotonic()
            del compute.region.servers[server]

        self.patch(driver.Queue, 'queue_exists', ask_slowly)
        self.patch(driver.Queue, 'message_post', note)
        self.patch(driver.Compute, 'server_delete', delete)
        start = time.monotonic()
        data = self.act(cluster, 'scale_in')
        # Senlin counts from the start of the action: until the message, the
        # question and the grace period take a second each.
        self.assertGreaterEqual(data['hooks']['timeout'], 4)
        self.assertGreaterEqual(times['deletion'] - start, 3.9)
        self.assertLess(times['message'], times['deletion'])

    def ways(self, cluster_id, size):
        """Return the ways to remove one of three nodes, two, or all."""
        node_id = self.ids(cluster_id)[0]
        return (
            ('del_nodes', {'nodes': [node_id]}),
            ('resize', EXACTLY | {'number': size}),
            ('scale_in', {}),
        )

    def act_in_vain(self, cluster_id):
        """Try to remove a node in each way; return the only reason."""
        reasons = set()
        for name, arguments in self.ways(cluster_id, 2):
            action = self.senlin.act(cluster_id, name, **arguments)
            self.assertEqual('FAILED', action['status'])
            # The desired capacity never moves without its node.
            self.assert_capacity(cluster_id, 3)
            self.assertEqual(3, self.cloud.servers_of(cluster_id)[ONE])
            reasons.add(action['data']['reason'])
        (reason,) = reasons
        return reason

    def test_a_queue_out_of_reach_changes_nothing(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=3)
        self.cloud.regions[ONE].failures['queue_exists'] = 'No Zaqar today'
        reason = self.act_in_vain(cluster)
        self.assertEqual('The policy check failed: No Zaqar today', reason)

    def test_a_webhook_of_an_older_policy_changes_nothing(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        with db_api.session_for_write() as session:
            row = session.get(models.Policy, policy)
            spec = copy.deepcopy(row.spec)
            spec['properties']['hooks'] = WEBHOOK
            row.spec = spec
        cluster = self.cluster(policy, size=3)
        reason = self.act_in_vain(cluster)
        self.assertIn("'type' of 'hooks' is 'webhook'", reason)
        # Senlin sends no hook for it.
        node_id = self.ids(cluster)[0]
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))
