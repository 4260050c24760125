# SPDX-License-Identifier: Apache-2.0

"""One template: Heat makes the cluster, Senlin places it, Nova runs it."""

from tests.cloud import base, heat_base, senlin_base


class TestOneTemplate(senlin_base.ClusterTest, heat_base.StackTest):
    def setUp(self) -> None:
        super().setUp()
        # When the stack is gone.
        self.addCleanup(self.remove_policies)

    def remove_policies(self) -> None:
        """Delete the policy, which Heat 22 leaves once it was detached."""
        for policy in self.senlin.get('/policies')['policies']:
            self.senlin.delete(f'/policies/{policy["id"]}')

    def template(self, capacity: int) -> str:
        """Return a template with a cluster over both regions.

        :param capacity: how many nodes the cluster shall have.
        """
        return heat_base.template(
            profile={
                'type': 'OS::Senlin::Profile',
                'properties': {
                    'type': senlin_base.SERVER,
                    'properties': {
                        'flavor': 'small',
                        'image': 'tiny',
                        'networks': [],
                    },
                },
            },
            policy={
                'type': 'OS::Senlin::Policy',
                'properties': {
                    'type': senlin_base.REGIONS,
                    'properties': {
                        'regions': [
                            {'name': base.ONE, 'weight': 100},
                            {'name': base.TWO, 'weight': 300},
                        ]
                    },
                },
            },
            cluster={
                'type': 'OS::Senlin::Cluster',
                'properties': {
                    'profile': {'get_resource': 'profile'},
                    'desired_capacity': capacity,
                    'policies': [{'policy': {'get_resource': 'policy'}}],
                },
            },
        )

    def test_template_makes_a_cluster_in_two_regions(self):
        stack = self.make_stack(self.template(0))
        (cluster,) = (
            one['server']
            for one in self.resources(stack, 'OS::Senlin::Cluster')
        )
        self.update_stack(stack, self.template(4))
        self.assert_spread(cluster, RegionOne=1, RegionTwo=3)
        self.update_stack(stack, self.template(3))
        self.assert_spread(cluster, RegionOne=1, RegionTwo=2)
        # Senlin deletes no cluster that has policies, and Heat 22 cannot
        # detach one, neither as the policy nor as the cluster.
        (policy,) = (
            one['server']
            for one in self.resources(stack, 'OS::Senlin::Policy')
        )
        self.detach(cluster, policy)
