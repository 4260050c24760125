# SPDX-License-Identifier: Apache-2.0

"""Many requests at once: each counts once, and the plan is still the best."""

import eventlet

from senlin_plugins.planning import apportionment
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, THREE, TWO

REGIONS = ((ONE, 100), (TWO, 200, 5), (THREE, 150))


class Concurrency(base.TestCase):
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
                *(cluster, 'CLUSTER_RESIZE'),
                **(change | {'number': number}),
            )
            for number in (1, 2, -1, 3, -2) * 2
        ]
        answers = [thread.wait() for thread in threads]
        done = [a for a in answers if a['status'] == 'SUCCEEDED']
        self.assertTrue(done)
        for given_up in (a for a in answers if a not in done):
            self.assertIn('locking cluster', given_up['status_reason'])
        self.wait_until_free(cluster)
        size = 6 + sum(answer['inputs']['number'] for answer in done)
        regions = [apportionment.Region(*region) for region in REGIONS]
        best = apportionment.grow(regions, {}, size)
        self.assert_nodes(cluster, **best.plan)
        self.assert_servers(cluster, **best.plan)
        self.assert_capacity(cluster, size)
