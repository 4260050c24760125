# SPDX-License-Identifier: Apache-2.0

"""A MariaDB of the cloud's own."""

import contextlib
import getpass
from collections.abc import Iterator

import pymysql
from pymysql import cursors

from tests.cloud import layout, processes

FOLDER = layout.DATA / 'mariadb'
SOCKET = layout.DATA / 'mariadb.sock'

#: How long an answer may take, in seconds.
PATIENCE = 60


def service() -> processes.Service:
    """Return the server."""
    return processes.Service(
        'mariadb',
        (
            '/usr/sbin/mariadbd',
            '--no-defaults',
            f'--user={getpass.getuser()}',
            f'--datadir={FOLDER}',
            f'--socket={SOCKET}',
            f'--bind-address={layout.ADDRESS}',
            f'--port={layout.port("mariadb")}',
            '--max-connections=2000',
            '--character-set-server=utf8mb3',
            '--skip-name-resolve',
            # What a cloud of a few minutes does not need: surviving a power
            # cut.
            '--skip-log-bin',
            '--innodb-flush-log-at-trx-commit=0',
            '--innodb-doublewrite=0',
            '--innodb-flush-method=nosync',
            '--performance-schema=0',
        ),
    )


def prepare() -> None:
    """Make the folder that MariaDB keeps its data in."""
    processes.run(
        '/usr/bin/mariadb-install-db',
        '--no-defaults',
        f'--user={getpass.getuser()}',
        f'--datadir={FOLDER}',
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
        log='mariadb',
    )


def check() -> None:
    """Raise unless MariaDB answers."""
    query('mysql', 'SELECT 1')


@contextlib.contextmanager
def login(database: str) -> Iterator[cursors.Cursor]:
    """Log in as the administrator; what is changed meanwhile is kept."""
    with (
        pymysql.connect(
            unix_socket=str(SOCKET),
            user='root',
            database=database,
            read_timeout=PATIENCE,
            write_timeout=PATIENCE,
        ) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor
        connection.commit()


def create(names: list[str]) -> None:
    """Create databases and the user that the services log in as."""
    who = f"'cloud'@'{layout.ADDRESS}'"
    with login('mysql') as cursor:
        cursor.execute(
            f"CREATE USER {who} IDENTIFIED BY '{layout.PASSWORD}'",
        )
        cursor.execute(f'GRANT ALL ON *.* TO {who}')
        for name in names:
            cursor.execute(f'CREATE DATABASE `{name}`')


def copy(source: str, target: str) -> None:
    """Fill an empty database with the tables and rows of another one."""
    with login(target) as cursor:
        # Tables refer to others that come later in the alphabet.
        cursor.execute('SET FOREIGN_KEY_CHECKS = 0')
        cursor.execute(f'SHOW TABLES FROM `{source}`')
        for (table,) in list(cursor.fetchall()):
            cursor.execute(f'SHOW CREATE TABLE `{source}`.`{table}`')
            cursor.execute(cursor.fetchone()[1])
            cursor.execute(
                f'INSERT INTO `{table}` SELECT * FROM `{source}`.`{table}`'  # noqa: S608
            )


@contextlib.contextmanager
def scratch(source: str) -> Iterator[str]:
    """Copy a database, and drop the copy in the end.

    :returns: the name of the copy.
    """
    name = f'scratch_{source}'
    query('mysql', f'CREATE DATABASE `{name}`')
    try:
        copy(source, name)
        yield name
    finally:
        query('mysql', f'DROP DATABASE `{name}`')


def explain(database: str, statement: str) -> list[dict]:
    """Return MariaDB's plan for a statement: a row for each table."""
    with login(database) as cursor:
        # Without values, a "%" in the statement is only a "%".
        cursor.execute(f'EXPLAIN {statement}')
        names = [column[0] for column in cursor.description]
        return [
            dict(zip(names, row, strict=True)) for row in cursor.fetchall()
        ]


def query(database: str, statement: str, *values: object) -> list[tuple]:
    """Return the rows of a database that meet a query.

    :param statement: SQL with ``%s`` for each value.
    """
    with login(database) as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
