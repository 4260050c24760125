# SPDX-License-Identifier: Apache-2.0

"""``openstack cluster region plan`` on a running Senlin."""

from tests.functional.senlin_plugins import gateway
from tests.functional.senlin_plugins.base import ONE, THREE, TWO


class LivePlanTest(gateway.ShellTestCase):
    def run_plan(self, *arguments):
        return self.shell('cluster', 'region', 'plan', *arguments)

    def plan(self, *arguments):
        """Return what changes in each region, and what is said of it."""
        result = self.run_plan(*arguments, '-f', 'json')
        self.assertEqual(0, result.status, result.error)
        # The shell may say before that it could not load another plug-in.
        _, _, text = result.error.partition(' nodes are ')
        _, *remarks, reach = text.splitlines()
        self.assertIn('counts as within reach', reach)
        return self.changes(result), '\n'.join(remarks)

    def test_the_plan_is_what_the_policy_then_does(self):
        cluster = self.spread((ONE, 300), (TWO, 100, 1), (THREE,))
        planned, _ = self.plan('--cluster', cluster, '--scale-out', '7')
        data = self.act(cluster, 'scale_out', count=7)
        self.assertEqual(data['creation']['regions'], planned)
        planned, remarks = self.plan('--cluster', cluster, '--scale-in', '4')
        self.assertEqual('', remarks)
        data = self.act(cluster, 'scale_in', count=4)
        self.assertEqual(
            data['deletion']['regions'],
            {region: -n for region, n in planned.items()},
        )

    def test_a_plan_without_effect_is_told(self):
        in_tree = self.senlin.policy(
            'senlin.policy.region_placement', {'regions': [{'name': TWO}]}
        )
        cluster = self.cluster(
            in_tree, profile=self.senlin.profile('os.nova.server')
        )
        planned, remarks = self.plan('--cluster', cluster, '--scale-out', '2')
        self.assertEqual({TWO: 2}, planned)
        self.assertIn("The policy is Senlin's own", remarks)
        self.assertIn("type 'os.nova.server' are not from this", remarks)
        # With both policies attached the effective one counts.
        cluster = self.spread((ONE,))
        self.attach(cluster, in_tree)
        planned, remarks = self.plan('--cluster', cluster, '--scale-out', '2')
        self.assertEqual(({ONE: 2}, ''), (planned, remarks))

    def test_a_region_out_of_reach_is_left_alone(self):
        cluster = self.spread((ONE,), (TWO,))
        planned, _ = self.plan(
            *('--cluster', cluster, '--scale-out', '2', '--without', TWO)
        )
        self.assertEqual({ONE: 2}, planned)

    def test_nodes_without_a_region_need_the_default_region(self):
        # Created by the in-tree profile, before there was a policy.
        profile = self.senlin.profile('os.nova.server')
        cluster = self.cluster(profile=profile, size=2)
        policy = self.region_policy((ONE,), (TWO,))
        arguments = ('--cluster', cluster, '--policy', policy)
        arguments += ('--scale-out', '2')
        refused = self.run_plan(*arguments)
        self.assertEqual(1, refused.status)
        self.assertIn('2 node(s)', refused.error)
        planned, _ = self.plan(*arguments, '--default-region', ONE)
        self.assertEqual({TWO: 2}, planned)
