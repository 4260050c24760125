# SPDX-License-Identifier: Apache-2.0

"""Make the tables of the services, with the services' own tools."""

import grp
import os
import pwd

from tests.cloud import layout, mariadb, processes, services

#: The region in which the tools make the tables of Glance and Neutron.
FIRST = layout.REGIONS[0].name


def databases() -> list[str]:
    """Return the names of all databases."""
    names = ['keystone', 'heat', 'senlin']
    for region in layout.REGIONS:
        names += [
            f'{service}_{region.name}'
            for service in (
                'placement',
                'glance',
                'neutron',
                'nova_api',
                'nova_cell0',
                'nova',
            )
        ]
    return names


def manage(log: str, command: tuple[str, ...], *arguments: str) -> None:
    """Run a service's tool to its end.

    :param log: the name of the file that gets its output.
    :param command: the tool, with its configuration.
    :param arguments: what it shall do.
    """
    processes.run(*command, *arguments, log=layout.LOG / f'{log}.log')


def nova_manage(region: layout.Region) -> tuple[str, ...]:
    """Return the command of Nova's tool in a region."""
    return services.program(
        'nova-manage',
        *services.nova_files(region),
        environment=region.environment('nova'),
    )


def keystone() -> None:
    """Make Keystone's tables, its keys and the administrator."""
    command = services.program('keystone-manage', 'keystone.conf')
    for folder in ('fernet-keys', 'credential-keys'):
        (layout.DATA / 'keystone' / folder).mkdir(parents=True, mode=0o700)
    manage('keystone-manage', command, 'db_sync')
    owner = (
        f'--keystone-user={pwd.getpwuid(os.getuid()).pw_name}',
        f'--keystone-group={grp.getgrgid(os.getgid()).gr_name}',
    )
    manage('keystone-manage', command, 'fernet_setup', *owner)
    manage('keystone-manage', command, 'credential_setup', *owner)
    manage(
        'keystone-manage',
        command,
        'bootstrap',
        f'--bootstrap-username={layout.ADMIN}',
        f'--bootstrap-password={layout.PASSWORD}',
        f'--bootstrap-public-url={layout.url("keystone")}/v3',
        f'--bootstrap-region-id={layout.REGIONS[0].name}',
    )


def placement(region: layout.Region) -> None:
    """Make the tables of a region's Placement."""
    command = services.program(
        'placement-manage',
        f'{region.name}/placement.conf',
        environment=region.environment('placement'),
    )
    manage(f'{region.name}.placement-manage', command, 'db', 'sync')


def glance() -> None:
    """Make the tables of Glance, and its folders."""
    for region in layout.REGIONS:
        for folder in ('staging', 'images'):
            path = layout.DATA / f'glance-{region.name}' / folder
            path.mkdir(parents=True)
    command = services.program('glance-manage', f'{FIRST}/glance-api.conf')
    manage(f'{FIRST}.glance-manage', command, 'db_sync')
    copy('glance')


def neutron() -> None:
    """Make the tables of Neutron."""
    command = services.program('neutron-db-manage', f'{FIRST}/neutron.conf')
    manage(f'{FIRST}.neutron-db-manage', command, 'upgrade', 'head')
    copy('neutron')


def nova_api(region: layout.Region) -> None:
    """Make the tables of the API of a region's Nova."""
    log = f'{region.name}.nova-manage-api'
    manage(log, nova_manage(region), 'api_db', 'sync')


def nova(region: layout.Region) -> None:
    """Make the tables of the cells of a region's Nova."""
    name = region.name
    log = f'{name}.nova-manage-db'
    manage(log, nova_manage(region), 'db', 'sync', '--local_cell')
    mariadb.copy(f'nova_{name}', f'nova_cell0_{name}')


def cells(region: layout.Region) -> None:
    """Tell Nova's API of one region about its two cells."""
    name = region.name
    log = f'{name}.nova-manage'
    command = nova_manage(region)
    cell0 = layout.database(f'nova_cell0_{name}')
    manage(
        log, command, 'cell_v2', 'map_cell0', '--database_connection', cell0
    )
    manage(log, command, 'cell_v2', 'create_cell', '--name', 'cell1')


def copy(service: str) -> None:
    """Give the other regions the tables that the first one has.

    The tools of the services take up to half a minute of processor time each;
    a copy takes a second.

    :param service: whose tables.
    """
    for region in layout.REGIONS[1:]:
        mariadb.copy(f'{service}_{FIRST}', f'{service}_{region.name}')


def discover(region: layout.Region) -> None:
    """Let Nova know the compute hosts that have reported themselves."""
    manage(
        f'{region.name}.nova-manage',
        nova_manage(region),
        'cell_v2',
        'discover_hosts',
    )


def heat() -> None:
    """Make the tables of Heat."""
    command = services.program('heat-manage', 'heat.conf')
    manage('heat-manage', command, 'db_sync')


def senlin() -> None:
    """Make the tables of Senlin."""
    command = services.program('senlin-manage', 'senlin.conf')
    manage('senlin-manage', command, 'db_sync')


def create() -> None:
    """Create all databases, still empty."""
    mariadb.create(databases())
