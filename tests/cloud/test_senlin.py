# SPDX-License-Identifier: Apache-2.0

"""Clusters of real servers over two regions, and two engines."""

import collections
import concurrent.futures

from tests.cloud import base, senlin_base

ONE, TWO = base.ONE, base.TWO


class TestRegions(senlin_base.ClusterTest):
    def test_nodes_come_stay_and_leave_in_their_regions(self):
        cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(
                RegionOne={'weight': 100}, RegionTwo={'weight': 200, 'cap': 4}
            ),
            self.make('policy', senlin_base.DELETION, criteria='OLDEST_FIRST'),
        )
        self.do(cluster, 'scale_out', count=7)
        before = self.assert_spread(cluster, RegionOne=3, RegionTwo=4)

        node, server = next(iter(before[TWO].items()))
        self.admin[TWO].compute.delete_server(server)
        self.wait_for(lambda: self.assertNotIn(server, self.servers(TWO)))
        self.do(cluster, 'recover', check=True)
        after = self.assert_spread(cluster, RegionOne=3, RegionTwo=4)
        self.assertEqual(before[ONE], after[ONE])
        self.assertNotEqual(server, after[TWO].pop(node))
        self.assertEqual(before[TWO], {node: server, **after[TWO]})

        self.do(cluster, 'scale_in', count=4)
        self.assert_spread(cluster, RegionOne=1, RegionTwo=2)


class TestManyRequests(senlin_base.ClusterTest):
    def test_six_requests_at_once(self):
        cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(RegionOne={}, RegionTwo={}),
        )
        path = f'/clusters/{cluster}/actions'
        wish = {'scale_out': {'count': 1}}
        api = self.user[ONE].clustering
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers = list(
                pool.map(
                    lambda _: api.post(path, json=wish).status_code, range(6)
                )
            )
        # Senlin refuses a request that meets another one.
        counted = collections.Counter(answers)
        self.assertLessEqual(set(counted), {202, 409}, counted)
        actions = self.senlin.get(
            f'/actions?target={cluster}&action=CLUSTER_SCALE_OUT'
        )['actions']
        self.assertEqual(counted[202], len(actions))
        for action in actions:
            self.assert_succeeds(action['id'])
        self.wait_until_idle()
        half = counted[202] // 2
        self.assert_spread(
            cluster, RegionOne=counted[202] - half, RegionTwo=half
        )
