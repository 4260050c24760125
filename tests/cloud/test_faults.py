# SPDX-License-Identifier: Apache-2.0

"""Nothing is lost and nothing is left over when parts of the cloud fail."""

import collections
import concurrent.futures
import functools
import signal
import time

from tests.cloud import (
    base,
    boot,
    layout,
    mariadb,
    nova_base,
    processes,
    rabbitmq,
    readiness,
    senlin_base,
    services,
)

ONE, TWO = base.ONE, base.TWO


def restart_api(region: layout.Region) -> None:
    """Start the Nova API of a region and wait until it answers."""
    service = services.ALL[f'{region.name}.nova-api']
    if processes.pid_of(service) is None:
        boot.start(
            service,
            functools.partial(readiness.answers, region.ports()['nova']),
        )


def restart(service: processes.Service) -> None:
    """Start a service that has no API of its own, unless it runs."""
    if processes.pid_of(service) is None:
        processes.start(service)


class TestClusters(senlin_base.ClusterTest):
    def setUp(self) -> None:
        super().setUp()
        self.cluster = self.make_cluster(
            self.make_profile(),
            self.make(
                'policy',
                senlin_base.REGIONS,
                regions=[{'name': ONE}, {'name': TWO}],
            ),
        )

    def heal(self, **wanted: int) -> None:
        """Recover the cluster; all its nodes must be whole then."""
        self.wait_for(self.check_unlocked)
        self.do(self.cluster, 'recover', operation='RECREATE')
        self.wait_for(self.check_unlocked)
        self.assert_spread(self.cluster, **wanted)

    def check_unlocked(self) -> None:
        """Raise if anybody works at the cluster or one of its nodes."""
        for table in ('cluster_lock', 'node_lock'):
            self.assertEqual(
                [],
                mariadb.query('senlin', f'SELECT * FROM {table}'),  # noqa: S608
                table,
            )

    def check_heard(self, listeners: dict[tuple[str, str], int]) -> None:
        """Raise unless at least as many listen to the message bus.

        :param listeners: how many did, by queue.
        """
        now = rabbitmq.listeners()
        self.assertEqual(
            [],
            [
                queue
                for queue, number in listeners.items()
                if now.get(queue, 0) < number
            ],
        )

    def test_nova_of_one_region_is_down(self):
        region = layout.REGIONS[1]
        self.addCleanup(restart_api, region)
        processes.stop(services.ALL[f'{TWO}.nova-api'])

        action = self.senlin.wait(
            self.senlin.act(f'/clusters/{self.cluster}', 'scale_out', count=4)
        )
        self.assertEqual('FAILED', action['status'])
        self.assertIn(
            action['status_reason'],
            ('Failed in creating nodes.', 'Action execution failed'),
        )
        # The action does not wait for the nodes that do well.
        self.wait_for(self.check_unlocked)
        # Nobody was sent elsewhere instead.
        by_status = collections.Counter(
            (node['data']['placement']['region_name'], node['status'])
            for node in self.senlin.nodes(self.cluster)
        )
        self.assertEqual({(ONE, 'ACTIVE'): 2, (TWO, 'ERROR'): 2}, by_status)
        self.assertEqual(2, len(self.servers_of(self.cluster, ONE)))
        for node in self.senlin.nodes(self.cluster):
            if node['status'] == 'ERROR':
                self.assertIn(
                    str(region.ports()['nova']), node['status_reason']
                )

        restart_api(region)
        self.do(self.cluster, 'scale_out', count=2)
        self.heal(RegionOne=3, RegionTwo=3)

    def test_engine_is_killed_in_the_middle(self):
        action = self.senlin.act(
            f'/clusters/{self.cluster}', 'scale_out', count=6
        )

        def check_begun() -> None:
            states = {
                node['status'] for node in self.senlin.nodes(self.cluster)
            }
            self.assertIn('CREATING', states)

        self.wait_for(check_begun)
        ((host,),) = mariadb.query(
            'senlin',
            'SELECT host FROM service JOIN action'
            ' ON action.owner = service.id WHERE action.id = %s',
            action,
        )
        engine = services.ALL[host]
        self.addCleanup(restart, engine)
        processes.send(processes.pid_of(engine), signal.SIGKILL)
        processes.kill(engine)
        restart(engine)

        ended = self.senlin.wait(action)
        self.assertEqual('FAILED', ended['status'])
        self.heal(RegionOne=3, RegionTwo=3)

    def test_message_bus_is_restarted_in_the_middle(self):
        listeners = rabbitmq.listeners()
        action = self.senlin.act(
            f'/clusters/{self.cluster}', 'scale_out', count=4
        )
        processes.stop(rabbitmq.SERVICE)
        boot.start(rabbitmq.SERVICE, rabbitmq.ready)
        # What is sent to somebody who is not back yet is lost: a user's
        # question is answered a minute later, by an error.
        self.wait_for(functools.partial(self.check_heard, listeners))
        reports = {region: readiness.reports(region) for region in (ONE, TWO)}
        # What was on the bus may be lost, Nova's messages included. Every
        # wait in Senlin has an end.
        self.senlin.wait(action)
        self.heal(RegionOne=2, RegionTwo=2)
        self.do(self.cluster, 'scale_out', count=2)
        self.assert_spread(self.cluster, RegionOne=3, RegionTwo=3)
        # A compute whose report was lost waits a minute for the answer, and
        # is taken for dead before that is over.
        for region, before in reports.items():
            self.wait_for(
                functools.partial(readiness.reported, region, before)
            )

    def scale_outs(self) -> list[dict]:
        """Return the actions that let the cluster grow."""
        return self.senlin.get(
            f'/actions?target={self.cluster}&action=CLUSTER_SCALE_OUT'
        )['actions']

    def check_ended(self) -> None:
        """Raise unless all of these actions have come to an end."""
        for one in self.scale_outs():
            self.assertIn(one['status'], ('SUCCEEDED', 'FAILED', 'CANCELLED'))

    def test_twenty_requests_at_once(self):
        path = f'/clusters/{self.cluster}'
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            answers = list(
                pool.map(
                    lambda _: self.senlin.try_to_act(
                        path, 'scale_out', count=1
                    ),
                    range(20),
                )
            )
        counted = collections.Counter(answers)
        self.assertEqual({202, 409}, set(counted) | {409}, counted)
        try:
            readiness.wait_until(self.check_ended, base.PATIENCE)
        except readiness.NotReady:
            # Senlin puts back what got no lock, and may not look at it again
            # before the next request, whatever that is about.
            self.make_cluster(self.make_profile())
            self.wait_for(self.check_ended)
        self.wait_for(self.check_unlocked)
        self.assertEqual(
            ['SUCCEEDED'] * counted[202],
            [one['status'] for one in self.scale_outs()],
        )
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
        """Boot as many servers of each flavor, all at once.

        :param number: how many of each.
        :returns: the flavors by the servers' ids.
        """
        wanted = [self.windows, self.plain] * number
        return dict(zip(self.at_once(self.boot, wanted), wanted, strict=True))

    def assert_allowed(self, flavors: dict[str, str]) -> None:
        """Fail unless each server runs where its flavor may run.

        :param flavors: the flavors by the servers' ids.
        """
        hosts = self.hosts_of(flavors)
        for server, flavor in flavors.items():
            if flavor == self.windows:
                self.assertEqual(self.licensed, hosts[server])
            else:
                self.assertIn(hosts[server], self.others)

    def test_fifty_boots_at_once_land_where_they_may(self):
        self.assert_allowed(self.boot_many(25))
        self.assertEqual(50, len(self.servers(ONE)))

    def test_scheduler_is_restarted_during_boots(self):
        service = services.ALL[f'{ONE}.nova-scheduler-1']
        self.addCleanup(restart, service)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            booted = pool.submit(self.boot_many, 8)
            time.sleep(1)
            processes.stop(service)
            restart(service)
            servers = booted.result()
        ended = self.wait_for_servers(ONE, servers)
        # What it had just been asked comes to an end after a minute.
        lost = [
            server
            for server, one in ended.items()
            if one.status == 'ERROR'
            and one.fault['message'] == 'MessagingTimeout'
        ]
        # The other scheduler has gone on.
        self.assertLess(len(lost), len(servers) // 2)
        # Their user asks again.
        wanted = [servers.pop(server) for server in lost]
        again = dict(zip(self.at_once(self.boot, wanted), wanted, strict=True))
        self.assert_allowed({**servers, **again})
