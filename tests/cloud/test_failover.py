# SPDX-License-Identifier: Apache-2.0

"""A region fails: nodes move, and nothing is lost or left over."""

import signal

from tests.cloud import (
    base,
    mariadb,
    processes,
    senlin_base,
)

ONE, TWO = base.ONE, base.TWO
API = f'{TWO}.nova-api'
KEY = 'region_placement'


class TestFailover(senlin_base.ClusterTest):
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
        # An engine remembers for a while that it has answered.
        self.wait_for(
            lambda: self.assertEqual(
                'out', self.known(cluster)['regions'][TWO]['state']
            )
        )

    def recovered(self, cluster: str, **wanted: int) -> None:
        """Clear up, and check that there is nothing but the nodes."""
        base.start(API)
        self.wait_for(lambda: self.assertEqual({}, self.known(cluster)))
        self.assert_spread(cluster, **wanted)

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
        self.assertIn(
            f"Region '{TWO}' is out: compute does not answer, and the "
            "strategy 'even' adds no nodes meanwhile.",
            action['status_reason'],
        )
        self.recovered(cluster, RegionOne=1, RegionTwo=1)
