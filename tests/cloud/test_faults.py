# SPDX-License-Identifier: Apache-2.0

"""Nothing is lost and nothing is left over when parts of the cloud fail."""

import collections
import concurrent.futures
import functools

from tests.cloud import (
    base,
    nova_base,
    processes,
    rabbitmq,
    readiness,
    senlin_base,
)

ONE, TWO = base.ONE, base.TWO


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
        reports = {region: readiness.reports(region) for region in (ONE, TWO)}
        # What was on the bus may be lost, Nova's messages included. Every
        # wait in Senlin has an end.
        self.senlin.wait(action)
        self.wait_for(self.check_unlocked)
        self.do(self.cluster, 'recover', operation='RECREATE')
        self.wait_for(self.check_unlocked)
        self.assert_spread(self.cluster, RegionOne=2, RegionTwo=2)
        self.do(self.cluster, 'scale_out', count=2)
        self.assert_spread(self.cluster, RegionOne=3, RegionTwo=3)
        # A compute whose report was lost waits for the answer meanwhile.
        for region, before in reports.items():
            self.wait_for(
                functools.partial(readiness.reported, region, before)
            )

    def test_six_requests_at_once(self):
        path = f'/clusters/{self.cluster}/actions'
        wish = {'scale_out': {'count': 1}}
        api = self.user[ONE].clustering
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
        self.wait_for(self.check_unlocked)
        half = counted[202] // 2
        self.assert_spread(
            self.cluster, RegionOne=counted[202] - half, RegionTwo=half
        )


class TestSchedulers(nova_base.PlacementTest):
    """Two schedulers, and a host that only some flavors may use."""

    def setUp(self) -> None:
        super().setUp()
        self.licensed, *self.others = nova_base.HOSTS
        self.make_aggregate(
            {'os': 'windows', 'force_metadata_check': 'True'}, self.licensed
        )
        self.windows = self.make_flavor({'os': 'windows'})
        self.plain = self.make_flavor({})

    def boot_many(self, number: int) -> dict[str, str]:
        """Boot servers of each flavor at once; return flavors by server."""
        wanted = [self.windows, self.plain] * number
        return dict(zip(self.at_once(self.boot, wanted), wanted, strict=True))

    def assert_allowed(self, flavors: dict[str, str]) -> None:
        """Fail unless each server runs where its flavor may run."""
        hosts = self.hosts_of(flavors)
        for server, flavor in flavors.items():
            if flavor == self.windows:
                self.assertEqual(self.licensed, hosts[server])
            else:
                self.assertIn(hosts[server], self.others)

    def test_each_knows_the_aggregates(self):
        servers = self.boot_many(6)
        self.assert_allowed(servers)
        first, second = (f'{ONE}.nova-scheduler-{one}' for one in (1, 2))
        self.addCleanup(base.start, second)
        self.addCleanup(base.start, first)
        before = readiness.reports(ONE)
        processes.kill(first)
        servers |= self.boot_many(2)
        self.assert_allowed(servers)
        base.start(first)
        self.wait_for(functools.partial(readiness.reported, ONE, before))
        processes.kill(second)
        servers |= self.boot_many(2)
        self.assert_allowed(servers)
        before = readiness.reports(ONE)
        base.start(second)
        self.wait_for(functools.partial(readiness.reported, ONE, before))
