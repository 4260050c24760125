# SPDX-License-Identifier: Apache-2.0

"""Tests of a scheduler on two MariaDB servers: a primary, and a late replica.

Nova's settings are global, so the tests need a process of their own:
``python -m unittest tests.cloud.behind_program``.
"""

# Must be the first import: it chooses Nova's concurrency.
from testing.nova import engine  # isort: skip

import contextlib
import functools
import itertools
import socket
import unittest
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from nova.db.api import api as api_db

from nova_filters.members import reader
from testing import mariadb

ADDRESS = '127.0.0.1'
HOSTS = [f'host-{number}' for number in range(9)]
STACK = ('stack', 'root', engine.PROJECT)
#: How many members of the stack the replica shows, and how many it lacks.
SHOWN, LACKED = 2, 10
#: How many seconds the replica may take to catch up.
PATIENCE = 60


class Servers:
    """The primary and the replica."""

    def __init__(self) -> None:
        with socket.create_server((ADDRESS, 0)) as probe:
            port = probe.getsockname()[1]
        listening = f'--skip-networking=0 --bind-address={ADDRESS}'
        writing = f'{listening} --port={port} --log-bin=log --server-id=1'
        self.primary = unittest.enterModuleContext(
            mariadb.running(options=writing.split())
        )
        self.replica = unittest.enterModuleContext(
            mariadb.running(options=['--server-id=2'])
        )
        self.replica.query(
            f"CHANGE MASTER TO MASTER_HOST='{ADDRESS}', MASTER_PORT={port},"
            " MASTER_USER='root', MASTER_USE_GTID=slave_pos"
        )
        self.replica.query('START SLAVE')

    def catch_up(self) -> None:
        """Wait until the replica shows what the primary shows."""
        self.replica.query('START SLAVE SQL_THREAD')
        ((position,),) = self.primary.query('SELECT @@gtid_binlog_pos')
        waiting = f"SELECT MASTER_GTID_WAIT('{position}', {PATIENCE})"
        if self.replica.query(waiting) != [(0,)]:
            raise TimeoutError('the replica does not catch up')

    def hold_back(self) -> None:
        """Keep the replica as the primary is now."""
        self.catch_up()
        self.replica.query('STOP SLAVE SQL_THREAD')


class Route:
    """Where the connections to a database go; each statement has its own."""

    def __init__(self, servers: Servers, name: str, manager: Any) -> None:
        """Take over a database.

        :param manager: Nova's context manager of the database.
        """
        self._primary = itertools.repeat(servers.primary)
        self._next: Iterator[mariadb.Server] = self._primary
        url = servers.primary.url(name)
        bind = sa.create_engine(url, poolclass=sa.pool.NullPool)
        sa.event.listen(bind, 'do_connect', self._choose)
        manager.patch_engine(bind)

    def _choose(self, *arguments: Any) -> None:
        options = arguments[-1]
        options['unix_socket'] = next(self._next).socket
        # The driver would read all certificates for each connection.
        options['ssl_disabled'] = True

    @contextlib.contextmanager
    def through(self, *servers: mariadb.Server) -> Iterator[None]:
        """Ask these servers meanwhile; the last one again and again."""
        self._next = itertools.chain(servers, itertools.repeat(servers[-1]))
        yield
        self._next = self._primary


@functools.cache
def prepare() -> tuple[Servers, engine.Cloud, Route, Route]:
    """Return Nova on the servers, and the routes to its databases."""
    servers = Servers()
    add = servers.primary.add_database
    cloud = engine.Cloud(api=add('api'), cell=add('cell'))
    for host in HOSTS:
        cloud.add_host(host)
    # It registers the options.
    cloud.scheduler()
    api = Route(servers, 'api', api_db.context_manager)
    with cloud.in_cell() as context:
        cell = Route(servers, 'cell', context.db_connection)
    return servers, cloud, api, cell


class BehindTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.servers, self.cloud, self.api, self.cell = prepare()
        self.flavor = self.cloud.add_flavor(self.id(), {})

    def boot(self) -> str:
        """Ask for a server of the stack; return its id."""
        hints = {'heat_root_stack_id': STACK[1]}
        return self.cloud.request(self.flavor, hints=hints).instance_uuid

    def test_api_database_lacks_requests(self) -> None:
        """The members come from the primary, their requests do not."""
        memory = reader.Reader()
        shown = [self.boot() for _ in range(SHOWN)]
        self.servers.hold_back()
        lacked = [self.boot() for _ in range(LACKED)]
        route = self.servers.primary, self.servers.replica
        with self.api.through(*route):
            members = memory.read_members(STACK, shown[0])
        self.assertEqual(shown, [member.server for member in members.pending])
        self.assertEqual(LACKED, len(members.unread))
        missing = self.assertRaises(reader.OwnRowMissing)
        with self.api.through(*route), missing:
            memory.read_members(STACK, lacked[-1])
        self.servers.catch_up()
        members = memory.read_members(STACK, lacked[-1])
        pending = [member.server for member in members.pending]
        self.assertEqual(shown + lacked, pending)

    def test_cell_lacks_servers(self) -> None:
        engine.CONF.set_override(
            'server_group_weight_multiplier', 10.0, 'nova_filters'
        )
        scheduler = self.cloud.scheduler()
        group = self.cloud.add_group('anti-affinity')
        self.servers.hold_back()
        chosen = []
        for _ in HOSTS:
            request = self.cloud.request(self.flavor, group=group)
            with self.cell.through(self.servers.replica):
                host = self.cloud.boot(scheduler, request).host
            self.cloud.place(request, host)
            chosen.append(host)
        self.assertCountEqual(HOSTS, chosen)
