# SPDX-License-Identifier: Apache-2.0

"""The region placement policy on the real engine.

Each test looks at the action's data, at the nodes' data and at where the
clouds hold the servers.
"""

import collections
from unittest import mock

import ddt

from senlin_plugins.policies.region_placement import RegionPlacementPolicy
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class Growing(base.TestCase):
    def test_s2_scale_out_creates_servers_where_the_plan_says(self):
        cluster = self.spread((ONE, 100), (TWO, 200), (THREE, 100, 0))
        data = self.act(cluster, 'scale_out', count=6)
        self.assertEqual('OK', data['status'])
        plan = {ONE: 2, TWO: 4}
        self.assertEqual({'count': 6, 'regions': plan}, data['creation'])
        self.assertEqual(
            plan,
            collections.Counter(
                entry['region_name']
                for entry in data['placement']['placements']
            ),
        )
        self.assert_servers(cluster, **plan)

    def test_s2_a_count_that_is_text_as_a_webhook_sends_it(self):
        cluster = self.spread((TWO, 1), (THREE, 1))
        action = self.senlin.run(cluster, 'CLUSTER_SCALE_OUT', count='2')
        self.assert_done(action)
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_s2_the_count_of_another_policy_goes_first(self):
        scaling = self.senlin.policy(
            'senlin.policy.scaling',
            {
                'event': 'CLUSTER_SCALE_OUT',
                'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 2},
            },
        )
        cluster = self.cluster(scaling, self.region_policy((TWO,), (THREE,)))
        data = self.act(cluster, 'scale_out')
        self.assertEqual(2, data['creation']['count'])
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_s3_a_creation_goes_before_a_deletion_and_the_inputs(self):
        cluster = self.spread((TWO,), (THREE,))
        data = self.act_decided(
            cluster, 'CLUSTER_RESIZE', creation={'count': 2}
        )
        self.assertEqual({TWO: 1, THREE: 1}, data['creation']['regions'])
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})
        data = self.act_decided(
            cluster, 'CLUSTER_RESIZE', deletion={'count': 1}
        )
        self.assertEqual(
            {'count': 1, 'regions': {TWO: 1}},
            {key: data['deletion'][key] for key in ('count', 'regions')},
        )
        self.assert_servers(cluster, **{THREE: 1})

    def test_s2_only_regions_that_keystone_knows_get_nodes(self):
        cluster = self.spread((ONE,), (TWO,), (THREE,))
        self.cloud.known = {TWO, THREE}
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({TWO: 1, THREE: 1}, data['creation']['regions'])
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_s2_the_decision_of_the_zone_policy_is_kept(self):
        zones = self.senlin.policy(
            'senlin.policy.zone_placement', {'zones': [{'name': 'nova'}]}
        )
        cluster = self.cluster(zones, self.region_policy((TWO,), (THREE,)))
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual(
            {
                'count': 2,
                'zones': {'nova': 2},
                'regions': {TWO: 1, THREE: 1},
            },
            data['creation'],
        )
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_placements_of_the_affinity_policy_are_kept(self):
        affinity = self.senlin.policy(
            'senlin.policy.affinity', {'servergroup': {'name': 'apart'}}
        )
        cluster = self.cluster(affinity, self.region_policy((TWO,), (THREE,)))
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual(
            [
                {'servergroup': 'group apart', 'region_name': THREE},
                {'servergroup': 'group apart', 'region_name': TWO},
            ],
            data['placement']['placements'],
        )
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})

    def test_nodes_from_before_the_policy_count_where_they_are(self):
        cluster = self.cluster(size=2)
        self.assert_servers(cluster, **{engine.DEFAULT_REGION: 2})
        policy = self.region_policy((ONE, 1), (TWO, 1))
        self.assert_done(self.senlin.attach(cluster, policy))
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({TWO: 2}, data['creation']['regions'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})

    def test_s1_nodes_above_a_cap_go_first(self):
        cluster = self.spread((ONE,), (TWO,))
        self.act(cluster, 'scale_out', count=6)
        attached = self.senlin.call('GET', f'/clusters/{cluster}/policies')
        (binding,) = attached['cluster_policies']
        self.act(cluster, 'policy_detach', policy_id=binding['policy_id'])
        capped = self.region_policy((ONE,), (TWO, 100, 1))
        self.assert_done(self.senlin.attach(cluster, capped))
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({TWO: 2}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 3, TWO: 1})

    def test_s3_resize_grows_and_shrinks(self):
        cluster = self.spread((ONE, 100, 2), (TWO, 100), (THREE, 100))
        data = self.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=8
        )
        plan = {ONE: 2, TWO: 3, THREE: 3}
        self.assertEqual({'count': 8, 'regions': plan}, data['creation'])
        self.assert_servers(cluster, **plan)
        data = self.act(
            cluster, 'resize', adjustment_type='CHANGE_IN_CAPACITY', number=-5
        )
        self.assertEqual(
            {ONE: 1, TWO: 2, THREE: 2}, data['deletion']['regions']
        )
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})

    def test_s3_resize_that_changes_nothing_plans_nothing(self):
        cluster = self.spread((TWO,))
        data = self.act(cluster, 'resize', max_size=9)
        self.assertNotIn('regions', data.get('creation', {}))
        self.assert_servers(cluster)


