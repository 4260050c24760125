# SPDX-License-Identifier: Apache-2.0

"""What the tests with clusters share."""

import collections

from tests.cloud import base, layout, senlin_client

SERVER = 'senlin_plugins.nova.server-1.0'
REGIONS = 'senlin_plugins.policy.region_placement-1.0'
DELETION = 'senlin_plugins.policy.deletion-1.1'


class ClusterTest(base.CloudTest):
    """A test with clusters, which are deleted behind it."""

    def setUp(self) -> None:
        super().setUp()
        self.senlin = senlin_client.Senlin(self.user[base.ONE])

    def make(self, kind: str, type_name: str, **properties: object) -> str:
        """Make a profile or a policy from a spec.

        :param kind: which of the two.
        :param type_name: its type and version.
        :param properties: the properties of the spec.
        :returns: its id.
        """
        name, _, version = type_name.rpartition('-')
        spec = {'type': name, 'version': version, 'properties': properties}
        made = self.senlin.create(kind, name=base.unique(kind), spec=spec)
        path = f'/{senlin_client.plural(kind)}/{made["id"]}'
        self.addCleanup(self.senlin.delete, path)
        return made['id']

    def make_profile(self, type_name: str = SERVER) -> str:
        """Make a profile of servers without a network.

        :param type_name: the type and version.
        :returns: its id.
        """
        return self.make(
            'profile',
            type_name,
            flavor=layout.FLAVOR,
            image=layout.IMAGE,
            networks=[],
        )

    def make_cluster(self, profile: str, *policies: str) -> str:
        """Make an empty cluster.

        :param profile: its profile's id.
        :param policies: the ids of the policies that are attached to it.
        :returns: its id.
        """
        made = self.senlin.create(
            'cluster',
            name=base.unique('cluster'),
            profile_id=profile,
            desired_capacity=0,
        )
        self.addCleanup(self.remove_cluster, made['id'])
        self.assert_succeeds(made['action'])
        for policy in policies:
            self.attach(made['id'], policy)
        return made['id']

    def attach(self, cluster: str, policy: str) -> None:
        """Attach a policy to a cluster."""
        self.do(cluster, 'policy_attach', policy_id=policy, enabled=True)

    def detach(self, cluster: str, policy: str) -> None:
        """Detach a policy from a cluster."""
        self.do(cluster, 'policy_detach', policy_id=policy)

    def do(self, cluster: str, name: str, **values: object) -> dict:
        """Carry out an action on a cluster, which must succeed.

        :param cluster: its id.
        :param name: the action.
        :param values: what it needs.
        :returns: the action.
        """
        action = self.senlin.act(f'/clusters/{cluster}', name, **values)
        return self.assert_succeeds(action)

    def assert_succeeds(self, action: str) -> dict:
        """Wait for an action; fail if it does.

        :param action: its id.
        :returns: the action.
        """
        found = self.senlin.wait(action)
        self.assertEqual('SUCCEEDED', found['status'], found['status_reason'])
        return found

    def remove_cluster(self, cluster: str) -> None:
        """Delete a cluster that a test may have deleted already."""
        listed = self.senlin.get('/clusters')['clusters']
        if any(one['id'] == cluster for one in listed):
            for binding in self.senlin.get(f'/clusters/{cluster}/policies')[
                'cluster_policies'
            ]:
                self.detach(cluster, binding['policy_id'])
            self.assert_succeeds(self.senlin.delete(f'/clusters/{cluster}'))

    def assert_spread(
        self, cluster: str, **wanted: int
    ) -> dict[str, dict[str, str]]:
        """Assert where the servers of a cluster are, by three sources.

        Nova's list in each region, the data of Senlin's nodes, and what the
        scheduler of each region was asked for must say the same.

        :param cluster: its id.
        :param wanted: the number of servers by region.
        :returns: the servers' ids by the nodes' ids, by region.
        """
        by_node = collections.defaultdict(dict)
        for node in self.senlin.nodes(cluster):
            self.assertEqual('ACTIVE', node['status'], node['status_reason'])
            region = node['data']['placement']['region_name']
            by_node[region][node['id']] = node['physical_id']
        self.assertEqual(
            {name: number for name, number in wanted.items() if number},
            {region: len(found) for region, found in by_node.items()},
            "by the data of Senlin's nodes",
        )
        for region in (base.ONE, base.TWO):
            self.assertEqual(
                set(by_node[region].values()),
                self.servers_of(cluster, region),
                f"by Nova's list in {region}",
            )
            other = base.TWO if region == base.ONE else base.ONE
            for server in by_node[region].values():
                spec = self.request_spec(region, server)
                self.assertEqual(server, spec['instance_uuid'])
                self.assertIsNone(self.request_spec(other, server))
        return by_node

    def servers_of(self, cluster: str, region: str) -> set[str]:
        """Return the ids of a cluster's servers as Nova lists them."""
        return {
            server.id
            for server in self.servers(region).values()
            if server.metadata.get('cluster_id') == cluster
        }
