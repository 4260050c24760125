# SPDX-License-Identifier: Apache-2.0

"""Nothing is lost and nothing is left over when parts of the cloud fail."""

import collections
import concurrent.futures
import functools

from tests.cloud import (
    base,
    processes,
    rabbitmq,
    readiness,
    senlin_base,
)


class TestClusters(senlin_base.ClusterTest):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.make_cluster(
            self.make_profile(),
            self.make_region_policy(RegionOne={}, RegionTwo={}),
        )

    def check_heard(self, listeners: dict[tuple[str, str], int]) -> None:
        """Raise unless at least as many listen to each queue of the bus."""
        now = rabbitmq.listeners()
        for queue, number in listeners.items():
            self.assertLessEqual(number, now.get(queue, 0), queue)

    def test_message_bus_is_restarted_in_the_middle(self):
        listeners = rabbitmq.listeners()
        action = self.senlin.act(
            f'/clusters/{self.cluster}', 'scale_out', count=4
        )
        processes.kill('rabbitmq')
        readiness.start(rabbitmq.service(), rabbitmq.check)
        # What is sent to somebody who is not back yet is lost: a user's
        # question is answered a minute later, by an error.
        self.wait_for(functools.partial(self.check_heard, listeners))
        # What was on the bus may be lost, Nova's messages included. Every
        # wait in Senlin has an end.
        self.senlin.wait(action)
        self.recover_until(
            self.cluster,
            lambda: self.assert_spread(self.cluster, RegionOne=2, RegionTwo=2),
        )
        self.do(self.cluster, 'scale_out', count=2)
        self.assert_spread(self.cluster, RegionOne=3, RegionTwo=3)

    def test_six_requests_at_once(self):
        path = f'/clusters/{self.cluster}/actions'
        wish = {'scale_out': {'count': 1}}
        api = self.user[base.ONE].clustering
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            answers = list(
                pool.map(
                    lambda _: api.post(path, json=wish).status_code, range(6)
                )
            )
        # Senlin refuses a request that meets another one.
        counted = collections.Counter(answers)
        self.assertLessEqual(set(counted), {202, 409}, counted)
        actions = self.senlin.get(
            f'/actions?target={self.cluster}&action=CLUSTER_SCALE_OUT'
        )['actions']
        self.assertEqual(counted[202], len(actions))
        for action in actions:
            self.assert_succeeds(action['id'])
        self.wait_until_idle()
        half = counted[202] // 2
        self.assert_spread(
            self.cluster, RegionOne=counted[202] - half, RegionTwo=half
        )
