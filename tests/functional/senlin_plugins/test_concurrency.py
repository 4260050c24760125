# SPDX-License-Identifier: Apache-2.0

"""Many requests at once: each counts once, and the plan is still the best."""

import collections

import eventlet

from senlin_plugins.planning import apportionment
from senlin_plugins.planning.spec import Region
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

REGIONS = ((ONE, 100), (TWO, 200, 5), (THREE, 150))


class Concurrency(base.TestCase):
    def send(self, cluster, name, count):
        """Scale, and return by how many nodes; 0 after a refusal."""
        try:
            action = self.senlin.act(cluster, name, count=count)
        except engine.ApiError as ex:
            # Senlin's own protection of a cluster that is being scaled.
            self.assertEqual(409, ex.code, ex)
            return 0
        if action['status'] == 'SUCCEEDED':
            return count if name == 'scale_out' else -count
        self.assertIn('locking cluster', action['status_reason'])
        return 0

    def test_sixteen_requests_for_three_clusters(self):
        policy = self.region_policy(*REGIONS)
        busy, *idle = (self.cluster(policy) for _ in range(3))
        # As many as may leave, even if none comes.
        self.act(busy, 'scale_out', count=6)
        requests = [(busy, 'scale_out', 1 + n % 3) for n in range(6)]
        requests += [(busy, 'scale_in', 1)] * 6
        for count in (2, 3):
            requests += [(cluster, 'scale_out', count) for cluster in idle]
        threads = [
            (request[0], eventlet.spawn(self.send, *request))
            for request in requests
        ]
        sizes = collections.Counter({busy: 6})
        for cluster, thread in threads:
            sizes[cluster] += thread.wait()
        for cluster in idle:
            self.assertIn(sizes[cluster], (2, 3, 5))
        regions = [Region(*region) for region in REGIONS]
        for cluster, size in sizes.items():
            self.wait_until_free(cluster)
            best = apportionment.grow(regions, {}, size)
            self.assert_nodes(cluster, **best.plan)
            self.assert_servers(cluster, **best.plan)
            self.assert_capacity(cluster, size)