class SingleNodes(base.TestCase):
    def test_s4_node_create_goes_to_the_best_region(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE, 100, 1), (THREE, 50), (TWO, 49))
        cluster = self.cluster(policy, profile=profile)
        for wanted in (ONE, THREE, TWO):
            action, node = self.senlin.start_node(cluster, profile)
            data = self.senlin.wait(action)['data']
            self.assertEqual(
                {'count': 1, 'regions': {wanted: 1}}, data['creation']
            )
            node = self.senlin.call('GET', f'/nodes/{node}')['node']
            self.assertEqual(wanted, base.region_of(node))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})

    def test_s4_nodes_that_are_created_at_once_do_not_go_to_one_region(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE,), (TWO,), (THREE,))
        cluster = self.cluster(policy, profile=profile)
        started = [
            self.senlin.start_node(cluster, profile)[0] for _ in range(6)
        ]
        for action in started:
            self.assert_done(self.senlin.wait(action))
        self.assert_servers(cluster, **{ONE: 2, TWO: 2, THREE: 2})

    def test_s4_actions_at_one_moment_do_not_exceed_a_cap(self):
        profile = self.senlin.profile()
        policy = self.region_policy((ONE, 100, 1), (TWO, 1))
        cluster = self.cluster(policy, profile=profile)
        snapshot = RegionPlacementPolicy.snapshot
        readers = []

        def read_together(*args):
            found = snapshot(*args)
            readers.append(args)
            self.wait_until(lambda: len(readers) > 1)
            return found

        with mock.patch.object(
            RegionPlacementPolicy, 'snapshot', read_together
        ):
            started = [
                self.senlin.start_node(cluster, profile)[0] for _ in range(2)
            ]
            for action in started:
                self.assert_done(self.senlin.wait(action))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})

    def test_s4_the_region_of_the_profile_takes_precedence(self):
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': TWO}
        )
        policy = self.region_policy((ONE,), (TWO, 100, 1))
        cluster = self.cluster(policy, profile=profile)
        for logs in (self.assertNoLogs, self.assertLogs):
            with logs('senlin_plugins', 'WARNING') as warned:
                action, _ = self.senlin.start_node(cluster, profile)
                data = self.senlin.wait(action)['data']
            self.assertNotIn('creation', data)
        self.assertIn('there is 1, and the cap 1.', str(warned.output))
        self.assert_servers(cluster, **{TWO: 2})

    def test_s2_a_scaling_is_planned_whatever_the_profile_says(self):
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': THREE}
        )
        policy = self.region_policy((ONE,), (TWO, 100, 1))
        cluster = self.cluster(policy, profile=profile)
        data = self.act(cluster, 'scale_out', count=3)
        self.assertEqual({ONE: 2, TWO: 1}, data['creation']['regions'])
        for node in self.senlin.nodes(cluster):
            self.assert_done(
                self.senlin.act_node(
                    node['id'], 'recover', operation='RECREATE'
                )
            )
        self.assert_servers(cluster, **{ONE: 2, TWO: 1})

    def test_an_empty_decision_is_for_one_node_like_any_without_a_count(self):
        cluster = self.spread((TWO,))
        for action in ('CLUSTER_SCALE_OUT', 'CLUSTER_RESIZE'):
            data = self.act_decided(cluster, action, creation={})
            self.assertEqual({TWO: 1}, data['creation']['regions'])
        self.assert_servers(cluster, **{TWO: 2})

    def test_senlins_own_region_policy_attached_afterwards_does_no_harm(self):
        cluster = self.spread((ONE, 100), (TWO, 200))
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement',
            {'regions': [{'name': ONE, 'weight': 500}, {'name': THREE}]},
        )
        self.assert_done(self.senlin.attach(cluster, in_tree))
        data = self.act(cluster, 'scale_out', count=6)
        self.assertEqual({ONE: 2, TWO: 4}, data['creation']['regions'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 4})
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 1, TWO: 2}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 1, TWO: 2})


