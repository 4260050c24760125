# SPDX-License-Identifier: Apache-2.0

"""A cluster of real servers over two regions, from its birth to its end."""

import collections
import concurrent.futures

from tests.cloud import base, heat_base, layout, senlin_base

ONE, TWO = base.ONE, base.TWO


class TestFourPolicies(base.CommandTest, senlin_base.ClusterTest):
    who = layout.USER

    def plan(self, *arguments: str) -> list[dict]:
        """Return what ``cluster region plan`` says of each region."""
        plan = self.live('cluster', 'region', 'plan', *arguments)
        return plan['regions']

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
            counts, {row['region']: row['current'] for row in rows}
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

    def scale(self, cluster: str, verb: str, count: int) -> None:
        """Scale a cluster; the policy must do what the command has said.

        :param verb: ``out`` or ``in``.
        """
        rows = self.plan('--cluster', cluster, f'--scale-{verb}', str(count))
        action = self.do(cluster, f'scale_{verb}', count=count)
        plan = 'creation' if verb == 'out' else 'deletion'
        self.assertEqual(
            {row['region']: abs(row['change']) for row in rows},
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


class TestManyRequests(senlin_base.ClusterTest):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(RegionOne={}, RegionTwo={}),
        )

    def test_six_requests_at_once(self):
        path = f'/clusters/{self.cluster}/actions'
        wish = {'scale_out': {'count': 1}}
        api = self.user[base.ONE].clustering
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
            f'/actions?target={self.cluster}&action=CLUSTER_SCALE_OUT'
        )['actions']
        self.assertEqual(counted[202], len(actions))
        for action in actions:
            self.assert_succeeds(action['id'])
        self.wait_until_idle()
        half = counted[202] // 2
        self.assert_spread(
            self.cluster, RegionOne=counted[202] - half, RegionTwo=half
        )
