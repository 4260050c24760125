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
    def send(self, cluster, name, **arguments):
        """Scale, and return by how many nodes; an API's refusal is none."""
        try:
            action = self.senlin.act(cluster, name, **arguments)
        except engine.ApiError as ex:
            # Senlin's own protection of a cluster that is being scaled.
            self.assertEqual(409, ex.code, ex)
            return 0
        if action['status'] == 'SUCCEEDED':
            count = arguments['count']
            return count if name == 'scale_out' else -count
        self.assertIn('locking cluster', action['status_reason'])
        return 0

    def assert_best(self, cluster, size):
        """Check that a cluster has a size and the best distribution."""
        best = apportionment.grow(
            [Region(*region) for region in REGIONS], {}, size
        )
        self.wait_until_free(cluster)
        self.assertEqual(size, len(self.senlin.nodes(cluster)))
        self.assert_nodes(cluster, **best.plan)
        self.assert_servers(cluster, **best.plan)
        self.assert_capacity(cluster, size)

    def test_thirty_requests_for_six_clusters(self):
        policy = self.region_policy(*REGIONS)
        busy, *idle = (self.cluster(policy) for _ in range(6))
        # As many as may go, even if nothing comes.
        self.act(busy, 'scale_out', count=10)
        requests = [(busy, 'scale_out', 1 + n % 3) for n in range(10)]
        requests += [(busy, 'scale_in', 1)] * 10
        for count in (2, 3):
            requests += [(cluster, 'scale_out', count) for cluster in idle]
        threads = [
            (cluster, eventlet.spawn(self.send, cluster, name, count=count))
            for cluster, name, count in requests
        ]
        sizes = collections.Counter({busy: 10})
        for cluster, thread in threads:
            sizes[cluster] += thread.wait()
        for cluster, size in sizes.items():
            if cluster != busy:
                self.assertIn(size, (2, 3, 5))
            self.assert_best(cluster, size)

    def test_ten_resizes_that_are_queued_on_one_cluster(self):
        # The API looks before it queues; two conductors may look at once.
        # Then the engine has them wait for each other, and gives some up.
        self.set_option('lock_retry_interval', 1, None)
        cluster = self.spread(*REGIONS)
        # As many as may go, even if nothing comes.
        self.act(cluster, 'scale_out', count=6)
        change = {'adjustment_type': 'CHANGE_IN_CAPACITY'}
        threads = [
            eventlet.spawn(
                self.senlin.run,
                cluster,
                'CLUSTER_RESIZE',
                **(change | {'number': number}),
            )
            for number in (1, 2, -1, 3, -2) * 2
        ]
        answers = [thread.wait() for thread in threads]
        done = [a for a in answers if a['status'] == 'SUCCEEDED']
        self.assertTrue(done)
        for given_up in (a for a in answers if a not in done):
            self.assertIn('locking cluster', given_up['status_reason'])
        self.assert_best(cluster, 6 + sum(a['inputs']['number'] for a in done))