VOLUME = {
    'uuid': 'a volume',
    'source_type': 'volume',
    'destination_type': 'volume',
    'volume_size': 1,
}
BOOT = VOLUME | {'uuid': 'cirros', 'source_type': 'image'}


@ddt.ddt
class BoundToARegion(base.TestCase):
    def test_boot_from_volume_needs_block_storage(self):
        self.cloud.regions[ONE].catalog.discard('block-storage')
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)),
            profile=self.senlin.profile(
                flavor='small', networks=[], block_device_mapping_v2=[BOOT]
            ),
        )
        with self.assertLogs('senlin_plugins', 'WARNING') as warned:
            data = self.act(cluster, 'scale_out', count=2)
        self.assertIn('offers no block-storage', str(warned.output))
        self.assertEqual({TWO: 2}, data['creation']['regions'])

    @ddt.data(
        ("'port' of 'networks'", {'networks': [{'port': 'p'}]}),
        (
            "'floating_ip' of 'networks'",
            {
                'networks': [
                    {
                        'network': 'front',
                        'floating_network': 'out',
                        'floating_ip': '192.0.2.7',
                    }
                ]
            },
        ),
        (
            "a volume in 'block_device_mapping_v2'",
            {'block_device_mapping_v2': [VOLUME], 'networks': []},
        ),
        (
            "a snapshot in 'block_device_mapping_v2'",
            {
                'block_device_mapping_v2': [
                    VOLUME | {'source_type': 'snapshot'}
                ],
                'networks': [],
            },
        ),
    )
    @ddt.unpack
    def test_what_is_named_by_id_needs_its_region(self, tie, properties):
        with self.assertRaisesRegex(
            engine.ApiError, f'{tie} exists in one region only: .*region_name'
        ):
            self.senlin.profile(flavor='small', **properties)

    def test_new_nodes_go_where_the_snapshot_is(self):
        profile = self.senlin.profile(
            flavor='small',
            networks=[],
            block_device_mapping_v2=[VOLUME | {'source_type': 'snapshot'}],
            context={'region_name': TWO},
        )
        policy = self.region_policy((ONE,), (TWO, 100, 2))
        cluster = self.cluster(policy, profile=profile)
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({TWO: 2}, data['creation']['regions'])
        action = self.senlin.act(cluster, 'scale_out')
        self.assert_failed(
            'There is no feasible plan to handle all nodes.', action
        )


class Joining(base.TestCase):
    def test_a_node_that_exceeds_a_cap_joins_and_that_is_told(self):
        profile = self.senlin.profile()
        cluster = self.cluster(
            self.region_policy((ONE, 100, 1), (TWO,)), profile=profile
        )
        self.act(cluster, 'scale_out', count=2)
        here = self.senlin.nodes(cluster)
        (two,) = (n['id'] for n in here if base.region_of(n) == TWO)
        (one,) = (n['id'] for n in here if base.region_of(n) == ONE)
        first, second, third = (self.spare(profile) for _ in range(3))
        with self.assertNoLogs('senlin_plugins', 'WARNING'):
            self.act(cluster, 'replace_nodes', nodes={one: first})
        for name, nodes in (
            ('add_nodes', [second]),
            ('replace_nodes', {two: one}),
        ):
            with self.assertLogs('senlin_plugins', 'WARNING') as logs:
                self.act(cluster, name, nodes=nodes)
            (line,) = logs.output
            self.assertIn(f"brings a node to region '{ONE}'", line)
            self.assertIn('and the policy allows 1.', line)
        other = self.cluster(self.region_policy((TWO,)), profile=profile)
        with self.assertLogs('senlin_plugins', 'WARNING') as logs:
            self.act(other, 'add_nodes', nodes=[third])
        self.assertIn(
            'it has 1 node(s) then, and the policy allows 0.', *logs.output
        )
        self.assertEqual(
            {ONE: 3},
            collections.Counter(
                map(base.region_of, self.senlin.nodes(cluster))
            ),
        )

    def spare(self, profile):
        """Return the id of a node of no cluster, in the default region."""
        body = {'node': {'name': 'spare', 'profile_id': profile}}
        answer = self.senlin.call('POST', '/nodes', body)
        self.assert_done(self.senlin.wait(answer['started']))
        return answer['node']['id']


