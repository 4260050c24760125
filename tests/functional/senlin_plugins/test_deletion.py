# SPDX-License-Identifier: Apache-2.0

"""The deletion policy on the real engine, section by section."""

import collections
import copy
import time

import ddt
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

DEFAULTS = {
    'destroy_after_deletion': True,
    'grace_period': 0,
    'reduce_desired_capacity': True,
}
HOOK = {'type': 'zaqar', 'params': {'queue': 'goodbye'}, 'timeout': 1}
WEBHOOK = {'type': 'webhook', 'params': {'url': 'http://x.example'}}


class TestCase(base.TestCase):
    def deletion_policy(self, version='1.0', **properties):
        """Create a deletion policy and return its id."""
        return self.senlin.policy(base.DELETION_POLICY, properties, version)

    def ids(self, cluster_id):
        """Return the ids of the nodes, the oldest first."""
        return [node['id'] for node in self.senlin.nodes(cluster_id)]

    def assert_decided(self, data, candidates, **details):
        """Check the whole layout that the document shows."""
        self.assertEqual('OK', data['status'])
        self.assertEqual('Candidates generated', data['reason'])
        deletion = data['deletion']
        self.assertEqual(len(candidates), deletion['count'])
        self.assertEqual(candidates, deletion['candidates'])
        for key, value in (DEFAULTS | details).items():
            self.assertEqual(value, deletion[key], key)


@ddt.ddt
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

    @ddt.data(
        ('OLDEST_FIRST', slice(0, 2)), ('YOUNGEST_FIRST', slice(3, None))
    )
    @ddt.unpack
    def test_s2_scale_in_by_age(self, criterion, expected):
        policy = self.deletion_policy(criteria=criterion)
        profile = self.senlin.profile()
        cluster = self.cluster(policy, profile=profile)
        # One after the other: each is younger than the one before.
        for _ in range(4):
            self.add_node(cluster, profile)
        nodes = self.ids(cluster)
        data = self.act(cluster, 'scale_in', count=len(nodes[expected]))
        self.assert_decided(data, nodes[expected])
        self.assertEqual(
            set(nodes) - set(nodes[expected]), set(self.ids(cluster))
        )

    def test_s2_scale_in_without_a_count_removes_one(self):
        cluster = self.cluster(
            # The hooks as the specification gives them by default.
            self.deletion_policy('1.1', criteria='OLDEST_FIRST', hooks={}),
            size=2,
        )
        oldest, youngest = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in')
        self.assert_decided(data, [oldest])
        self.assertNotIn('hooks', data)
        self.assertEqual([youngest], self.ids(cluster))

    def test_s2_the_oldest_profile_first(self):
        old, new = self.senlin.profile(), self.senlin.profile()
        cluster = self.cluster(
            self.deletion_policy(criteria='OLDEST_PROFILE_FIRST'), profile=new
        )
        # The younger node has the older profile.
        for profile in (new, old):
            node = self.add_node(cluster, profile)
        data = self.act(cluster, 'scale_in')
        self.assert_decided(data, [node])
        self.assertNotIn(node, self.ids(cluster))
        self.assert_servers(cluster, **{ONE: 1})


