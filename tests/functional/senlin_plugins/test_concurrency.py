# SPDX-License-Identifier: Apache-2.0

"""Many requests at once: each counts once, and the plan is still the best."""

import eventlet

from senlin_plugins.planning import apportionment
from testing.senlin import engine
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

REGIONS = ((ONE, 100), (TWO, 200, 5), (THREE, 150))


class Concurrency(base.TestCase):
    def at_once(self, *requests):
        """Send scaling requests at once and wait for what was accepted.

        :param requests: (cluster, action, arguments) tuples.
        :returns: beside each request the finished action, or the API's
            refusal.
        """
        answers = [
            eventlet.spawn(self.send, cluster, name, arguments)
            for cluster, name, arguments in requests
        ]
        return [
            answer
            if isinstance(answer, engine.ApiError)
            else self.senlin.wait(answer)
            for answer in [thread.wait() for thread in answers]
        ]

    def send(self, cluster, name, arguments):
        """Send a request and return the action's id or the refusal."""
        try:
            return self.senlin.start(cluster, name, **arguments)
        except engine.ApiError as ex:
            return ex

    def changes(self, requests, answers):
        """Add up what succeeded: cluster -> number of nodes."""
        totals = {cluster: 0 for cluster, _, _ in requests}
        for (cluster, name, arguments), answer in zip(
            requests, answers, strict=True
        ):
            if isinstance(answer, engine.ApiError):
                # Senlin's own protection of a cluster that is being scaled.
                self.assertEqual(409, answer.code, answer)
            elif answer['status'] == 'SUCCEEDED':
                sign = 1 if name == 'scale_out' else -1
                totals[cluster] += sign * arguments['count']
            else:
                self.assertIn('locking cluster', answer['status_reason'])
        return totals

    def assert_best(self, cluster, size):
        """Check that a cluster has a size and the best distribution."""
        best = apportionment.grow(
            [apportionment.Region(*region) for region in REGIONS], {}, size
        )
        self.wait_until_free(cluster)
        nodes = self.senlin.nodes(cluster)
        self.assertEqual(size, len(nodes))
        self.assertEqual({'ACTIVE'}, {node['status'] for node in nodes})
        self.assert_servers(cluster, **best.plan)
        self.assert_capacity(cluster, size)

    def test_twenty_requests_for_one_cluster(self):
        cluster = self.spread(*REGIONS)
        # As many as may go, even if nothing comes.
        self.act(cluster, 'scale_out', count=10)
        requests = [
            (cluster, 'scale_out', {'count': 1 + n % 3})
            if n % 2
            else (cluster, 'scale_in', {'count': 1})
            for n in range(20)
        ]
        answers = self.at_once(*requests)
        changed = self.changes(requests, answers)[cluster]
        self.assert_best(cluster, 10 + changed)

    def test_twenty_requests_for_ten_clusters(self):
        policy = self.region_policy(*REGIONS)
        clusters = [self.cluster(policy) for _ in range(10)]
        requests = [
            (cluster, 'scale_out', {'count': count})
            for count in (2, 3)
            for cluster in clusters
        ]
        answers = self.at_once(*requests)
        for cluster, size in self.changes(requests, answers).items():
            self.assertIn(size, (2, 3, 5))
            self.assert_best(cluster, size)

    def test_twenty_resizes_that_are_queued_on_one_cluster(self):
        # The API looks before it queues; two conductors may look at once.
        # Then the engine has them wait for each other, and gives some up.
        self.set_option('lock_retry_interval', 1, None)
        cluster = self.spread(*REGIONS)
        resizes = [
            {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 1 + n % 3}
            for n in range(20)
        ]
        threads = [
            eventlet.spawn(
                self.senlin.run, cluster, 'CLUSTER_RESIZE', **resize
            )
            for resize in resizes
        ]
        answers = [thread.wait() for thread in threads]
        done = [a for a in answers if a['status'] == 'SUCCEEDED']
        self.assertTrue(done)
        for given_up in (a for a in answers if a not in done):
            self.assertIn('locking cluster', given_up['status_reason'])
        self.assert_best(cluster, sum(a['inputs']['number'] for a in done))
