# SPDX-License-Identifier: Apache-2.0

"""The deletion policy on the real engine, section by section."""

import time

import eventlet
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from testing.senlin import stub_cloud
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import EXACTLY, ONE

DEFAULTS = {
    'destroy_after_deletion': True,
    'grace_period': 0,
    'reduce_desired_capacity': True,
}
#: Its type is by default the only one that Senlin can send.
HOOK = {'params': {'queue': 'goodbye'}, 'timeout': 1}
WEBHOOK = {'type': 'webhook', 'params': {'url': 'http://x.example'}}
SERVER = {'flavor': 'small', 'networks': []}
STACK = {'template': {'heat_template_version': '2021-04-16'}}


class Scenarios(base.TestCase):
    def assert_decided(self, data, candidates, **details):
        """Check the whole layout that the document shows."""
        self.assertEqual('OK', data['status'])
        self.assertEqual('Candidates generated', data['reason'])
        decided = {'count': len(candidates), 'candidates': candidates}
        self.assertEqual(DEFAULTS | decided | details, data['deletion'])

    def test_s1_del_nodes(self):
        policy = self.deletion_policy(
            grace_period=1, reduce_desired_capacity=False
        )
        cluster = self.cluster(policy, size=3)
        nodes = self.ids(cluster)
        started = time.monotonic()
        # As a webhook names them, one twice: the API would refuse it.
        named = {'candidates': [nodes[2], 'nobody', nodes[0], nodes[2]]}
        action = self.senlin.run(cluster, 'CLUSTER_DEL_NODES', **named)
        self.assert_done(action)
        # The grace period has passed.
        self.assertGreaterEqual(time.monotonic() - started, 1)
        self.assert_decided(
            action['data'],
            [nodes[2], nodes[0]],
            grace_period=1,
            reduce_desired_capacity=False,
        )
        self.assertEqual([nodes[1]], self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})
        self.assert_capacity(cluster, 3)

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
        # The policy works with any profile.
        old = self.senlin.profile('os.nova.server', **SERVER)
        new = self.senlin.profile('os.nova.server', **SERVER)
        cluster = self.cluster(profile=new)
        # Each is younger than the one before.
        for profile in (new, new, new, old, new):
            self.add_node(cluster, profile)
        nodes = self.ids(cluster)
        self.assertEqual(nodes, self.senlin.by_age(cluster))
        for criterion, inputs, expected in (
            ('OLDEST_FIRST', {'count': 2}, nodes[:2]),
            ('OLDEST_PROFILE_FIRST', {'count': 1}, nodes[3:4]),
            ('YOUNGEST_FIRST', {}, nodes[4:]),
        ):
            # The specification gives the hooks like this by default.
            policy = self.deletion_policy('1.1', criteria=criterion, hooks={})
            self.attach(cluster, policy)
            data = self.act(cluster, 'scale_in', **inputs)
            self.assert_decided(data, expected)
            self.assertNotIn('hooks', data)
            self.detach(cluster)
        self.assertEqual(nodes[2:3], self.ids(cluster))
        self.assertEqual(1, len(self.cloud.regions[ONE].servers))
        # Actions that Senlin derives are not decided.
        path = '/actions?action=NODE_DELETE'
        derived = self.senlin.call('GET', path)['actions']
        self.assertEqual(4, len(derived))
        for action in derived:
            self.assertNotIn('deletion', action['data'])

    def test_s4_a_resize_is_decided_only_if_it_shrinks(self):
        profile = self.senlin.profile('os.heat.stack', **STACK)
        deletion = self.deletion_policy(criteria='YOUNGEST_FIRST')
        cluster = self.cluster(deletion, profile=profile, size=3)
        youngest_first = self.senlin.by_age(cluster)[::-1]
        data = self.act(cluster, 'resize', number=1, **EXACTLY)
        self.assert_decided(data, youngest_first[:2])
        self.assertEqual(youngest_first[2:], self.ids(cluster))
        data = self.act(cluster, 'resize', number=2, **EXACTLY)
        self.assertNotIn('deletion', data)
        self.assertNotEqual('Candidates generated', data.get('reason'))

    def test_s6_two_zones_and_the_count_of_a_scaling_policy(self):
        adjustment = {'type': 'CHANGE_IN_CAPACITY', 'number': 3}
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {'event': 'CLUSTER_SCALE_IN', 'adjustment': adjustment},
        )
        zones = self.senlin.policy(
            'senlin.policy.zone_placement',
            {'zones': [{'name': 'AZ-1', 'weight': 200}, {'name': 'AZ-2'}]},
        )
        # Senlin never reads its plan for new nodes: so the profiles say in
        # which zone they are.
        profiles = {
            zone: self.senlin.profile(
                'os.nova.server', availability_zone=zone, **SERVER
            )
            for zone in ('AZ-1', 'AZ-2')
        }
        cluster = self.cluster(
            scaling,
            zones,
            self.deletion_policy(criteria='OLDEST_FIRST'),
            profile=profiles['AZ-1'],
        )
        for zone in ('AZ-1', 'AZ-2', 'AZ-1', 'AZ-1', 'AZ-2', 'AZ-1'):
            self.add_node(cluster, profiles[zone])
        nodes = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in')
        plan = {'AZ-1': 2, 'AZ-2': 1}
        oldest = [nodes[0], nodes[2], nodes[1]]
        self.assert_decided(data, oldest, zones=plan)
        self.assertEqual({*nodes[3:]}, {*self.ids(cluster)})

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
        self.assert_capacity(cluster, 2)


