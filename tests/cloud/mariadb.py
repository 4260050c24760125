# SPDX-License-Identifier: Apache-2.0

"""A MariaDB of the cloud's own."""

import getpass

import pymysql

from tests.cloud import layout, processes

FOLDER = layout.DATA / 'mariadb'
SOCKET = layout.RUN / 'mariadb.sock'

#: What a cloud of a few minutes does not need: surviving a power cut.
CAREFREE = (
    '--skip-log-bin',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-doublewrite=0',
    '--innodb-flush-method=nosync',
    '--performance-schema=0',
)

SERVICE = processes.Service(
    'mariadb',
    (
        '/usr/sbin/mariadbd',
        '--no-defaults',
        f'--user={getpass.getuser()}',
        f'--datadir={FOLDER}',
        f'--socket={SOCKET}',
        f'--bind-address={layout.ADDRESS}',
        f'--port={layout.PORTS["mariadb"]}',
        '--max-connections=2000',
        '--character-set-server=utf8mb3',
        '--skip-name-resolve',
        *CAREFREE,
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
        log=SERVICE.log,
    )


def ready() -> None:
    """Raise unless MariaDB answers."""
    execute('SELECT 1')


def execute(*statements: str) -> None:
    """Carry out statements as the administrator.

    :param statements: SQL, without values from outside.
    """
    with (
        pymysql.connect(unix_socket=str(SOCKET), user='root') as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            cursor.execute(statement)


def create(names: list[str]) -> None:
    """Create databases and the user that the services log in as.

    :param names: the databases.
    """
    who = f"'cloud'@'{layout.ADDRESS}'"
    execute(
        f"CREATE USER {who} IDENTIFIED BY '{layout.PASSWORD}'",
        f'GRANT ALL ON *.* TO {who}',
        *(f'CREATE DATABASE `{name}`' for name in names),
    )


def copy(source: str, target: str) -> None:
    """Fill an empty database with the tables and rows of another one.

    :param source: the name of the full one.
    :param target: the name of the empty one.
    """
    with (
        pymysql.connect(
            unix_socket=str(SOCKET), user='root', database=target
        ) as connection,
        connection.cursor() as cursor,
    ):
        # Tables refer to others that come later in the alphabet.
        cursor.execute('SET FOREIGN_KEY_CHECKS = 0')
        cursor.execute(f'SHOW TABLES FROM `{source}`')
        for (table,) in list(cursor.fetchall()):
            cursor.execute(f'SHOW CREATE TABLE `{source}`.`{table}`')
            cursor.execute(cursor.fetchone()[1])
            cursor.execute(
                f'INSERT INTO `{table}` SELECT * FROM `{source}`.`{table}`'  # noqa: S608
            )
        connection.commit()


def query(database: str, statement: str, *values: object) -> list[tuple]:
    """Return the rows of a database that meet a query.

    :param database: its name.
    :param statement: SQL with ``%s`` for each value.
    :param values: the values.
    :returns: the rows.
    """
    with (
        pymysql.connect(
            unix_socket=str(SOCKET), user='root', database=database
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def change(database: str, statement: str) -> None:
    """Carry out a statement that changes rows of a database.

    :param database: its name.
    :param statement: SQL, without values from outside.
    """
    with (
        pymysql.connect(
            unix_socket=str(SOCKET), user='root', database=database
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
        connection.commit()
