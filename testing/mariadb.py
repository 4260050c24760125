# SPDX-License-Identifier: Apache-2.0

"""A MariaDB server of its own, for the time of a benchmark or a test."""

import contextlib
import getpass
import pathlib
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pymysql

_PROGRAMS: Final = ('/usr/bin/mariadb-install-db', '/usr/sbin/mariadbd')
#: How many seconds the server may take to start.
_PATIENCE: Final = 60


class Server:
    """A server that listens on a socket in a folder."""

    def __init__(
        self, folder: pathlib.Path, process: subprocess.Popen[bytes]
    ) -> None:
        self.socket = str(folder / 'socket')
        self._process = process

    def connect(self, user: str = 'root', **options: Any) -> Any:
        """Return a connection."""
        return pymysql.connect(unix_socket=self.socket, user=user, **options)

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        with (
            self.connect(autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
            return list(cursor.fetchall())

    def add_database(self, name: str) -> str:
        """Create a database, and return its URL."""
        self.query(f'CREATE DATABASE {name}')
        return self.url(name)

    def url(self, database: str, user: str = 'root') -> str:
        """Return the URL of a database.

        :param user: the user, with the password if there is one.
        """
        socket = f'unix_socket={self.socket}'
        return f'mysql+pymysql://{user}@/{database}?{socket}'

    def kill(self) -> None:
        """End the server as a host that loses its power does."""
        self._process.kill()
        self._process.wait()

    def status(self, name: str) -> int:
        """Return one of the server's own counters."""
        ((_, value),) = self.query(f"SHOW GLOBAL STATUS LIKE '{name}'")
        return int(value)


@contextlib.contextmanager
def running(
    connections: int = 2000, options: Sequence[str] = ()
) -> Iterator[Server]:
    """Start a server, and stop it at the end.

    :param connections: how many connections it has.
    :param options: of the server, beside those that it needs.
    """
    if not all(pathlib.Path(program).exists() for program in _PROGRAMS):
        raise RuntimeError(
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
                f'--max-connections={connections}',
                *options,
            ],
            stderr=subprocess.DEVNULL,
        )
        try:
            yield _wait_for(Server(folder, process))
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