class Hooks(base.TestCase):
    def test_a_hook_is_sent_in_each_way(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        for way in range(3):
            cluster = self.cluster(policy, size=2)
            name, arguments = self.ways(cluster, 1)[way]
            data = self.act(cluster, name, **arguments)
            self.assertEqual('zaqar', data['hooks']['type'])
            self.assertEqual('goodbye', data['hooks']['params']['queue'])
            posted = {m['node_id'] for m in self.cloud.queues['goodbye']}
            self.assertLessEqual({*data['deletion']['candidates']}, posted)
            self.assert_servers(cluster, **{ONE: 1})

    def test_a_node_that_is_deleted_by_itself_sends_no_hook(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=1)
        (node_id,) = self.ids(cluster)
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))
        self.assertNotIn('goodbye', self.cloud.queues)

    def test_the_timeout_begins_with_the_message(self):
        hook = HOOK | {'timeout': 2}
        policy = self.deletion_policy('1.1', hooks=hook, grace_period=1)
        cluster = self.cluster(policy, size=1)

        def ask_slowly(queue, name):
            eventlet.sleep(1)
            return True

        self.patch(stub_cloud.Queue, 'queue_exists', ask_slowly)
        data = self.act(cluster, 'scale_in')
        # Senlin counts from the start of the action: until the message, the
        # question and the grace period take a second each.
        self.assertGreaterEqual(data['hooks']['timeout'], 4)

    def test_a_queue_out_of_reach_changes_nothing(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=3)
        self.cloud.regions[ONE].failures['queue_exists'] = 'No Zaqar today'
        for name, arguments in self.ways(cluster, 1):
            action = self.senlin.act(cluster, name, **arguments)
            self.assert_failed(base.UNEXPECTED, action)
            # The desired capacity never moves without its node.
            self.assert_capacity(cluster, 3)
            self.assert_servers(cluster, **{ONE: 3})

    def test_a_webhook_of_an_older_policy_is_refused(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        with db_api.session_for_write() as session:
            row = session.get(models.Policy, policy)
            properties = row.spec['properties'] | {'hooks': WEBHOOK}
            row.spec = row.spec | {'properties': properties}
        cluster = self.cluster(policy, size=1)
        action = self.senlin.act(cluster, 'scale_in')
        reason = (
            "'type' of 'hooks' is 'webhook': Senlin cannot send such hooks, "
            "and no node would leave. Use type 'zaqar'."
        )
        self.assert_failed(reason, action)
        # Senlin sends no hook for NODE_DELETE.
        (node_id,) = self.ids(cluster)
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))
