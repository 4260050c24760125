# SPDX-License-Identifier: Apache-2.0

"""The region placement policy on the real engine."""

from senlin_plugins import endpoints
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import (
    EXACTLY,
    NO_PLAN,
    NO_REGION,
    ONE,
    THREE,
    TWO,
    UNEXPECTED,
    VOLUME,
)


class Growing(base.TestCase):
    def test_s2_a_plan_is_written_beside_decisions_of_other_policies(self):
        scaling = {
            'event': 'CLUSTER_SCALE_OUT',
            'adjustment': {'type': 'CHANGE_IN_CAPACITY', 'number': 3},
        }
        cluster = self.cluster(
            self.senlin.policy('senlin.policy.scaling', scaling),
            self.region_policy((TWO, 200), (THREE, 100), (ONE, 100, 0)),
        )
        data = self.act(cluster, 'scale_out')
        self.assertEqual('OK', data['status'])
        counts = {TWO: 2, THREE: 1}
        self.assertEqual({'count': 3, 'regions': counts}, data['creation'])
        self.assertEqual(
            [{'region_name': name} for name in (THREE, TWO, TWO)],
            data['placement']['placements'],
        )
        self.assert_servers(cluster, **counts)
        # Actions that Senlin derives are not planned.
        path = '/actions?action=NODE_CREATE'
        derived = self.senlin.call('GET', path)['actions']
        self.assertEqual(3, len(derived))
        for action in derived:
            self.assertNotIn('creation', action['data'])

    def test_s3_resize_grows_and_shrinks(self):
        cluster = self.spread((ONE, 100, 2), (TWO,), (THREE,))
        data = self.act(cluster, 'resize', number=8, **EXACTLY)
        plan = {ONE: 2, TWO: 3, THREE: 3}
        self.assertEqual({'count': 8, 'regions': plan}, data['creation'])
        self.assertNotIn('deletion', data)
        self.assert_servers(cluster, **plan)
        before = {*self.ids(cluster)}
        data = self.act(
            cluster, 'resize', adjustment_type='CHANGE_IN_CAPACITY', number=-5
        )
        # Without a deletion policy, the candidates follow the plan.
        candidates = data['deletion'].pop('candidates')
        self.assertEqual(before - {*self.ids(cluster)}, {*candidates})
        plan = {ONE: 1, TWO: 2, THREE: 2}
        self.assertEqual({'count': 5, 'regions': plan}, data['deletion'])
        # A resize that changes nothing plans nothing.
        data = self.act(cluster, 'resize', max_size=9)
        self.assertNotIn('regions', data.get('creation', {}))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1, THREE: 1})

    def test_regions_are_validated_before_each_plan(self):
        profile = self.senlin.profile()
        cluster = self.spread((ONE,), (TWO,), count=4)
        nodes = self.senlin.nodes(cluster)
        for failure, names, reason in (
            ('', {THREE}, NO_REGION),
            ('Keystone is down', {ONE, TWO, THREE}, UNEXPECTED),
        ):
            self.cloud.keystone_failure = failure
            self.cloud.keystone_regions = names
            create, created = self.senlin.start_node(cluster, profile)
            for action in (
                self.senlin.wait(create),
                self.senlin.act(cluster, 'scale_out'),
                self.senlin.act(cluster, 'resize', number=0, **EXACTLY),
            ):
                self.assertEqual('FAILED', action['status'])
                refused = {'status': 'ERROR', 'reason': reason}
                self.assertEqual(refused, action['data'])
            self.wait_until_free(cluster)
            self.assertEqual(nodes, self.senlin.nodes(cluster))
            # In the cluster, a recovery would create it in some region.
            shown = self.shown(created)
            self.assertEqual('ERROR', shown['status'])
            self.assertEqual('', shown['cluster_id'])
            self.assertIn(reason, shown['status_reason'])


class SingleNodes(base.TestCase):
    def test_s4_actions_at_one_moment_do_not_exceed_a_cap(self):
        cluster = self.spread((ONE, 100, 3), (TWO, 1))
        find_faults = endpoints.find_faults
        readers = []

        def read_together(*args):
            readers.append(args)
            self.wait_until(lambda: len(readers) > 1)
            return find_faults(*args)

        self.patch(endpoints, 'find_faults', read_together)
        ended = self.create_nodes(cluster, self.senlin.profile(), 8)
        for action in ended:
            self.assert_done(action)
            self.assertEqual(1, action['data']['creation']['count'])
        planned = [action['data']['creation']['regions'] for action in ended]
        self.assertCountEqual([{ONE: 1}] * 3 + [{TWO: 1}] * 5, planned)
        self.assert_servers(cluster, **{ONE: 3, TWO: 5})

    def test_s4_the_region_of_the_profile_takes_precedence(self):
        profile = self.senlin.profile(
            flavor='small', networks=[], context={'region_name': THREE}
        )
        cluster = self.spread((ONE,), (TWO, 100, 1), profile=profile)
        action, _ = self.senlin.start_node(cluster, profile)
        data = self.senlin.wait(action)['data']
        self.assertNotIn('creation', data)
        self.assert_servers(cluster, **{THREE: 1})
        # A scaling is planned, whatever the profile says.
        data = self.act(cluster, 'scale_out', count=3)
        self.assertEqual({ONE: 2, TWO: 1}, data['creation']['regions'])
        self.assert_servers(cluster, **{ONE: 2, TWO: 1, THREE: 1})