class Recovering(base.TestCase):
    def test_recover_with_check_capacity_places_the_missing_nodes(self):
        # A deletion that keeps the desired capacity leaves a gap.
        deletion = self.senlin.policy(
            base.DELETION_POLICY, {'reduce_desired_capacity': False}
        )
        cluster = self.cluster(
            deletion, self.region_policy((ONE,), (TWO,), (THREE,))
        )
        self.act(cluster, 'scale_out', count=3)
        lost = self.senlin.nodes(cluster)[-1]
        gap = base.region_of(lost)
        self.assertNotEqual(engine.DEFAULT_REGION, gap)
        self.assert_done(self.senlin.delete(f'/nodes/{lost["id"]}'))
        data = self.act(cluster, 'recover', check_capacity=True)
        self.assertEqual(
            [{'region_name': gap}], data['placement']['placements']
        )
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})

    def test_recover_that_cannot_be_planned_creates_nothing(self):
        deletion = self.senlin.policy(
            base.DELETION_POLICY, {'reduce_desired_capacity': False}
        )
        cluster = self.cluster(deletion, self.region_policy((TWO,)))
        self.act(cluster, 'scale_out')
        (node,) = self.senlin.nodes(cluster)
        self.assert_done(self.senlin.delete(f'/nodes/{node["id"]}'))
        self.cloud.known = {ONE}
        action = self.senlin.act(cluster, 'recover', check_capacity=True)
        self.assert_failed('No region is found usable.', action)
        self.assert_servers(cluster)
        self.assertEqual([], self.senlin.nodes(cluster))

    def test_a_recovery_mends_what_it_can_if_there_is_no_room_for_more(self):
        deletion = self.senlin.policy(
            base.DELETION_POLICY, {'reduce_desired_capacity': False}
        )
        wide = self.region_policy((TWO,))
        cluster = self.cluster(deletion, wide)
        self.act(cluster, 'scale_out', count=2)
        stays, goes = self.senlin.nodes(cluster)
        self.assert_done(self.senlin.delete(f'/nodes/{goes["id"]}'))
        self.act(cluster, 'policy_detach', policy_id=wide)
        tight = self.region_policy((TWO, 100, 1))
        self.assert_done(self.senlin.attach(cluster, tight))
        del self.cloud.regions[TWO].servers[stays['physical_id']]
        self.act(cluster, 'check')
        action = self.senlin.act(cluster, 'recover', check_capacity=True)
        self.assert_failed(
            'There is no feasible plan to handle all nodes.', action
        )
        self.assertIs(True, action['inputs']['check_capacity'])
        self.assert_servers(cluster, **{TWO: 1})
        (node,) = self.senlin.nodes(cluster)
        self.assertEqual('ACTIVE', node['status'])


