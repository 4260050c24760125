# SPDX-License-Identifier: Apache-2.0

"""A cluster at its smallest size: what is refused changes nothing.

Senlin's engine checks the size only after it has called the policies. The
load-balancing policy then has taken the server out of its pool.
"""

import ddt

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

LOAD_BALANCER = {
    'pool': {'subnet': 'private', 'protocol_port': 80},
    'vip': {'subnet': 'public', 'protocol_port': 80},
}
TOO_FEW = "The target capacity ({}) is less than the cluster's min_size (2)."


@ddt.ddt
class LowerBound(base.TestCase):
    def build(self, *policies):
        """Return a cluster of three nodes behind a load balancer."""
        balancer = self.senlin.policy(
            'senlin.policy.loadbalance', LOAD_BALANCER, '1.3'
        )
        cluster = self.cluster(balancer, *policies, min_size=2, size=2)
        self.act(cluster, 'scale_out')
        # The first two came before the load balancer.
        for node in self.ids(cluster):
            self.act_node(node, 'recover', operation='REBOOT')
        return cluster

    def assert_refused(self, cluster, action, size):
        """Check that an action fails, and leaves the pool as it was."""
        self.wait_until_free(cluster)
        self.assert_members(cluster)
        self.assertEqual('FAILED', action['status'])
        self.assertIn(TOO_FEW.format(size), action['status_reason'])
        self.assertEqual('ERROR', action['data']['status'])
        self.assertEqual(TOO_FEW.format(size), action['data']['reason'])

    def assert_members(self, cluster):
        """Check that the servers of the cluster are the pool's members."""
        (pool,) = self.cloud.pools.values()
        servers = self.held(cluster).values()
        self.assertEqual({*servers}, {*pool.values()})
        self.assert_capacity(cluster, len(servers))

    @ddt.data(True, False)
    def test_a_refused_scale_in_leaves_the_pool(self, deletion):
        policy = self.region_policy((ONE,), (TWO,))
        if deletion:
            policy = self.deletion_policy()
        cluster = self.build(policy)
        for count, size in ((2, 1), (9, 0)):
            action = self.senlin.act(cluster, 'scale_in', count=count)
            self.assert_refused(cluster, action, size)
        self.act(cluster, 'scale_in')
        self.assert_members(cluster)

    def test_a_refused_deletion_of_nodes_leaves_the_pool(self):
        cluster = self.build(self.deletion_policy())
        first, second, third = self.ids(cluster)
        # As a webhook does it: the API would refuse it.
        refused = self.senlin.run(
            cluster, 'CLUSTER_DEL_NODES', candidates=[first, second]
        )
        self.assert_refused(cluster, refused, 1)
        self.act(cluster, 'del_nodes', nodes=[first])
        self.assert_members(cluster)
        refused = self.senlin.delete(f'/nodes/{third}')
        self.assert_refused(cluster, refused, 1)

    def test_a_node_that_is_gone_stops_no_other(self):
        cluster = self.build(self.deletion_policy())
        gone = '00000000-0000-0000-0000-000000000000'
        node = self.ids(cluster)[0]
        action = self.senlin.run(
            cluster, 'CLUSTER_DEL_NODES', candidates=[gone, node]
        )
        self.assert_done(action)
        self.assertNotIn(node, self.ids(cluster))
        self.assert_members(cluster)

    def test_more_nodes_than_another_policy_counted(self):
        cluster = self.build(self.deletion_policy())
        decided = {'deletion': {'count': 1, 'regions': {ONE: 2}}}
        action = self.senlin.run(cluster, 'CLUSTER_SCALE_IN', decided)
        self.assert_refused(cluster, action, 1)

    def test_a_hook_removes_down_to_the_smallest_size(self):
        hook = {'type': 'zaqar', 'params': {'queue': 'q'}, 'timeout': 1}
        cluster = self.build(self.deletion_policy('1.1', hooks=hook))
        self.act(cluster, 'scale_in')
        self.assert_members(cluster)