class MoreScenarios(TestCase):
    def test_s3_the_count_of_a_scaling_policy_goes_first(self):
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {
                'event': 'CLUSTER_SCALE_IN',
                'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 2},
            },
        )
        cluster = self.cluster(scaling, self.deletion_policy(), size=3)
        nodes = self.ids(cluster)
        data = self.act(cluster, 'scale_in')
        candidates = data['deletion']['candidates']
        self.assert_decided(data, candidates)
        self.assertEqual(2, len(set(candidates) & set(nodes)))
        self.assertEqual(set(nodes) - set(candidates), set(self.ids(cluster)))

    def test_s4_resize_shrinks(self):
        cluster = self.cluster(self.deletion_policy(), size=3)
        nodes = self.ids(cluster)
        data = self.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=1
        )
        self.assert_decided(data, data['deletion']['candidates'])
        self.assertEqual(2, data['deletion']['count'])
        self.assertEqual(
            set(nodes) - set(data['deletion']['candidates']),
            set(self.ids(cluster)),
        )

    def test_s4_a_growing_resize_keeps_the_plan_of_the_region_policy(self):
        cluster = self.cluster(
            self.deletion_policy(), self.region_policy((TWO,), (THREE,))
        )
        data = self.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=2
        )
        self.assertEqual(
            {'count': 2, 'regions': {TWO: 1, THREE: 1}}, data['creation']
        )
        self.assertNotIn('deletion', data)
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_s5_resize_by_a_count_that_another_policy_decided(self):
        cluster = self.cluster(
            self.deletion_policy(criteria='OLDEST_FIRST'), size=3
        )
        nodes = self.senlin.by_age(cluster)
        data = self.act_decided(
            cluster, 'CLUSTER_RESIZE', deletion={'count': 2}
        )
        self.assert_decided(data, nodes[:2])
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
        wanted = []
        for zone, count in sorted(plan.items()):
            here = [node for node in oldest_first if zone_of[node] == zone]
            wanted += here[:count]
        self.assert_decided(data, wanted)
        self.assertEqual(set(zone_of) - set(wanted), set(self.ids(cluster)))
        self.assert_servers(cluster, **{ONE: 3})

    def test_s6_the_documents_other_spelling_of_regions(self):
        spread = self.region_policy((ONE, 1), (TWO, 1))
        cluster = self.cluster(spread, self.deletion_policy())
        self.act(cluster, 'scale_out', count=4)
        self.act(cluster, 'policy_detach', policy_id=spread)
        regions = base.regions_of(self.senlin.nodes(cluster))
        plan = {ONE: 2, TWO: 1}
        data = self.act_decided(
            cluster, 'CLUSTER_SCALE_IN', deletion={'count': 3, 'region': plan}
        )
        candidates = data['deletion']['candidates']
        self.assert_decided(data, candidates)
        self.assertEqual(
            plan, collections.Counter(regions[c] for c in candidates)
        )
        self.assert_servers(cluster, **{TWO: 1})

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

    def test_never_more_candidates_than_nodes(self):
        cluster = self.cluster(self.deletion_policy(), size=2)
        nodes = self.ids(cluster)
        data = self.act(cluster, 'scale_in', count=5)
        self.assertEqual(2, data['deletion']['count'])
        self.assertEqual(set(nodes), set(data['deletion']['candidates']))
        self.assertEqual([], self.ids(cluster))
        self.assert_servers(cluster)

    def test_a_node_in_error_goes_first_whatever_its_age(self):
        cluster = self.cluster(
            self.deletion_policy(criteria='OLDEST_FIRST'), size=3
        )
        youngest = self.senlin.nodes(cluster)[-1]
        region = self.cloud.regions[ONE]
        region.servers[youngest['physical_id']].status = 'ERROR'
        self.act_node(youngest['id'], 'check')
        data = self.act(cluster, 'scale_in')
        self.assert_decided(data, [youngest['id']])
        self.assertEqual(2, self.cloud.servers_of(cluster)[ONE])


class BadSizes(TestCase):
    def test_s4_an_error_of_the_parser_is_the_reason(self):
        cluster = self.cluster(self.deletion_policy(), max_size=3)
        action = self.senlin.run(
            cluster,
            'CLUSTER_RESIZE',
            adjustment_type='EXACT_CAPACITY',
            number=4,
            strict=True,
        )
        self.assert_failed(
            "The target capacity (4) is greater than the cluster's max_size "
            '(3).',
            action,
        )


