# SPDX-License-Identifier: Apache-2.0

"""The databases of the services."""

import getpass

import pymysql
from cryptography import fernet

from tests.cloud import layout, processes, services

#: How long an answer may take, in seconds.
PATIENCE = 60


def query(database: str, statement: str, *values: object) -> list[tuple]:
    """Return the rows that meet a statement, which is done for good.

    :param statement: SQL with ``%s`` for each value.
    """
    with (
        pymysql.connect(
            unix_socket=str(services.SOCKET),
            user='root',
            database=database,
            autocommit=True,
            read_timeout=PATIENCE,
            write_timeout=PATIENCE,
        ) as connection,
        connection.cursor() as cursor,
    ):
        # Without values, a "%" in the statement is only a "%".
        cursor.execute(statement, values or None)
        return list(cursor.fetchall())


def prepare() -> None:
    """Make the folder that MariaDB keeps its data in."""
    processes.run(
        'mariadb',
        '/usr/bin/mariadb-install-db',
        '--no-defaults',
        f'--user={getpass.getuser()}',
        f'--datadir={layout.DATA / "mariadb"}',
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
    )


def create() -> None:
    """Create all databases and the user that the services log in as."""
    who = f"'cloud'@'{layout.ADDRESS}'"
    query('mysql', f"CREATE USER {who} IDENTIFIED BY '{layout.PASSWORD}'")
    query('mysql', f'GRANT ALL ON *.* TO {who}')
    names = ['keystone', 'glance', 'neutron', 'heat', 'senlin']
    for region in layout.REGIONS:
        for service in ('placement', 'nova_api', 'nova_cell0', 'nova'):
            names.append(f'{service}_{region.name}')
    for name in names:
        query('mysql', f'CREATE DATABASE `{name}`')


def fill_keystone() -> None:
    """Make Keystone's tables, its keys and the administrator."""
    for kind in ('fernet-keys', 'credential-keys'):
        folder = layout.DATA / 'keystone' / kind
        folder.mkdir(parents=True, mode=0o700)
        for name in '0', '1':
            (folder / name).write_bytes(fernet.Fernet.generate_key())
    manage = services.program(
        layout.ENVIRONMENT, 'keystone-manage', 'keystone.conf'
    )
    processes.run('keystone-manage', *manage, 'db_sync')
    processes.run(
        'keystone-manage',
        *manage,
        'bootstrap',
        f'--bootstrap-username={layout.ADMIN}',
        f'--bootstrap-password={layout.PASSWORD}',
        f'--bootstrap-public-url={layout.url("keystone")}/v3',
        f'--bootstrap-region-id={layout.REGIONS[0].name}',
    )


def fill_shared(service: str) -> None:
    """Make the tables of a service that both regions share."""
    manage = services.program(
        layout.ENVIRONMENT, f'{service}-manage', f'{service}.conf'
    )
    processes.run(f'{service}-manage', *manage, 'db_sync')


def fill_neutron() -> None:
    manage = services.program(
        layout.ENVIRONMENT, 'neutron-db-manage', 'neutron.conf'
    )
    processes.run('neutron-manage', *manage, 'upgrade', 'head')


def fill_placement(region: layout.Region) -> None:
    manage = services.program(
        region.environment,
        'placement-manage',
        f'{region.name}/placement.conf',
    )
    processes.run(f'{region.name}.placement-manage', *manage, 'db', 'sync')


def fill_nova(region: layout.Region) -> None:
    """Make the tables of a region's Nova, and its two cells."""
    manage = services.program(
        region.environment, 'nova-manage', *services.nova_files(region)
    )
    cell0 = layout.database(f'nova_cell0_{region.name}')
    for command in (
        ('api_db', 'sync'),
        ('cell_v2', 'map_cell0', '--database_connection', cell0),
        ('cell_v2', 'create_cell', '--name', 'cell1'),
        # This fills both cells.
        ('db', 'sync'),
    ):
        processes.run(f'{region.name}.nova-manage', *manage, *command)
