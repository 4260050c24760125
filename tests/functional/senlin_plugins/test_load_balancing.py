# SPDX-License-Identifier: Apache-2.0

"""A cluster behind a load balancer: its servers are the members of the pool.

Senlin's engine checks the size of a cluster only after it has called the
policies. The load-balancing policy then has taken the server out of its pool.
"""

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

LOAD_BALANCER = {
    'pool': {'subnet': 'private', 'protocol_port': 80},
    'vip': {'subnet': 'public', 'protocol_port': 80},
}
TOO_FEW = "The target capacity ({}) is less than the cluster's min_size (2)."


class LoadBalancing(base.TestCase):
    def build(self, *policies):
        """Return a cluster of three nodes behind a load balancer."""
        balancer = self.senlin.policy(
            'senlin.policy.loadbalance', LOAD_BALANCER, '1.3'
        )
        cluster = self.cluster(balancer, *policies)
        self.act(cluster, 'scale_out', count=3)
        self.act(cluster, 'resize', min_size=2)
        return cluster

    def assert_members(self, cluster, count):
        """Check that each server of the cluster is a member once."""
        nodes = self.senlin.nodes(cluster)
        self.assertEqual(count, len(nodes))
        (pool,) = self.cloud.pools.values()
        members = {n['data']['lb_member']: n['physical_id'] for n in nodes}
        self.assertEqual(members, pool)
        self.assert_capacity(cluster, count)

    def assert_refused(self, cluster, action, size):
        """Check that an action fails, and leaves the pool as it was."""
        self.wait_until_free(cluster)
        self.assert_failed(TOO_FEW.format(size), action)
        self.assert_members(cluster, 3)

    def test_the_region_policy_refuses_too_small_a_cluster(self):
        cluster = self.build(self.region_policy((ONE,), (TWO,)))
        for count, size in ((2, 1), (9, 0)):
            action = self.senlin.act(cluster, 'scale_in', count=count)
            self.assert_refused(cluster, action, size)
        self.act(cluster, 'scale_in')
        self.assert_members(cluster, 2)

    def test_the_deletion_policy_refuses_too_small_a_cluster(self):
        cluster = self.build(self.deletion_policy())
        first, second, third = self.ids(cluster)
        # As a webhook does it: the API would refuse it.
        for name, data, inputs in (
            ('CLUSTER_SCALE_IN', {}, {'count': 2}),
            ('CLUSTER_SCALE_IN', {'deletion': {'regions': {ONE: 2}}}, {}),
            ('CLUSTER_DEL_NODES', {}, {'candidates': [first, second]}),
        ):
            action = self.senlin.run(cluster, name, data, **inputs)
            self.assert_refused(cluster, action, 1)
        self.act(cluster, 'del_nodes', nodes=[first])
        self.assert_members(cluster, 2)
        action = self.senlin.delete(f'/nodes/{third}')
        self.assert_failed(TOO_FEW.format(1), action)
        self.assert_members(cluster, 2)
