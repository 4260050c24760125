# SPDX-License-Identifier: Apache-2.0

"""A cluster of real servers over two regions, from its birth to its end."""

from tests.cloud import base, senlin_base

ONE, TWO = base.ONE, base.TWO


class TestRegions(senlin_base.ClusterTest):
    def make_region_policy(self) -> str:
        # Two of three in RegionTwo, but never more than four.
        return self.make(
            'policy',
            senlin_base.REGIONS,
            regions=[
                {'name': ONE, 'weight': 100},
                {'name': TWO, 'weight': 200, 'cap': 4},
            ],
        )

    def age(self, node: str) -> tuple[str, int]:
        """Return what OLDEST_FIRST sorts a node by."""
        found = self.senlin.get(f'/nodes/{node}')['node']
        return found['created_at'], found['index']

    def test_cluster_lives_in_both_regions(self):
        deletion = self.make(
            'policy', senlin_base.DELETION, criteria='OLDEST_FIRST'
        )
        profile = self.make_profile()
        cluster = self.make_cluster(profile, self.make_region_policy())

        action = self.do(cluster, 'scale_out', count=6)
        self.assertEqual(
            {'count': 6, 'regions': {ONE: 2, TWO: 4}},
            action['data']['creation'],
        )
        self.assert_spread(cluster, RegionOne=2, RegionTwo=4)

        # The cap of RegionTwo leaves it none of three.
        self.do(
            cluster, 'resize', adjustment_type='CHANGE_IN_CAPACITY', number=3
        )
        self.assert_spread(cluster, RegionOne=5, RegionTwo=4)

        node = self.senlin.create(
            'node',
            name='one-more',
            cluster_id=cluster,
            profile_id=profile,
        )
        self.assert_succeeds(node['action'])
        self.assert_spread(cluster, RegionOne=6, RegionTwo=4)

        # Without a deletion policy the region policy names who goes.
        action = self.do(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 3}, action['data']['deletion']['regions'])
        before = self.assert_spread(cluster, RegionOne=3, RegionTwo=4)

        # With it, the oldest of each region go.
        by_age = {
            region: sorted(found, key=self.age)
            for region, found in before.items()
        }
        self.attach(cluster, deletion)
        self.do(cluster, 'scale_in', count=3)
        after = self.assert_spread(cluster, RegionOne=1, RegionTwo=3)
        self.assertEqual(set(by_age[ONE][2:]), set(after[ONE]))
        self.assertEqual(set(by_age[TWO][1:]), set(after[TWO]))

    def test_recovered_node_stays_in_its_region(self):
        cluster = self.make_cluster(
            self.make_profile(), self.make_region_policy()
        )
        self.do(cluster, 'scale_out', count=4)
        before = self.assert_spread(cluster, RegionOne=1, RegionTwo=3)

        lost = {}
        for region in (ONE, TWO):
            node, server = next(iter(before[region].items()))
            lost[region] = (node, server)
            self.admin[region].compute.delete_server(server)
            self.wait_for(
                lambda region=region, server=server: self.assertNotIn(
                    server, self.servers(region)
                )
            )
        self.do(cluster, 'check')
        self.do(cluster, 'recover', operation='RECREATE')

        after = self.assert_spread(cluster, RegionOne=1, RegionTwo=3)
        for region, (node, server) in lost.items():
            self.assertIn(node, after[region])
            self.assertNotEqual(server, after[region][node])

    def test_nothing_is_left_of_a_deleted_cluster(self):
        policy = self.make_region_policy()
        cluster = self.make_cluster(self.make_profile(), policy)
        self.do(cluster, 'scale_out', count=3)
        self.assert_spread(cluster, RegionOne=1, RegionTwo=2)
        self.detach(cluster, policy)
        self.assert_succeeds(self.senlin.delete(f'/clusters/{cluster}'))
        self.wait_for(self.check_nothing_left)


class TestInTree(senlin_base.ClusterTest):
    """What Senlin makes of the same wishes by itself."""

    def test_all_servers_are_in_the_default_region(self):
        policy = self.make(
            'policy',
            'senlin.policy.region_placement-1.0',
            regions=[{'name': ONE}, {'name': TWO}],
        )
        profile = self.make(
            'profile',
            'os.nova.server-1.0',
            flavor='small',
            image='tiny',
            networks=[],
        )
        cluster = self.make_cluster(profile, policy)
        self.do(cluster, 'scale_out', count=4)
        self.assertEqual(4, len(self.servers_of(cluster, ONE)))
        self.assertEqual(set(), self.servers_of(cluster, TWO))
        for node in self.senlin.nodes(cluster):
            self.assertNotIn('region_name', node['data']['placement'])
            self.assertIsNotNone(self.request_spec(ONE, node['physical_id']))