class Shrinking(base.TestCase):
    def test_s1_no_region_is_usable(self):
        cluster = self.spread((TWO,))
        self.act(cluster, 'scale_out', count=2)
        self.cloud.known = {ONE}
        action = self.senlin.act(cluster, 'scale_in')
        self.assert_failed('No region is found usable.', action)
        self.assert_servers(cluster, **{TWO: 2})

    def test_s1_note_the_deletion_policy_of_senlin_follows_the_plan(self):
        in_tree = self.senlin.policy(
            'senlin.policy.deletion', {'criteria': 'OLDEST_FIRST'}
        )
        cluster = self.cluster(in_tree, self.region_policy((ONE, 1), (TWO, 2)))
        self.act(cluster, 'scale_out', count=6)
        region_of = base.regions_of(self.senlin.nodes(cluster))
        oldest_first = self.senlin.by_age(cluster)
        data = self.act(cluster, 'scale_in', count=3)
        plan = {ONE: 1, TWO: 2}
        self.assertEqual(plan, data['deletion']['regions'])
        # Its candidates, and not those of this package's policy.
        oldest = []
        for region, count in plan.items():
            here = [n for n in oldest_first if region_of[n] == region]
            oldest += here[:count]
        self.assertEqual(oldest, data['deletion']['candidates'])
        self.assert_servers(cluster, **plan)

    def test_s1_without_deletion_policy_candidates_follow_the_plan(self):
        cluster = self.spread((ONE, 100), (TWO, 200))
        self.act(cluster, 'scale_out', count=6)
        regions = base.regions_of(self.senlin.nodes(cluster))
        data = self.act(cluster, 'scale_in', count=3)
        plan = {ONE: 1, TWO: 2}
        self.assertEqual(3, data['deletion']['count'])
        self.assertEqual(plan, data['deletion']['regions'])
        candidates = data['deletion']['candidates']
        self.assertEqual(
            plan, collections.Counter(regions[c] for c in candidates)
        )
        left = set(base.regions_of(self.senlin.nodes(cluster)))
        self.assertEqual(set(candidates), set(regions) - left)
        self.assert_servers(cluster, **{ONE: 1, TWO: 2})

    def test_s1_a_disabled_deletion_policy_does_not_choose(self):
        deletion = self.senlin.policy(base.DELETION_POLICY, {})
        cluster = self.cluster(deletion, self.region_policy((TWO,), (THREE,)))
        self.act(cluster, 'policy_update', policy_id=deletion, enabled=False)
        self.act(cluster, 'scale_out', count=2)
        data = self.act(cluster, 'scale_in')
        self.assertNotIn('grace_period', data['deletion'])
        self.assertEqual(1, len(data['deletion']['candidates']))
        # The tie goes the other way round than when growing.
        self.assert_servers(cluster, **{THREE: 1})

    def test_regions_that_left_the_spec_are_emptied_first(self):
        old = self.region_policy((TWO,), (THREE,))
        cluster = self.cluster(old)
        self.act(cluster, 'scale_out', count=4)
        self.act(cluster, 'policy_detach', policy_id=old)
        new = self.region_policy((TWO,), (ONE,))
        self.assert_done(self.senlin.attach(cluster, new))
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual({THREE: 2, TWO: 1}, data['deletion']['regions'])
        self.assert_servers(cluster, **{TWO: 1})

    def test_a_region_of_the_spec_that_is_out_of_reach_is_left_alone(self):
        cluster = self.spread((ONE,), (TWO,))
        self.act(cluster, 'scale_out', count=4)
        self.cloud.known.discard(TWO)
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({ONE: 2}, data['deletion']['regions'])
        action = self.senlin.act(cluster, 'scale_in', count=1)
        self.assert_failed(
            'There is no feasible plan to handle all nodes.', action
        )
        self.assert_servers(cluster, **{TWO: 2})


