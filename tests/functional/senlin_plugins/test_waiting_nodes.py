# SPDX-License-Identifier: Apache-2.0

"""Nodes whose NODE_CREATE has never got the lock of their cluster.

Such a node is a member of the cluster, in INIT, without a region and without
a server. Senlin creates it when it is recovered.
"""

from unittest import mock

from senlin.engine import senlin_lock
from senlin.objects import cluster_lock

from senlin_plugins.region_policy import NOT_WAITING
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import (
    NO_PLAN,
    ONE,
    THREE,
    TWO,
    UNEXPECTED,
)


class Waiting(base.TestCase):
    def setUp(self):
        super().setUp()
        self.profile = self.senlin.profile()

    def lose(self, cluster):
        """Create a node while something holds the cluster; return its id."""
        self.set_option('lock_retry_times', 0, None)
        cluster_lock.ClusterLock.acquire(cluster, 'something', -1)
        with mock.patch.object(senlin_lock, 'eventlet'):
            action, node = self.senlin.start_node(cluster, self.profile)
            action = self.senlin.wait(action)
        cluster_lock.ClusterLock.release(cluster, 'something', -1)
        self.assertIn('Failed in locking cluster', action['status_reason'])
        self.assertEqual('INIT', self.shown(node)['status'])
        return node

    def test_it_is_planned_like_a_new_node(self):
        # The policy does not name the default region.
        cluster = self.spread((THREE, 100, 1), (TWO, 1), count=1)
        node = self.lose(cluster)
        self.cloud.keystone_failure = 'Keystone is down'
        self.assert_failed(UNEXPECTED, self.senlin.act(cluster, 'recover'))
        action = self.senlin.act_node(node, 'recover')
        self.assert_failed(UNEXPECTED, action)
        self.assertEqual('INIT', self.shown(node)['status'])
        self.cloud.keystone_failure = ''
        self.act(cluster, 'recover')
        self.assert_nodes(cluster, **{THREE: 1, TWO: 1})
        before = self.shown(node)
        self.assertEqual(TWO, base.region_of(before))
        # As if its NODE_CREATE had waited for the lock all the time.
        action = self.senlin.run(node, 'NODE_CREATE')
        self.assert_failed(NOT_WAITING, action)
        self.assertEqual(before, self.shown(node))
        self.assert_servers(cluster, **{THREE: 1, TWO: 1})

    def test_it_leaves_before_any_node_with_a_server(self):
        cluster = self.spread((TWO,), (ONE,), count=2)
        self.attach(cluster, self.senlin.policy('senlin.policy.deletion', {}))
        self.lose(cluster)
        data = self.act(cluster, 'scale_in')
        self.assertEqual({'(none)': 1}, data['deletion']['regions'])
        self.assert_nodes(cluster, **{ONE: 1, TWO: 1})
        self.assert_servers(cluster, **{ONE: 1, TWO: 1})

    def test_the_desired_capacity_does_not_count_a_refused_node(self):
        cluster = self.spread((TWO, 100, 2))
        ended = self.create_nodes(cluster, self.profile, 3)
        (refused,) = (a for a in ended if a['status'] == 'FAILED')
        self.assert_failed(NO_PLAN, refused)
        self.wait_until_free(cluster)
        self.assert_nodes(cluster, **{TWO: 2})
        self.assert_capacity(cluster, 2)
        shown = self.senlin.call('GET', f'/clusters/{cluster}')['cluster']
        self.assertEqual('ACTIVE', shown['status'], shown['status_reason'])