class Recovering(base.TestCase):
    def test_missing_nodes_are_placed_and_the_others_mended(self):
        # A deletion that keeps the desired capacity leaves a gap.
        cluster = self.cluster(
            self.deletion_policy(reduce_desired_capacity=False),
            self.region_policy((TWO,), (THREE,)),
        )
        self.act(cluster, 'scale_out', count=2)
        (gone,) = self.ids(cluster, TWO)
        self.assert_done(self.senlin.delete(f'/nodes/{gone}'))
        self.cloud.keystone_regions = {ONE}
        self.cloud.regions[THREE].servers.clear()
        self.act(cluster, 'check')
        action = self.senlin.act(cluster, 'recover', check_capacity=True)
        self.assert_failed(NO_REGION, action)
        self.assertIs(True, action['inputs']['check_capacity'])
        self.assert_nodes(cluster, **{THREE: 1})
        self.assert_servers(cluster, **{THREE: 1})
        self.cloud.keystone_regions = {ONE, TWO, THREE}
        data = self.act(cluster, 'recover', check_capacity=True)
        self.assertEqual(
            [{'region_name': TWO}], data['placement']['placements']
        )
        # A recovery that lacks no node plans nothing.
        data = self.act(cluster, 'recover', check_capacity=True)
        self.assertNotIn('placement', data)
        self.assert_servers(cluster, **{TWO: 1, THREE: 1})


class Shrinking(base.TestCase):
    def test_s1_note_the_deletion_policy_of_senlin_follows_the_plan(self):
        in_tree = self.senlin.policy(
            'senlin.policy.deletion', {'criteria': 'OLDEST_FIRST'}
        )
        cluster = self.cluster(in_tree, self.region_policy((ONE, 1), (TWO, 2)))
        self.act(cluster, 'scale_out', count=6)
        plan = {ONE: 1, TWO: 2}
        oldest = self.oldest(cluster, **plan)
        data = self.act(cluster, 'scale_in', count=3)
        self.assertEqual('OK', data['status'])
        self.assertEqual(3, data['deletion']['count'])
        self.assertEqual(plan, data['deletion']['regions'])
        self.assertEqual(oldest, data['deletion']['candidates'])
        self.assert_servers(cluster, **plan)


class Needing(base.TestCase):
    def test_new_nodes_need_more_than_nodes_that_leave(self):
        profile = self.senlin.profile(
            flavor='small', image='cirros', networks=[]
        )
        cluster = self.spread((ONE,), (TWO,), profile=profile)
        self.cloud.regions[ONE].catalog.discard('image')
        with self.assertLogs('senlin_plugins', 'WARNING') as warned:
            data = self.act(cluster, 'scale_out', count=2)
        self.assertIn('offers no image', str(warned.output))
        self.assertEqual({TWO: 2}, data['creation']['regions'])
        # The catalog is not asked if the option is off.
        self.set_option('check_catalog', False)
        self.act(cluster, 'scale_out', count=2)
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})
        self.set_option('check_catalog', True)
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['deletion']['regions'])

    def test_an_id_needs_its_region(self):
        snapshot = VOLUME | {'source_type': 'snapshot'}
        properties = {
            'flavor': 'small',
            'networks': [],
            'block_device_mapping_v2': [snapshot],
        }
        with self.assertRaisesRegex(
            engine.ApiError, 'exists in one region only: .*region_name'
        ):
            self.senlin.profile(**properties)
        profile = self.senlin.profile(
            context={'region_name': TWO}, **properties
        )
        cluster = self.spread((ONE,), (TWO, 100, 2), profile=profile)
        data = self.act(cluster, 'scale_out', count=2)
        self.assertEqual({TWO: 2}, data['creation']['regions'])
        action = self.senlin.act(cluster, 'scale_out')
        self.assert_failed(NO_PLAN, action)


class Refusing(base.TestCase):
    def test_a_profile_that_creates_all_nodes_in_one_region_is_refused(self):
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=1)
        policy = self.region_policy((ONE,))
        reason = "of type 'os.nova.server-1.0' creates all nodes in one region"
        self.assert_not_attached(reason, cluster, policy)

    def test_a_cluster_whose_nodes_have_no_region_is_refused(self):
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=1)
        policy = self.region_policy((TWO,))
        self.set_option('default_region_name', '', None)
        self.assert_not_attached('has no region', cluster, policy)

    def test_a_second_policy_of_a_kind_is_refused(self):
        spec = {'regions': [{'name': TWO}]}
        for first, second in (
            (
                self.senlin.policy('senlin.policy.region_placement', spec),
                self.region_policy((TWO,)),
            ),
            (self.deletion_policy('1.0'), self.deletion_policy('1.1')),
        ):
            cluster = self.cluster(first)
            self.assert_not_attached('detach it first', cluster, second)


class Bindings(base.TestCase):
    def test_a_policy_that_is_attached_again_counts_what_came_meanwhile(self):
        # Made before there was a policy.
        cluster = self.cluster(size=1)
        regions = self.region_policy((ONE, 100, 2), (TWO,))
        self.attach(cluster, regions)
        self.act(cluster, 'scale_out', count=4)
        self.assert_servers(cluster, **{ONE: 2, TWO: 3})
        self.act(cluster, 'policy_detach', policy_id=regions)
        # Nodes stay where they are, without the policy as well.
        node = self.ids(cluster, TWO)[0]
        self.act_node(node, 'recover', operation='RECREATE')
        self.act(cluster, 'scale_out')
        self.assert_servers(cluster, **{ONE: 3, TWO: 3})
        self.attach(cluster, regions)
        data = self.act(cluster, 'scale_in', count=2)
        self.assertEqual({ONE: 1, TWO: 1}, data['deletion']['regions'])