class Refusing(base.TestCase):
    """Errors reach the API with their reason, and change nothing."""

    def test_s2_caps_that_leave_no_plan(self):
        cluster = self.spread((ONE, 100, 1), (TWO, 100, 1))
        action = self.senlin.act(cluster, 'scale_out', count=3)
        self.assert_failed(
            'There is no feasible plan to handle all nodes.', action
        )
        self.assert_servers(cluster)
        self.assertEqual([], self.senlin.nodes(cluster))

    def test_s3_a_refused_resize_leaves_nothing_of_the_parser(self):
        cluster = self.spread((ONE, 100, 0))
        action = self.senlin.act(
            cluster, 'resize', adjustment_type='EXACT_CAPACITY', number=1
        )
        self.assert_failed(
            'There is no feasible plan to handle all nodes.', action
        )
        self.assertEqual({'status', 'reason'}, action['data'].keys())

    def test_s2_no_region_is_known_to_keystone(self):
        cluster = self.spread((ONE,), (TWO,))
        self.cloud.known = {THREE}
        action = self.senlin.act(cluster, 'scale_out')
        self.assert_failed('No region is found usable.', action)
        self.assert_servers(cluster)

    def test_a_region_without_the_compute_service_is_not_used(self):
        cluster = self.spread((ONE,), (TWO,))
        self.cloud.regions[TWO].catalog.discard('compute')
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, data['creation']['regions'])
        self.assert_servers(cluster, **{ONE: 2})

    def test_a_region_needs_what_the_profile_names(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[{'network': 'front'}]
        )
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,), (THREE,)), profile=profile
        )
        self.cloud.regions[ONE].catalog.discard('image')
        self.cloud.regions[TWO].catalog.discard('network')
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({THREE: 2}, data['creation']['regions'])
        self.assert_servers(cluster, **{THREE: 2})
        self.act(cluster, 'scale_in', count=2)

    def test_a_region_gives_nodes_up_without_what_a_new_one_needs(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), profile=profile
        )
        self.act(cluster, 'scale_out', count=4)
        self.cloud.regions[ONE].catalog.discard('image')
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['deletion']['regions'])
        # Nothing can be deleted without this one.
        self.cloud.regions[ONE].catalog.discard('compute')
        data = self.act(cluster, 'scale_in')
        self.assertEqual({TWO: 1}, data['deletion']['regions'])
        self.assert_servers(cluster, **{ONE: 1})

    def test_the_catalog_is_not_asked_when_told_not_to(self):
        self.set_option('check_catalog', False)
        cluster = self.spread((ONE,), (TWO,))
        self.cloud.regions[TWO].catalog.discard('compute')
        self.act(cluster, 'scale_out', count=2)
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})


class Attaching(base.TestCase):
    def test_a_profile_that_ignores_regions_is_refused(self):
        cluster = self.cluster(profile=self.senlin.profile('os.nova.server'))
        action = self.senlin.attach(cluster, self.region_policy((TWO,)))
        self.assertEqual('FAILED', action['status'])
        self.assertIn("'os.nova.server-1.0'", action['status_reason'])
        self.assertIn(
            "use a profile of type 'senlin_plugins.nova.server'",
            action['status_reason'],
        )

    def test_plan_only_writes_the_plan_and_no_placements(self):
        self.set_option('unaware_profile', 'plan_only')
        cluster = self.cluster(
            self.region_policy((TWO,)),
            profile=self.senlin.profile('os.nova.server'),
        )
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({'count': 2, 'regions': {TWO: 2}}, data['creation'])
        self.assertNotIn('placement', data)
        self.assertEqual(2, self.cloud.servers_of(cluster)[ONE])

    def test_a_second_region_policy_is_refused(self):
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement', {'regions': [{'name': TWO}]}
        )
        cluster = self.cluster(in_tree)
        action = self.senlin.attach(cluster, self.region_policy((TWO,)))
        self.assertEqual('FAILED', action['status'])
        self.assertIn('detach it first', action['status_reason'])

    def test_a_type_that_is_not_enabled_is_refused(self):
        existing = self.region_policy((TWO,))
        self.set_option('enabled_policies', ['deletion'])
        with self.assertRaisesRegex(
            engine.ApiError, "add 'region_placement' to enabled_policies"
        ) as caught:
            self.region_policy((TWO,))
        self.assertEqual(400, caught.exception.code)
        action = self.senlin.attach(self.cluster(), existing)
        self.assertEqual('FAILED', action['status'])
        self.assertIn('enabled_policies', action['status_reason'])

    def test_a_type_shows_the_documented_properties(self):
        """The table "Properties" of the document."""
        shown = self.senlin.call(
            'GET', f'/policy-types/{base.REGION_POLICY}-1.0'
        )['policy_type']['schema']['regions']['schema']['*']['schema']
        self.assertEqual(
            {'name': 'String', 'weight': 'Integer', 'cap': 'Integer'},
            {name: entry['type'] for name, entry in shown.items()},
        )
        self.assertTrue(shown['name']['required'])
        self.assertEqual(100, shown['weight']['default'])
        self.assertEqual(-1, shown['cap']['default'])
