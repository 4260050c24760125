# SPDX-License-Identifier: Apache-2.0

"""A region fails: nodes move, and nothing is lost or left over."""

import concurrent.futures
import signal
import time
from collections.abc import Callable

from tests.cloud import (
    base,
    command_base,
    mariadb,
    processes,
    senlin_base,
)
from tests.functional.client import base as client_base

ONE, TWO = base.ONE, base.TWO
API = f'{TWO}.nova-api'
KEY = 'region_placement'


class TestFailover(command_base.PlanTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(base.start, API)

    def spread(self, count: int, **properties: object) -> str:
        """Make a cluster of as many nodes under version 1.1; return its id."""
        policy = self.make(
            'policy',
            senlin_base.FAILOVER,
            regions=[{'name': ONE}, {'name': TWO}],
            **properties,
        )
        cluster = self.make_cluster(self.make_profile(), policy)
        self.do(cluster, 'scale_out', count=count)
        return cluster

    def known(self, cluster: str) -> dict:
        """Return what Senlin knows of the regions, after another look."""
        self.senlin.wait(self.senlin.act(f'/clusters/{cluster}', 'check'))
        self.wait_for(self.check_unlocked)
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        return shown['data'].get(KEY, {})

    def go_out(self, cluster: str) -> None:
        """Stop Nova's API in RegionTwo, and wait until Senlin knows."""
        processes.kill(API)
        # Silence must last.
        self.wait_for(
            lambda: self.assertEqual(
                'out', self.known(cluster)['states'][TWO]['state']
            )
        )

    def recovered(self, cluster: str, **wanted: int) -> None:
        """Clear up, and check that there is nothing but the nodes."""
        base.start(API)
        self.wait_for(lambda: self.assertEqual({}, self.known(cluster)))
        self.assert_spread(cluster, **wanted)

    def rebalance(
        self,
        cluster: str,
        meanwhile: Callable[[], object] = lambda: None,
        *options: str,
    ) -> tuple[client_base.Result, int]:
        """Rebalance a cluster by the command.

        :param cluster: its id.
        :param meanwhile: called again and again.
        :param options: further options of the command.
        :returns: what the command has left behind, and the fewest nodes that
            were ACTIVE meanwhile.
        """
        counts = []
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(
                self.openstack_process,
                *('cluster', 'region', 'rebalance', '--yes'),
                *('--max-surge', '2', cluster, *options),
                **self.login,
            )
            while not running.done():
                counts += mariadb.query(
                    'senlin',
                    'SELECT COUNT(*) FROM node'
                    " WHERE status = 'ACTIVE' AND cluster_id = %s",
                    cluster,
                )
                meanwhile()
                time.sleep(0.2)
        return running.result(), min(counts)[0]

    def owner(self, action: str) -> str:
        """Return the engine that carries out an action."""
        ((engine,),) = mariadb.query(
            'senlin',
            'SELECT host FROM service JOIN action'
            ' ON action.owner = service.id WHERE action.id = %s',
            action,
        )
        return engine

    def test_nodes_move_and_what_they_leave_is_cleared_up(self):
        cluster = self.spread(8)
        self.assert_spread(cluster, RegionOne=4, RegionTwo=4)
        self.go_out(cluster)
        action = self.do(cluster, 'recover', check=True)
        self.assertEqual([ONE] * 4, list(action['data']['moves'].values()))
        self.do(cluster, 'scale_out', count=2)
        self.assertEqual(10, len(self.servers_of(cluster, ONE)))
        self.assertEqual(4, len(self.known(cluster)['servers']))
        self.recovered(cluster, RegionOne=10)
        result, fewest = self.rebalance(cluster)
        self.assertEqual(0, result.status, result.error)
        self.assertEqual(10, fewest)
        self.assert_spread(cluster, RegionOne=5, RegionTwo=5)
        self.assertEqual({}, self.known(cluster))

    def test_engine_is_killed_in_the_middle_of_a_recovery(self):
        cluster = self.spread(4)
        self.go_out(cluster)
        conductor = f'{ONE}.nova-conductor'
        self.addCleanup(processes.send, signal.SIGCONT, conductor)
        # There is no end without it.
        processes.send(signal.SIGSTOP, conductor)
        action = self.senlin.act(f'/clusters/{cluster}', 'recover', check=True)
        self.wait_for(
            lambda: self.assertEqual(4, len(self.servers_of(cluster, ONE)))
        )
        engine = self.owner(action)
        self.addCleanup(base.start, engine)
        processes.kill(engine)
        processes.send(signal.SIGCONT, conductor)
        base.start(engine)
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.wait_for(self.check_unlocked)
        self.do(cluster, 'recover', check=True)
        self.wait_for(self.check_unlocked)
        self.recovered(cluster, RegionOne=4)

    def test_engine_is_killed_in_the_middle_of_a_rebalance(self):
        cluster = self.spread(4)
        self.go_out(cluster)
        self.do(cluster, 'recover', check=True)
        self.recovered(cluster, RegionOne=4)
        killed = []

        def kill() -> None:
            """Kill the engine that scales the cluster out."""
            running = mariadb.query(
                'senlin',
                "SELECT id FROM action WHERE action = 'CLUSTER_SCALE_OUT'"
                " AND status = 'WAITING' AND target = %s",
                cluster,
            )
            if running and not killed:
                killed.append(self.owner(running[0][0]))
                self.addCleanup(base.start, *killed)
                processes.kill(*killed)
                base.start(*killed)

        result, _ = self.rebalance(cluster, kill)
        self.assertEqual(1, len(killed))
        self.assertIn('the command again with --size 4.', result.error)
        self.wait_for(self.check_unlocked)
        self.do(cluster, 'recover', check=True)
        result, _ = self.rebalance(cluster, lambda: None, '--size', '4')
        self.assertEqual(0, result.status, result.error)
        self.assert_spread(cluster, RegionOne=2, RegionTwo=2)

    def test_full_region_gets_what_it_holds(self):
        project = self.user[TWO].current_project_id
        admin = self.admin[TWO]
        before = admin.get_compute_quotas(project).instances
        self.addCleanup(admin.set_compute_quotas, project, instances=before)
        admin.set_compute_quotas(project, instances=2)
        cluster = self.spread(2)
        action = self.senlin.act(f'/clusters/{cluster}', 'scale_out', count=4)
        self.assertEqual('FAILED', self.senlin.wait(action)['status'])
        self.wait_for(self.check_unlocked)
        self.do(cluster, 'recover')
        self.assert_spread(cluster, RegionOne=4, RegionTwo=2)

    def test_even_waits(self):
        cluster = self.spread(2, strategy='even')
        self.go_out(cluster)
        action = self.senlin.wait(
            self.senlin.act(f'/clusters/{cluster}', 'scale_out')
        )
        self.assertRegex(
            action['status_reason'],
            f"Region '{TWO}' is out since .* .compute does not answer.. The "
            "strategy 'even' adds no nodes meanwhile.",
        )
        self.recovered(cluster, RegionOne=1, RegionTwo=1)

    def held(self, cluster: str) -> dict[str, str]:
        """Return the server of each node."""
        nodes = self.senlin.nodes(cluster)
        return {node['id']: node['physical_id'] for node in nodes}

    def test_blip_moves_nothing_and_replaces_nothing(self):
        cluster = self.spread(4)
        before = self.held(cluster)
        self.addCleanup(processes.send, signal.SIGCONT, API)
        processes.send(signal.SIGSTOP, API)
        action = self.senlin.act(f'/clusters/{cluster}', 'recover', check=True)
        time.sleep(5)
        processes.send(signal.SIGCONT, API)
        self.senlin.wait(action)
        self.wait_for(self.check_unlocked)
        self.do(cluster, 'recover')
        self.assertEqual(before, self.held(cluster))
        self.assert_spread(cluster, RegionOne=2, RegionTwo=2)

    def test_nodes_leave_a_dead_region_without_any_command(self):
        # Before the cluster, so that it is deleted after the cluster.
        policy = self.make(
            'policy',
            'senlin.policy.health-1.1',
            detection={
                'interval': 5,
                'node_update_timeout': 5,
                'detection_modes': [{'type': 'NODE_STATUS_POLLING'}],
            },
            recovery={'actions': [{'name': 'RECREATE'}]},
        )
        cluster = self.spread(4)
        self.attach(cluster, policy)
        processes.kill(API)

        def check_moved() -> None:
            """Raise unless all nodes are in RegionOne, and well."""
            self.senlin.wake()
            for node in self.senlin.nodes(cluster):
                placement = node['data']['placement']
                self.assertEqual(ONE, placement['region_name'])
                self.assertEqual('ACTIVE', node['status'])

        self.wait_for(check_moved)

        after = self.held(cluster)
        base.start(API)
        self.wait_for(lambda: self.assertEqual([], self.left(cluster)))
        self.assertEqual(after, self.held(cluster))
        self.assert_spread(cluster, RegionOne=4)

    def left(self, cluster: str) -> list[dict]:
        """Return what the nodes have left behind; nobody looks for it."""
        shown = self.senlin.get(f'/clusters/{cluster}')['cluster']
        return shown['data'].get(KEY, {}).get('servers', [])
