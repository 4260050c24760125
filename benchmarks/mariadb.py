# SPDX-License-Identifier: Apache-2.0

"""A MariaDB server of its own, for the time of a benchmark."""

import contextlib
import getpass
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Final

import pymysql

_PROGRAMS: Final = ('/usr/bin/mariadb-install-db', '/usr/sbin/mariadbd')
#: How many seconds the server may take to start.
_PATIENCE: Final = 60


class Server:
    """A server that listens on a socket in a folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._socket = folder / 'socket'

    def query(self, statement: str) -> list[tuple[str, ...]]:
        with (
            pymysql.connect(
                unix_socket=str(self._socket), user='root', autocommit=True
            ) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
            return list(cursor.fetchall())

    def add_database(self, name: str) -> str:
        """Create a database, and return its URL."""
        self.query(f'CREATE DATABASE {name}')
        return f'mysql+pymysql://root@/{name}?unix_socket={self._socket}'

    def status(self, name: str) -> int:
        """Return one of the server's own counters."""
        ((_, value),) = self.query(f"SHOW GLOBAL STATUS LIKE '{name}'")
        return int(value)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server, and stop it at the end."""
    if not all(pathlib.Path(program).exists() for program in _PROGRAMS):
        sys.exit(
            'MariaDB is missing: run "python -m tests.cloud install" as root.'
        )
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        user = f'--user={getpass.getuser()}'
        data = f'--datadir={folder / "data"}'
        install, server = _PROGRAMS
        subprocess.run(
            [
                install,
                '--no-defaults',
                user,
                data,
                '--auth-root-authentication-method=normal',
                '--skip-test-db',
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        process = subprocess.Popen(
            [
                server,
                '--no-defaults',
                user,
                data,
                f'--socket={folder / "socket"}',
                '--skip-networking',
                '--skip-log-bin',
                '--max-connections=2000',
            ],
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _wait_for(Server(folder))
        finally:
            process.terminate()
            process.wait()


def _wait_for(server: Server) -> Server:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            server.query('SELECT 1')
        except pymysql.err.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return server
