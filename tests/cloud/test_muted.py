# SPDX-License-Identifier: Apache-2.0

"""A connection to the database that is muted stops one boot, and no other."""

import contextlib
import json
import socket
import subprocess
import threading
import uuid

from tests.cloud import base, databases, layout, services

#: How many seconds all other answers may take.
LIMIT = 15
PROJECTS, SERVERS = 3, 10


class Proxy:
    """Pass on to MariaDB, and mute the first connection that reads requests.

    The connection stays open, as if an address had moved to another machine.
    """

    def __init__(self) -> None:
        self._listener = socket.create_server((layout.ADDRESS, 0))
        self._lock = threading.Lock()
        self.muted = False
        self._begin(self._accept)

    def url(self, database: str) -> str:
        """Return the URL of a database behind the proxy."""
        _, port = self._listener.getsockname()
        return layout.database(database).replace(
            f':{layout.PORTS["mariadb"]}/', f':{port}/'
        )

    def close(self) -> None:
        """Accept no more connections."""
        self._listener.close()

    def _begin(self, function, *arguments) -> None:
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            address = layout.ADDRESS, layout.PORTS['mariadb']
            server = socket.create_connection(address)
            self._begin(self._pass_on, client, server)
            self._begin(self._pass_on, server, client)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        # At the end, the program closes all connections.
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self._lock:
                    mute = b'FROM request_specs' in data and not self.muted
                    self.muted = self.muted or mute
                if mute:
                    return
                target.sendall(data)
            target.close()


class TestMuted(base.CloudTest):
    def add_servers(self, project: str) -> list[str]:
        """Store the requests of servers that are in one stack."""
        hints = {'heat_root_stack_id': [f'stack-of-{project}']}
        spec = {
            'project_id': project,
            'scheduler_hints': hints,
            'image': None,
            'flavor': {'nova_object.data': {}},
        }
        servers = [str(uuid.uuid4()) for _ in range(SERVERS)]
        for server in servers:
            for statement, value in (
                (
                    'INSERT INTO request_specs (created_at, instance_uuid,'
                    ' spec) VALUES (NOW(), %s, %s)',
                    json.dumps({'nova_object.data': spec}),
                ),
                (
                    'INSERT INTO instance_mappings (instance_uuid, project_id,'
                    ' queued_for_delete) VALUES (%s, %s, FALSE)',
                    project,
                ),
            ):
                databases.query(self.database, statement, server, value)
        self.addCleanup(self.remove_servers, servers)
        return servers

    def remove_servers(self, servers: list[str]) -> None:
        for statement in (
            'DELETE FROM request_specs WHERE instance_uuid IN %s',
            'DELETE FROM instance_mappings WHERE instance_uuid IN %s',
        ):
            databases.query(self.database, statement, servers)

    def test_all_other_boots_go_on(self):
        region = base.REGIONS[self.region]
        self.database = f'nova_api_{self.region}'
        projects = {}
        for _ in range(PROJECTS):
            project = uuid.uuid4().hex
            projects[project] = self.add_servers(project)
        proxy = Proxy()
        self.addCleanup(proxy.close)
        _, *options = services.program(
            region.environment, '', *services.nova_files(region)
        )
        printed = subprocess.check_output(
            services.python(
                region.environment,
                'nova_members.py',
                proxy.url(self.database),
                json.dumps(projects),
                *options,
            ),
            cwd=layout.DATA,
        )
        seconds = json.loads(printed)
        self.assertTrue(proxy.muted)
        self.assertEqual(PROJECTS * SERVERS - 1, len(seconds))
        self.assertLess(max(seconds), LIMIT)


class TestMutedInNewestNova(TestMuted):
    region = base.TWO
