# SPDX-License-Identifier: Apache-2.0

"""A region dies, and answers again later."""

from tests.cloud import base, processes, senlin_base

ONE, TWO = base.ONE, base.TWO
API = f'{TWO}.nova-api'


class TestDeadRegion(senlin_base.ClusterTest):
    def test_growth_avoids_it_and_no_node_leaves_there(self):
        cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(RegionOne={}, RegionTwo={}),
        )
        # The cluster can only be deleted where its region answers.
        self.addCleanup(base.start, API)
        self.do(cluster, 'scale_out', count=4)
        processes.kill(API)
        action = self.do(cluster, 'scale_out', count=2)
        self.assertEqual({ONE: 2}, action['data']['creation']['regions'])
        action = self.do(cluster, 'scale_in', count=3)
        self.assertEqual({ONE: 3}, action['data']['deletion']['regions'])
        action = self.senlin.act(cluster, 'scale_in', count=2)
        self.assertEqual('FAILED', action['status'])
        self.assertIn(
            'There is no feasible plan to handle all nodes.',
            action['status_reason'],
        )
        nodes = [
            node['id']
            for node in self.senlin.nodes(cluster)
            if node['data']['placement']['region_name'] == TWO
        ]
        for node in nodes:
            action = self.senlin.wait(self.senlin.delete(f'/nodes/{node}'))
            self.assertEqual('FAILED', action['status'])

        base.start(API)
        for node in nodes:
            self.assert_succeeds(self.senlin.delete(f'/nodes/{node}'))
        self.assert_spread(cluster, RegionOne=1)
