# SPDX-License-Identifier: Apache-2.0

"""A cluster of real servers over two regions, from its birth to its end."""

from tests.cloud import base, heat_base, layout, mariadb, senlin_base

ONE, TWO = base.ONE, base.TWO
API = f'{TWO}.nova-api'


class TestFourPolicies(base.CommandTest, senlin_base.ClusterTest):
    who = layout.USER

    def plan(self, *arguments: str) -> list[dict]:
        """Return what ``cluster region plan`` says."""
        return self.live('cluster', 'region', 'plan', *arguments)

    def assert_agreed(
        self, cluster: str, **counts: int
    ) -> dict[str, dict[str, str]]:
        """Assert that Nova, Senlin and the plan know of the same servers.

        :param counts: the number of servers by region.
        :returns: as :meth:`assert_spread`.
        """
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        self.assertEqual('ACTIVE', shown['status'], shown['status_reason'])
        self.assertEqual(sum(counts.values()), shown['desired_capacity'])
        rows = self.plan('--cluster', cluster, '--count', '+1')
        self.assertEqual(
            counts, {row['Region']: row['Current'] for row in rows}
        )
        return self.assert_spread(cluster, **counts)

    def wait_until_agreed(
        self, cluster: str, **counts: int
    ) -> dict[str, dict[str, str]]:
        """Wait for what :meth:`assert_agreed` asserts, and return the same.

        The health policy may recover nodes meanwhile.
        """
        return self.recover_until(
            cluster, lambda: self.assert_agreed(cluster, **counts)
        )

    def recover_twice(self, cluster: str, node: str) -> None:
        """Recover a cluster, and one of its nodes at the same moment.

        The health policy asks to recover a node in the same way.
        """
        # Until it goes on, the recovery of the cluster looks at the nodes.
        self.pause(API)
        if self.is_accepted(f'/clusters/{cluster}', check=True):
            self.wait_for(lambda: self.check_locked(cluster))
            self.is_accepted(f'/nodes/{node}', operation='RECREATE')
        self.go_on(API)

    def is_accepted(self, path: str, **values: object) -> bool:
        """Ask for a recovery; return whether Senlin accepts it.

        Senlin refuses the recovery if the health policy was first.

        :param path: that of a cluster or a node.
        """
        answer = self.user[ONE].clustering.post(
            f'{path}/actions', json={'recover': values}
        )
        self.assertIn(answer.status_code, (202, 409), answer.text)
        return answer.status_code == 202

    def check_locked(self, cluster: str) -> None:
        """Raise unless an action has locked a cluster."""
        locks = mariadb.query(
            'senlin',
            'SELECT action_ids FROM cluster_lock WHERE cluster_id = %s',
            cluster,
        )
        self.assertNotEqual([], locks, f'no action has locked {cluster}')

    def scale(self, cluster: str, verb: str, count: int) -> None:
        """Scale a cluster; the policy must do what the command has said.

        :param verb: ``out`` or ``in``.
        """
        rows = self.plan('--cluster', cluster, f'--scale-{verb}', str(count))
        action = self.do(cluster, f'scale_{verb}', count=count)
        plan = 'creation' if verb == 'out' else 'deletion'
        self.assertEqual(
            {row['Region']: abs(row['Change']) for row in rows},
            action['data'][plan]['regions'],
        )

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
            self.make_health_policy(interval=1, node_update_timeout=10),
        )
        self.scale(cluster, 'out', 7)
        before = self.wait_until_agreed(cluster, RegionOne=3, RegionTwo=4)

        node, server = next(iter(before[TWO].items()))
        self.admin[TWO].compute.delete_server(server)
        self.wait_for(
            lambda: self.assertNotIn(server, self.servers(TWO)),
        )
        # The manager of the health policy can fall asleep for ever like other
        # services of Senlin, so the user does not wait for it.
        self.recover_twice(cluster, node)

        def check_healed() -> None:
            after = self.assert_agreed(cluster, RegionOne=3, RegionTwo=4)
            self.assertEqual(before[ONE], after[ONE])
            self.assertNotEqual(server, after[TWO].pop(node))
            self.assertEqual(before[TWO], {node: server, **after[TWO]})

        self.recover_until(cluster, check_healed)
        self.scale(cluster, 'in', 4)
        before = self.wait_until_agreed(cluster, RegionOne=1, RegionTwo=2)

        def check_updated() -> None:
            after = self.assert_agreed(cluster, RegionOne=1, RegionTwo=2)
            self.assertEqual(before, after)
            for region, by_node in before.items():
                servers = self.servers(region)
                for server in by_node.values():
                    self.assertEqual('2', servers[server].metadata['release'])

        self.ask_until(
            lambda: self.senlin.update(
                f'/clusters/{cluster}', profile_id=profiles[1]
            ),
            check_updated,
        )


class TestOneTemplate(senlin_base.ClusterTest, heat_base.StackTest):
    """One template: Heat makes a cluster, Senlin places it, Nova runs it."""

    def setUp(self) -> None:
        super().setUp()
        # When the stack is gone.
        self.addCleanup(self.remove_policies)

    def remove_policies(self) -> None:
        """Delete the policy, which Heat 22 leaves once it was detached."""
        for policy in self.senlin.get('/policies')['policies']:
            self.senlin.delete(f'/policies/{policy["id"]}')

    def template(self, capacity: int) -> str:
        """Return a template with a cluster over both regions."""
        weights = {ONE: 100, TWO: 300}
        return heat_base.template(
            profile=heat_base.resource(
                'OS::Senlin::Profile',
                type=senlin_base.SERVER,
                properties=senlin_base.SERVER_PROPERTIES,
            ),
            policy=heat_base.resource(
                'OS::Senlin::Policy',
                type=senlin_base.REGIONS,
                properties={
                    'regions': [
                        {'name': name, 'weight': weight}
                        for name, weight in weights.items()
                    ]
                },
            ),
            cluster=heat_base.resource(
                'OS::Senlin::Cluster',
                profile={'get_resource': 'profile'},
                desired_capacity=capacity,
                policies=[{'policy': {'get_resource': 'policy'}}],
            ),
        )

    def test_template_makes_a_cluster_in_two_regions(self):
        stack = self.make_stack(self.template(0))
        cluster, policy = (
            self.resources(stack, f'OS::Senlin::{kind}')[0]['server']
            for kind in ('Cluster', 'Policy')
        )
        self.update_stack(stack, self.template(4))
        self.assert_spread(cluster, RegionOne=1, RegionTwo=3)
        self.update_stack(stack, self.template(3))
        self.assert_spread(cluster, RegionOne=1, RegionTwo=2)
        # Senlin deletes no cluster that has policies, and Heat 22 cannot
        # detach one, neither as the policy nor as the cluster.
        self.do(cluster, 'policy_detach', policy_id=policy)
