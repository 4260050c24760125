# SPDX-License-Identifier: Apache-2.0

"""A cluster of real servers over two regions, from its birth to its end."""

import signal
import subprocess

from tests.cloud import (
    base,
    heat_base,
    layout,
    mariadb,
    processes,
    senlin_base,
    services,
)

ONE, TWO = base.ONE, base.TWO


class TestRegions(senlin_base.ClusterTest):
    def make_limited(self) -> str:
        """Make a policy: two of three in RegionTwo, but at most four."""
        return self.make_region_policy(
            RegionOne={'weight': 100}, RegionTwo={'weight': 200, 'cap': 4}
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
        cluster = self.make_cluster(profile, self.make_limited())

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
        cluster = self.make_cluster(self.make_profile(), self.make_limited())
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


class TestWaitingNode(senlin_base.ClusterTest):
    def test_node_that_lost_the_lock_comes_where_the_policy_says(self):
        profile = self.make_profile()
        # Not the default region.
        cluster = self.make_cluster(
            profile, self.make_region_policy(RegionTwo={'cap': 3})
        )
        conductor = f'{TWO}.nova-conductor'
        self.addCleanup(processes.send, signal.SIGCONT, conductor)
        # The scale-out holds the lock until this one goes on.
        processes.send(signal.SIGSTOP, conductor)
        scaling = self.senlin.act(f'/clusters/{cluster}', 'scale_out', count=2)
        self.wait_for(
            lambda: self.assertEqual(2, len(self.senlin.nodes(cluster)))
        )
        made = self.senlin.create(
            'node', name='late', cluster_id=cluster, profile_id=profile
        )

        def give_up() -> None:
            """Let it have tried for long already."""
            with mariadb.login('senlin') as cursor:
                cursor.execute(
                    'UPDATE action SET data = %s WHERE id = %s',
                    ('{"retries": 99}', made['action']),
                )
            query = 'SELECT status FROM action WHERE id = %s'
            ((status,),) = mariadb.query('senlin', query, made['action'])
            self.assertEqual('FAILED', status)

        self.wait_for(give_up)
        late = self.senlin.wait(made['action'])
        self.assertIn('Failed in locking cluster', late['status_reason'])
        processes.send(signal.SIGCONT, conductor)
        self.assert_succeeds(scaling)
        node = self.senlin.get(f'/nodes/{made["id"]}')['node']
        self.assertEqual(('INIT', {}), (node['status'], node['data']))
        self.do(cluster, 'recover')
        self.assert_spread(cluster, RegionTwo=3)


class TestConversion(senlin_base.ClusterTest):
    """The way into the package, out, and in again."""

    def convert(self, profile: str, *options: str) -> str:
        """Convert a profile by the command; return what it says."""
        command = services.program('senlin-plugins-convert', 'senlin.conf')
        return subprocess.run(
            (*command, 'profile', profile, *options),
            env=processes.environment(),
            capture_output=True,
            text=True,
        ).stdout

    def held(self, cluster: str) -> set[str]:
        """Return the servers of the nodes; each is there, and unchanged."""
        nodes = self.senlin.nodes(cluster)
        held = {node['physical_id'] for node in nodes}
        there = {*self.servers(ONE), *self.servers(TWO)}
        self.assertEqual(set(), held - there)
        return held

    def test_servers_stay_up(self):
        profile = self.make(
            'profile',
            'os.nova.server-1.0',
            flavor=layout.FLAVOR,
            image=layout.IMAGE,
            networks=[],
        )
        policy = self.make_region_policy(RegionOne={}, RegionTwo={})
        # The first servers stay.
        deletion = self.make(
            'policy', 'senlin.policy.deletion-1.1', criteria='YOUNGEST_FIRST'
        )
        cluster = self.make_cluster(profile, deletion)
        self.do(cluster, 'scale_out', count=2)
        before = self.held(cluster)
        self.assertIn('Nothing has changed', self.convert(profile))
        self.assertIn('Done.', self.convert(profile, '--yes'))
        self.do(cluster, 'check')
        self.attach(cluster, policy)
        self.do(cluster, 'scale_out', count=4)
        self.do(cluster, 'scale_in', count=2)
        spread = self.assert_spread(cluster, RegionOne=2, RegionTwo=2)
        self.assertEqual(before, set(spread[ONE].values()))
        # Out.
        self.assertEqual('', self.convert(profile, '--back', '--yes'))
        for node in spread[TWO]:
            self.assert_succeeds(self.senlin.delete(f'/nodes/{node}'))
        self.detach(cluster, policy)
        self.assertIn('Done.', self.convert(profile, '--back', '--yes'))
        self.do(cluster, 'check')
        self.do(cluster, 'recover')
        self.assertEqual(before, self.held(cluster))
        # And in again.
        self.assertIn('Done.', self.convert(profile, '--yes'))
        self.attach(cluster, policy)
        self.do(cluster, 'check')
        self.do(cluster, 'scale_out', count=2)
        spread = self.assert_spread(cluster, RegionOne=2, RegionTwo=2)
        self.assertEqual(before, set(spread[ONE].values()))


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
                            {'name': ONE, 'weight': 100},
                            {'name': TWO, 'weight': 300},
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
