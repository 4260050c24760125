# SPDX-License-Identifier: Apache-2.0

"""What is left when Keystone is away.

The cluster ends as any other: it heals, scales, and goes without a trace.
"""

from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO


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
