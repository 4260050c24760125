# SPDX-License-Identifier: Apache-2.0

"""Members of strict groups that move while others start."""

import collections
import datetime
import signal
from collections.abc import Iterable
from typing import Any

from openstack.compute.v2 import server as compute_server
from openstack.compute.v2 import service as compute_service
from oslo_utils import timeutils

from tests.cloud import base, processes, services

#: How many strict groups do the same at once.
GROUPS = 4
#: How many members a group has of which three are evacuated at once, and how
#: many of them may be on one host. The two hosts that are left have one place
#: more than they need.
COUNT, LIMIT = 9, 5


class TestMoves(base.ServerTest):
    """Each member ends on a host of its own, and none is in ERROR."""

    def setUp(self) -> None:
        super().setUp()
        self.groups = [self.make_group('anti-affinity') for _ in range(GROUPS)]
        self.first_host, *_ = self.hosts
        # All of them leave the same host.
        self.movers = [
            self.boot({'group': group}, host=self.first_host)
            for group in self.groups
        ]
        self.assertEqual({self.first_host}, {*self.hosts_of(self.movers)})

    def act(self, server: str, action: dict[str, Any]) -> str:
        """Ask Nova for an action, and return the id of the server."""
        response = self.compute.post(
            f'/servers/{server}/action', json=action, microversion=base.VERSION
        )
        self.assertIn(response.status_code, (200, 202), response.text)
        return server

    def assert_apart(
        self, action: dict[str, Any], status: str, also: Iterable[str] = ()
    ) -> None:
        """Move the first members while others start; look at the hosts.

        :param status: the status of a server that has moved.
        :param also: servers of another group that move meanwhile.
        """
        time = timeutils.utcnow()
        loads = self.read_loads(time)
        wishes = []
        for group, mover in zip(self.groups, self.movers, strict=True):
            wishes.append(lambda mover=mover: self.act(mover, action))
            wishes.append(lambda group=group: self.boot({'group': group}))
        for mover in also:
            wishes.append(lambda mover=mover: self.act(mover, action))
        servers = self.at_once(lambda ask: ask(), wishes)
        movers = [*self.movers, *also]
        moved = self.wait_until(lambda: self.check_moved(movers, status))
        new = [server for server in servers if server not in movers]
        for server, host in zip(moved, self.hosts_of(new), strict=False):
            self.assertEqual(status, server.status)
            self.assertIsNotNone(host)
            # The new member may start after the other one has moved.
            self.assertNotEqual(server.compute_host, host)
        # Later, a scheduler reads the same loads of the time before.
        self.assertEqual(loads, self.read_loads(time))

    def read_loads(self, time: datetime.datetime) -> dict[str, float]:
        """Return the loads of hosts as a scheduler reads them."""
        region = base.REGIONS[self.region]
        return services.ask_nova(region, 'nova_loads.py', time.isoformat())

    def check_moved(
        self, servers: Iterable[str], status: str
    ) -> list[compute_server.Server]:
        """Return servers; raise while one is on its old host.

        One that is evacuated is ACTIVE before Nova changes its host.
        """
        moved = self.wait_for_statuses(servers, status, 'ERROR')
        for server in moved:
            if server.status == status:
                self.assertNotEqual(self.first_host, server.compute_host)
        return moved

    def test_live_migrations(self):
        action = {'host': None, 'block_migration': 'auto'}
        self.assert_apart({'os-migrateLive': action}, 'ACTIVE')

    def test_cold_migrations(self):
        self.assert_apart({'migrate': None}, 'VERIFY_RESIZE')

    def service_of(self, host: str) -> compute_service.Service:
        (found,) = self.compute.services(host=host, binary='nova-compute')
        return found

    def take_down(self, host: str) -> None:
        """Kill the nova-compute of a host, and tell Nova that it is dead."""
        program = services.nova_compute(base.REGIONS[self.region], host)
        processes.send(signal.SIGKILL, program.name)
        self.compute.update_service_forced_down(self.service_of(host))
        self.addCleanup(self.bring_up, host, program)

    def bring_up(self, host: str, program: processes.Service) -> None:
        """Start the nova-compute, which forgets what was evacuated."""
        # Nova refuses a host from which a server is evacuated later.
        self.hosts_of(self._servers)
        last_seen = self.service_of(host).updated_at
        processes.start(program)
        self.wait_until(
            lambda: self.assertNotEqual(
                last_seen, self.service_of(host).updated_at
            )
        )
        self.compute.update_service_forced_down(
            self.service_of(host), forced=False
        )

    def test_evacuations(self):
        group = self.make_group('anti-affinity', max_server_per_host=LIMIT)
        servers = self.at_once(self.boot, [{'group': group}] * COUNT)
        hosts = self.hosts_of(servers)
        evacuated = [
            server
            for server, host in zip(servers, hosts, strict=True)
            if host == self.first_host
        ]
        self.assertEqual(COUNT // len(self.hosts), len(evacuated))
        self.take_down(self.first_host)
        self.assert_apart({'evacuate': {}}, 'ACTIVE', evacuated)
        counts = collections.Counter(self.hosts_of(servers))
        self.assertLessEqual({*counts}, {*self.hosts} - {self.first_host})
        self.assertLessEqual(max(counts.values()), LIMIT)


class TestMovesInNewestNova(TestMoves):
    region = base.TWO
