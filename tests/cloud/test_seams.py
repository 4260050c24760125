# SPDX-License-Identifier: Apache-2.0

"""A cluster with four policies, from its birth to its end."""

from tests.cloud import base, command_base, senlin_base

ONE, TWO = base.ONE, base.TWO


class TestFourPolicies(command_base.PlanTest):
    def make_health_policy(self) -> str:
        """Make a policy that recreates nodes; return its id."""
        return self.make(
            'policy',
            'senlin.policy.health-1.1',
            detection={
                'interval': 1,
                # A node may wait so long until somebody begins to create it.
                'node_update_timeout': 10,
                'detection_modes': [{'type': 'NODE_STATUS_POLLING'}],
            },
            recovery={'actions': [{'name': 'RECREATE'}]},
        )

    def assert_agreed(
        self, cluster: str, **wanted: int
    ) -> dict[str, dict[str, str]]:
        """Assert that Nova, Senlin and the plan know of the same servers.

        :param cluster: its id.
        :param wanted: the number of servers by region.
        :returns: the servers' ids by the nodes' ids, by region.
        """
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        self.assertEqual('ACTIVE', shown['status'], shown['status_reason'])
        self.assertEqual(sum(wanted.values()), shown['desired_capacity'])
        rows = self.plan('--cluster', cluster, '--count', '+1')
        self.assertEqual(
            wanted, {row['Region']: row['Current'] for row in rows}
        )
        return self.assert_spread(cluster, **wanted)

    def scale(self, cluster: str, option: str, count: int) -> None:
        """Scale a cluster as the plan says.

        :param cluster: its id.
        :param option: the option of the plan.
        :param count: how many nodes come or go.
        """
        rows = self.plan('--cluster', cluster, option, str(count))
        self.assert_foretold(cluster, rows)

    def test_life(self):
        profiles = [
            self.make_profile(metadata={'release': number})
            for number in ('1', '2')
        ]
        cluster = self.make_cluster(
            profiles[0],
            self.make(
                'policy',
                'senlin.policy.zone_placement-1.0',
                zones=[{'name': 'nova'}],
            ),
            self.make_region_policy(
                RegionOne={'weight': 100}, RegionTwo={'weight': 200, 'cap': 4}
            ),
            self.make('policy', senlin_base.DELETION, criteria='OLDEST_FIRST'),
            self.make_health_policy(),
        )
        self.scale(cluster, '--scale-out', 6)
        before = self.assert_agreed(cluster, RegionOne=2, RegionTwo=4)

        node, server = next(iter(before[TWO].items()))
        self.admin[TWO].compute.delete_server(server)
        self.wait_for(
            lambda: self.assertNotIn(server, self.servers(TWO)),
        )
        # The health policy may be first. Its manager can fall asleep for ever
        # like other services of Senlin, so the user does not wait for it.
        self.senlin.wait(
            self.senlin.act(f'/clusters/{cluster}', 'recover', check=True)
        )

        def check_healed() -> None:
            self.check_unlocked()
            after = self.assert_agreed(cluster, RegionOne=2, RegionTwo=4)
            self.assertEqual(before[ONE], after[ONE])
            self.assertNotEqual(server, after[TWO].pop(node))
            self.assertEqual(before[TWO], {node: server, **after[TWO]})

        self.wait_for(check_healed)
        self.scale(cluster, '--scale-in', 3)
        before = self.assert_agreed(cluster, RegionOne=1, RegionTwo=2)

        self.assert_succeeds(
            self.senlin.update(f'/clusters/{cluster}', profile_id=profiles[1])
        )
        self.assertEqual(
            before, self.assert_agreed(cluster, RegionOne=1, RegionTwo=2)
        )
        for region, by_node in before.items():
            servers = self.servers(region)
            for server in by_node.values():
                self.assertEqual('2', servers[server].metadata['release'])
