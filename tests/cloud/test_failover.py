# SPDX-License-Identifier: Apache-2.0

"""A region fails: nodes move, and nothing is lost or left over."""

import concurrent.futures
import time

from tests.cloud import (
    base,
    layout,
    mariadb,
    processes,
    readiness,
    senlin_base,
)

ONE, TWO = base.ONE, base.TWO
API = f'{TWO}.nova-api'
KEY = 'region_placement'


class TestFailover(base.CommandTest, senlin_base.ClusterTest):
    who = layout.USER

    def spread(self, count: int) -> str:
        """Make a cluster of as many nodes under version 1.1; return its id."""
        policy = self.make(
            'policy',
            senlin_base.FAILOVER,
            regions=[{'name': ONE}, {'name': TWO}],
        )
        cluster = self.make_cluster(self.make_profile(), policy)
        # The cluster can only be deleted where its region answers.
        self.addCleanup(base.start, API)
        self.do(cluster, 'scale_out', count=count)
        return cluster

    def notes(self, cluster: str) -> dict:
        """Return what Senlin notes of the regions, after another look."""
        self.senlin.wait(self.senlin.act(f'/clusters/{cluster}', 'check'))
        self.wait_until_idle()
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        return shown['data'].get(KEY, {})

    def go_out(self, cluster: str) -> None:
        """Stop Nova's API in RegionTwo, and wait until Senlin knows."""
        processes.kill(API)
        # Silence must last.
        self.wait_for(
            lambda: self.assertEqual(
                'out', state_of(self.notes(cluster), TWO), TWO
            )
        )

    def check_silent(self, cluster: str) -> None:
        """Raise unless Senlin has noticed that RegionTwo is silent."""
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        notes = shown['data'].get(KEY, {})
        self.assertEqual('silent', state_of(notes, TWO), TWO)

    def check_moved(self, cluster: str) -> None:
        """Raise unless all nodes of a cluster are in RegionOne, and well."""
        for node in self.senlin.nodes(cluster):
            placement = node['data']['placement']
            self.assertEqual(ONE, placement['region_name'], node['name'])
            self.assertEqual('ACTIVE', node['status'], node['name'])

    def recovered(self, cluster: str, **counts: int) -> None:
        """Clear up, and check that there is nothing but the nodes.

        :param counts: the number of nodes by region.
        """
        base.start(API)
        self.wait_for(lambda: self.assertEqual({}, self.notes(cluster)))
        self.assert_spread(cluster, **counts)

    def rebalance(self, cluster: str) -> int:
        """Rebalance by the command; return the fewest nodes meanwhile."""
        counts = []
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(
                self.openstack_process,
                'cluster',
                'region',
                'rebalance',
                '--yes',
                '--max-surge',
                '2',
                cluster,
                **self.login,
            )
            while not running.done():
                counts += mariadb.query(
                    'senlin',
                    'SELECT COUNT(*) FROM node'
                    " WHERE status = 'ACTIVE' AND cluster_id = %s",
                    cluster,
                )
                time.sleep(0.2)
        result = running.result()
        self.assertEqual(0, result.status, result.error)
        return min(counts)[0]

    def held(self, cluster: str) -> dict[str, str]:
        """Return the server of each node."""
        nodes = self.senlin.nodes(cluster)
        return {node['id']: node['physical_id'] for node in nodes}

    def check_held(self, cluster: str, region: str, count: int) -> None:
        """Raise unless the cluster has as many servers in a region."""
        self.assertEqual(count, len(self.servers_of(cluster, region)))

    def test_blip_moves_nothing_and_silence_moves_all(self):
        cluster = self.spread(4)
        before = self.held(cluster)
        self.pause(API)
        action = self.senlin.act(f'/clusters/{cluster}', 'recover', check=True)
        self.wait_for(lambda: self.check_silent(cluster))
        self.go_on(API)
        self.wait_for(lambda: readiness.answers(layout.port(f'{TWO}.nova')))
        self.senlin.wait(action)
        self.wait_until_idle()
        self.do(cluster, 'recover')
        self.assertEqual(before, self.held(cluster))
        self.assert_spread(cluster, RegionOne=2, RegionTwo=2)

        self.go_out(cluster)
        action = self.do(cluster, 'recover', check=True)
        self.assertEqual([ONE] * 2, list(action['data']['moves'].values()))
        self.do(cluster, 'scale_out', count=2)
        self.check_held(cluster, ONE, 6)
        self.assertEqual(2, len(self.notes(cluster)['servers']))
        self.recovered(cluster, RegionOne=6)
        self.assertEqual(6, self.rebalance(cluster))
        self.assert_spread(cluster, RegionOne=3, RegionTwo=3)
        self.assertEqual({}, self.notes(cluster))

    def test_engine_is_killed_in_the_middle_of_a_recovery(self):
        cluster = self.spread(2)
        self.go_out(cluster)
        conductor = f'{ONE}.nova-conductor'
        # There is no end of the recovery without it.
        self.pause(conductor)
        action = self.senlin.act(f'/clusters/{cluster}', 'recover', check=True)
        self.wait_for(lambda: self.check_held(cluster, ONE, 2))
        engine = self.kill_owner(action)
        self.go_on(conductor)
        base.start(engine)
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.recover_until(cluster, lambda: self.check_moved(cluster))
        self.recovered(cluster, RegionOne=2)

    def test_nodes_leave_a_dead_region_without_any_command(self):
        # Before the cluster, so that it is deleted after the cluster.
        policy = self.make_health_policy(interval=5, node_update_timeout=5)
        cluster = self.spread(2)
        self.do(cluster, 'policy_attach', policy_id=policy, enabled=True)
        processes.kill(API)
        self.senlin.wait_until(lambda: self.check_moved(cluster))
        self.wait_until_idle()
        after = self.held(cluster)
        base.start(API)
        self.wait_for(lambda: self.assertEqual([], self.left(cluster)))
        self.assertEqual(after, self.held(cluster))
        self.assert_spread(cluster, RegionOne=2)

    def test_a_region_is_declared_out_for_a_cluster_in_error(self):
        cluster = self.spread(4)
        self.do(cluster, 'resize', min_size=4)
        processes.kill(API)
        self.senlin.wait(self.senlin.act(f'/clusters/{cluster}', 'check'))
        self.wait_until_idle()
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        self.assertEqual('ERROR', shown['status'])
        refused = self.run_region_command('drain', cluster, TWO)
        self.assertIn('Run, in this order', refused.error)
        listed = self.run_region_command('list', cluster)
        text = ' '.join(listed.output.split())
        commands = text.partition(f'If {TWO} is out, run: ')[2]
        first, declare, last = commands.split('; ')
        # The command of python-senlinclient, which is not in this cloud.
        resize = f'openstack cluster resize {cluster} --min-size'
        self.assertEqual([f'{resize} 0', f'{resize} 4'], [first, last])
        self.do(cluster, 'resize', min_size=0)
        result = self.openstack_process(
            *declare.removeprefix('openstack ').split(), **self.login
        )
        self.assertEqual(0, result.status, result.error)
        self.do(cluster, 'resize', min_size=4)
        self.do(cluster, 'recover')
        self.check_moved(cluster)
        self.run_region_command('set', cluster, TWO, '--no-out')
        self.recovered(cluster, RegionOne=4)

    def run_region_command(self, *words: str):
        """Run ``openstack cluster region``; return what it left behind."""
        return self.openstack_process(
            'cluster', 'region', *words, **self.login
        )

    def left(self, cluster: str) -> list[dict]:
        """Return what the nodes have left behind; nobody looks for it."""
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        return shown['data'].get(KEY, {}).get('servers', [])


def state_of(notes: dict, region: str) -> str:
    """Return the state of a region; empty if it works.

    :param notes: what Senlin notes of the regions.
    """
    return notes.get('states', {}).get(region, {}).get('state', '')
