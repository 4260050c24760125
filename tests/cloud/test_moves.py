# SPDX-License-Identifier: Apache-2.0

"""Members of strict groups that move while others start."""

from typing import Any

from tests.cloud import base

#: How many strict groups do the same at once.
GROUPS = 4


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
        self.assertEqual(202, response.status_code, response.text)
        return server

    def assert_apart(self, action: dict[str, Any], status: str) -> None:
        """Move the first members while others start; look at the hosts.

        :param status: the status of a server that has moved.
        """
        wishes = []
        for group, mover in zip(self.groups, self.movers, strict=True):
            wishes.append(lambda mover=mover: self.act(mover, action))
            wishes.append(lambda group=group: self.boot({'group': group}))
        servers = self.at_once(lambda ask: ask(), wishes)
        moved = self.wait_for_statuses(servers[::2], status, 'ERROR')
        new_hosts = self.hosts_of(servers[1::2])
        for server, host in zip(moved, new_hosts, strict=True):
            self.assertEqual(status, server.status)
            self.assertIsNotNone(host)
            # The new member may start after the other one has moved.
            self.assertNotIn(server.compute_host, (self.first_host, host))

    def test_live_migrations(self):
        action = {'host': None, 'block_migration': 'auto'}
        self.assert_apart({'os-migrateLive': action}, 'ACTIVE')

    def test_cold_migrations(self):
        self.assert_apart({'migrate': None}, 'VERIFY_RESIZE')


class TestMovesInNewestNova(TestMoves):
    region = base.TWO