class Hooks(TestCase):
    def assert_posted(self, nodes):
        """Check that a message for each node is in the queue."""
        posted = {
            message['node_id'] for message in self.cloud.queues['goodbye']
        }
        self.assertLessEqual(nodes, posted)

    def test_a_hook_is_sent_on_scale_in_and_resize(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=2)
        data = self.act(cluster, 'scale_in')
        self.assertEqual('zaqar', data['hooks']['type'])
        self.assertEqual(1, data['hooks']['timeout'])
        self.assertEqual('goodbye', data['hooks']['params']['queue'])
        self.assert_posted(set(data['deletion']['candidates']))
        self.assertEqual(1, self.cloud.servers_of(cluster)[ONE])
        data = self.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=0
        )
        self.assertEqual('goodbye', data['hooks']['params']['queue'])
        self.assert_posted(set(data['deletion']['candidates']))
        self.assert_servers(cluster)

    def test_a_hook_is_sent_on_del_nodes(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=1)
        nodes = self.ids(cluster)
        data = self.act(cluster, 'del_nodes', nodes=nodes)
        self.assertEqual('goodbye', data['hooks']['params']['queue'])
        self.assert_posted(set(nodes))
        self.assert_servers(cluster)

    def act_in_vain(self, cluster_id):
        """Try to remove a node in each way; return the reasons."""
        node_id = self.ids(cluster_id)[0]
        reasons = set()
        for name, arguments in (
            ('scale_in', {}),
            ('resize', {'adjustment_type': 'EXACT_CAPACITY', 'number': 2}),
            ('del_nodes', {'nodes': [node_id]}),
        ):
            action = self.senlin.act(cluster_id, name, **arguments)
            self.assertEqual('FAILED', action['status'])
            shown = self.senlin.call('GET', f'/clusters/{cluster_id}')
            # The desired capacity never moves without its node.
            self.assertEqual(3, shown['cluster']['desired_capacity'])
            self.assertEqual(3, self.cloud.servers_of(cluster_id)[ONE])
            reasons.add(action['data']['reason'])
        return reasons

    def test_a_queue_out_of_reach_changes_nothing(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        cluster = self.cluster(policy, size=3)
        self.cloud.regions[ONE].failures['queue_exists'] = 'No Zaqar today'
        (reason,) = self.act_in_vain(cluster)
        self.assertEqual('The policy check failed: No Zaqar today', reason)

    def test_a_webhook_of_an_older_policy_changes_nothing(self):
        policy = self.deletion_policy('1.1', hooks=HOOK)
        with db_api.session_for_write() as session:
            row = session.query(models.Policy).filter_by(id=policy).one()
            spec = copy.deepcopy(row.spec)
            spec['properties']['hooks'] = WEBHOOK
            row.spec = spec
        cluster = self.cluster(policy, size=3)
        (reason,) = self.act_in_vain(cluster)
        self.assertIn("'type' of 'hooks' is 'webhook'", reason)
        # Senlin sends no hook for it.
        node_id = self.ids(cluster)[0]
        self.assert_done(self.senlin.delete(f'/nodes/{node_id}'))


@ddt.ddt
class Types(TestCase):
    @ddt.data('1.0', '1.1')
    def test_a_type_shows_the_documented_properties(self, version):
        """The list "Properties" of the document, with its defaults."""
        shown = self.senlin.call(
            'GET', f'/policy-types/{base.DELETION_POLICY}-{version}'
        )['policy_type']['schema']
        self.assertEqual(
            {
                'criteria': ('String', 'RANDOM'),
                'destroy_after_deletion': ('Boolean', True),
                'grace_period': ('Integer', 0),
                'reduce_desired_capacity': ('Boolean', True),
                'hooks': ('Map', {}),
            },
            {
                name: (entry['type'], entry['default'])
                for name, entry in shown.items()
            },
        )
        hooks = shown['hooks']['schema']
        self.assertEqual(
            {'type': 'String', 'params': 'Map', 'timeout': 'Integer'},
            {name: entry['type'] for name, entry in hooks.items()},
        )
        self.assertEqual({'queue', 'url'}, set(hooks['params']['schema']))

    def test_a_type_that_is_not_enabled_is_refused(self):
        self.set_option('enabled_policies', [])
        with self.assertRaisesRegex(
            engine.ApiError, "add 'deletion' to enabled_policies"
        ):
            self.deletion_policy()

    def test_a_second_deletion_policy_is_refused(self):
        in_tree = self.senlin.policy('senlin.policy.deletion', {})
        cluster = self.cluster(in_tree)
        self.assert_not_attached(
            'detach it first', cluster, self.deletion_policy()
        )
