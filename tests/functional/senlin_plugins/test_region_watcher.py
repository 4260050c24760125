# SPDX-License-Identifier: Apache-2.0

"""Which policy of a cluster is asked about the regions of its nodes."""

from unittest import mock

from senlin.common import context
from senlin.objects import node as node_objects

from senlin_plugins.cluster import region_watcher
from senlin_plugins.policies.deletion import DeletionPolicy
from senlin_plugins.policies.region_failover import RegionFailoverPolicy
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO


class RegionWatcherTest(base.TestCase):
    def setUp(self):
        super().setUp()
        # As a policy from elsewhere may have it.
        patch = mock.patch.object(
            DeletionPolicy, 'watch', 'another meaning', create=True
        )
        patch.start()
        self.addCleanup(patch.stop)

    def find_watcher(self, cluster_id):
        """Return what watches the only node of a cluster."""
        (node_id,) = self.ids(cluster_id)
        admin = context.get_admin_context()
        return region_watcher.find(node_objects.Node.get(admin, node_id))

    def test_a_policy_that_only_has_such_a_method_is_not_asked(self):
        cluster_id = self.cluster(self.deletion_policy())
        self.act(cluster_id, 'scale_out')
        self.assertIsNone(self.find_watcher(cluster_id))
        (node_id,) = self.ids(cluster_id)
        self.act_node(node_id, 'check')

    def test_the_policy_that_watches_regions_is_found_beside_it(self):
        cluster_id = self.cluster(
            self.deletion_policy(),
            self.region_policy((ONE,), (TWO,), version='1.1'),
        )
        self.act(cluster_id, 'scale_out')
        policy, cluster = self.find_watcher(cluster_id)
        self.assertIsInstance(policy, RegionFailoverPolicy)
        self.assertEqual(cluster_id, cluster.id)
