# SPDX-License-Identifier: Apache-2.0

"""What is left when Nova answers late, or Keystone is away.

The cluster ends as any other: it heals, scales, and goes without a trace.
"""

from oslo_config import cfg
from senlin import objects
from senlin.common import context

from testing.senlin import driver
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO


class FailingRegion(base.TestCase):
    def setUp(self):
        super().setUp()
        self.cluster_id = self.spread((ONE,), (TWO,))
        self.failures = self.cloud.regions[TWO].failures

    def test_a_node_whose_region_is_gone_can_be_deleted(self):
        self.failures['server_create'] = 'Nova is on fire'
        self.senlin.act(self.cluster_id, 'scale_out', count=2)
        self.wait_until_free(self.cluster_id)
        # Not even a client can be had for it.
        region = self.cloud.regions.pop(TWO)
        self.addCleanup(self.cloud.regions.__setitem__, TWO, region)
        self.assert_gone(self.cluster_id)

    def time_out_while_creating(self):
        """Let a scale-out end before Nova answers for one of two nodes."""
        hangs = self.failures['server_create'] = driver.Fault(hangs=True)
        # For this action only: what follows may take as long as any does.
        self.set_timeout(1)
        action = self.senlin.act(self.cluster_id, 'scale_out', count=2)
        self.assertEqual('FAILED', action['status'])
        self.wait_until_free(self.cluster_id, running=1)
        self.set_timeout(cfg.CONF.default_action_timeout)
        # On a busy machine, the action may end before Nova is asked.
        self.wait_until(lambda: hangs.waiting == 1)
        return hangs

    def set_timeout(self, seconds):
        """Set for how long an action on the cluster may run."""
        objects.Cluster.update(
            context.get_admin_context(), self.cluster_id, {'timeout': seconds}
        )

    def test_an_answer_after_the_actions_end_is_not_lost(self):
        self.time_out_while_creating()
        self.failures.clear()
        self.wait_until_free(self.cluster_id)
        self.act(self.cluster_id, 'recover')
        self.act(self.cluster_id, 'scale_out', count=2)
        self.assert_nodes(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assert_servers(self.cluster_id, **{ONE: 2, TWO: 2})
        self.assert_gone(self.cluster_id)

    def test_an_answer_after_the_nodes_end_leaves_no_server(self):
        hangs = self.time_out_while_creating()
        self.assert_done(self.senlin.delete(f'/clusters/{self.cluster_id}'))
        self.failures.clear()
        # No other thread runs between the answer and the server.
        self.wait_until(
            lambda: (
                not hangs.waiting
                and not any(self.cloud.servers_of(self.cluster_id).values())
            )
        )


class KeystoneDown(base.TestCase):
    def test_nothing_changes_until_it_is_back(self):
        reason = 'The policy check failed: Keystone is down'
        profile = self.senlin.profile()
        cluster = self.cluster(
            self.region_policy((ONE,), (TWO,)), profile=profile
        )
        self.act(cluster, 'scale_out', count=2)
        nodes = self.senlin.nodes(cluster)
        self.cloud.keystone_failure = 'Keystone is down'
        create, created = self.senlin.start_node(cluster, profile)
        nothing = {'adjustment_type': 'EXACT_CAPACITY', 'number': 0}
        for action in (
            self.senlin.wait(create),
            self.senlin.act(cluster, 'scale_out'),
            self.senlin.act(cluster, 'resize', **nothing),
        ):
            self.assert_failed(reason, action)
        self.wait_until_free(cluster)
        self.assertEqual(nodes, self.senlin.nodes(cluster))
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})
        # In the cluster, a recovery would create it in some region.
        shown = self.shown(created)
        self.assertEqual(('', 'ERROR'), (shown['cluster_id'], shown['status']))
        self.assertIn(reason, shown['status_reason'])
        self.cloud.keystone_failure = ''
        self.assert_done(self.senlin.delete(f'/nodes/{created}'))
        self.act(cluster, 'scale_out', count=2)
        self.assert_servers(cluster, **{ONE: 2, TWO: 2})
