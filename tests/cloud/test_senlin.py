# SPDX-License-Identifier: Apache-2.0

"""Clusters of real servers over two regions, and two engines."""

import collections
import concurrent.futures

from tests.cloud import base, layout

ONE, TWO = base.ONE, base.TWO


def spec(name: str, version: str = '1.0', **properties: object) -> dict:
    """Return the specification of a profile or a policy."""
    type_name = f'senlin_plugins.{name}'
    return {'type': type_name, 'version': version, 'properties': properties}


SERVER = spec(
    'nova.server', flavor=layout.FLAVOR, image=layout.IMAGE, networks=[]
)


class TestRegions(base.CloudTest):
    def setUp(self) -> None:
        super().setUp()
        self.senlin = self.user[ONE].clustering

    def make_cluster(self, *policies: dict) -> str:
        """Make an empty cluster with policies attached; return its id."""
        profile = self.senlin.create_profile(
            name=base.unique('profile'), spec=SERVER
        ).id
        self.addCleanup(self.senlin.delete_profile, profile)
        cluster = self.senlin.create_cluster(
            name=base.unique('cluster'), profile_id=profile, desired_capacity=0
        )
        self.addCleanup(self.senlin.wait_for_delete, cluster, wait=300)
        self.addCleanup(self.senlin.delete_cluster, cluster, force_delete=True)
        self.senlin.wait_for_status(cluster, 'ACTIVE', wait=300)
        for policy in policies:
            made = self.senlin.create_policy(
                name=base.unique('policy'), spec=policy
            ).id
            self.addCleanup(self.senlin.delete_policy, made)
            self.do(self.senlin.attach_policy_to_cluster, cluster.id, made)
            self.addCleanup(
                *(self.do, self.senlin.detach_policy_from_cluster),
                *(cluster.id, made),
            )
        return cluster.id

    def do(self, ask, *words, **values) -> None:
        """Ask for an action, which must succeed."""
        # Senlin refuses the request while another action is in the way.
        self.wait_for(self.wait_until(lambda: ask(*words, **values)['action']))

    def wait_for(self, action: str) -> None:
        """Wait for an action, which must succeed."""
        self.senlin.wait_for_status(
            self.senlin.get_action(action),
            'SUCCEEDED',
            failures=['FAILED', 'CANCELLED'],
            interval=1,
            wait=300,
        )

    def assert_spread(
        self, cluster: str, **counts: int
    ) -> dict[str, dict[str, str]]:
        """Assert where the servers of a cluster are.

        Nova's list in each region and the data of Senlin's nodes must say the
        same.

        :param counts: the number of servers by region.
        :returns: the servers' ids by the nodes' ids, by region.
        """
        by_node = collections.defaultdict(dict)
        for listed in self.senlin.nodes(cluster_id=cluster):
            node = self.senlin.get_node(listed.id)
            self.assertEqual('ACTIVE', node.status, node.status_reason)
            region = node.data['placement']['region_name']
            by_node[region][node.id] = node.physical_id
        for region, count in counts.items():
            servers = {
                server.id
                for server in self.servers(region).values()
                if server.metadata.get('cluster_id') == cluster
            }
            self.assertEqual(count, len(servers), region)
            self.assertEqual(set(by_node[region].values()), servers, region)
        return by_node

    def test_nodes_come_stay_and_leave_in_their_regions(self):
        regions = [
            {'name': ONE, 'weight': 100},
            {'name': TWO, 'weight': 200, 'cap': 4},
        ]
        cluster = self.make_cluster(
            spec('policy.region_placement', regions=regions),
            spec('policy.deletion', '1.1', criteria='OLDEST_FIRST'),
        )
        self.do(self.senlin.scale_out_cluster, cluster, 7)
        before = self.assert_spread(cluster, RegionOne=3, RegionTwo=4)

        node, server = next(iter(before[TWO].items()))
        self.admin[TWO].compute.delete_server(server)
        self.wait_until(lambda: self.assertNotIn(server, self.servers(TWO)))
        self.do(self.senlin.recover_cluster, cluster, check=True)
        after = self.assert_spread(cluster, RegionOne=3, RegionTwo=4)
        self.assertEqual(before[ONE], after[ONE])
        self.assertNotEqual(server, after[TWO].pop(node))
        self.assertEqual(before[TWO], {node: server, **after[TWO]})

        self.do(self.senlin.scale_in_cluster, cluster, 4)
        self.assert_spread(cluster, RegionOne=1, RegionTwo=2)

    def test_six_requests_at_once(self):
        regions = [{'name': ONE}, {'name': TWO}]
        cluster = self.make_cluster(
            spec('policy.region_placement', regions=regions)
        )
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            asked = [
                pool.submit(self.senlin.scale_out_cluster, cluster, 1)
                for _ in range(6)
            ]
        # Senlin refuses a request that meets another one.
        answers = [answer.result() for answer in asked]
        accepted = [answer for answer in answers if 'action' in answer]
        self.assertNotEqual([], accepted)
        for answer in accepted:
            self.wait_for(answer['action'])
        half = len(accepted) // 2
        self.assert_spread(
            cluster, RegionOne=len(accepted) - half, RegionTwo=half
        )
