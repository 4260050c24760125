# SPDX-License-Identifier: Apache-2.0

"""Make the tables of the services, with the services' own tools."""

import grp
import os
import pathlib
import pwd

from tests.cloud import layout, mariadb, processes, services

#: The region in which the tools make the tables of Glance and Neutron.
FIRST = layout.REGIONS[0]


def databases() -> list[str]:
    """Return the names of all databases."""
    regional = (
        'placement',
        'glance',
        'neutron',
        'nova_api',
        'nova_cell0',
        'nova',
    )
    names = ['keystone', 'heat', 'senlin']
    for region in layout.REGIONS:
        names += [f'{service}_{region.name}' for service in regional]
    return names


def manage(
    module: str,
    files: tuple[str, ...],
    *commands: str,
    environment: pathlib.Path = layout.ENVIRONMENT,
) -> None:
    """Run commands of a service's tool in one process.

    :param module: the module of the tool.
    :param files: its configuration files below ``etc``.
    """
    options = ' '.join(services.config_files(*files))
    processes.run(
        *services.python('manage.py', environment),
        module,
        *(f'{options} {command}' for command in commands),
        log=f'{module.partition(".")[0]}-manage',
    )


def keystone() -> None:
    """Make Keystone's tables, its keys and the administrator."""
    for folder in ('fernet-keys', 'credential-keys'):
        (layout.DATA / 'keystone' / folder).mkdir(parents=True, mode=0o700)
    owner = (
        f'--keystone-user={pwd.getpwuid(os.getuid()).pw_name}'
        f' --keystone-group={grp.getgrgid(os.getgid()).gr_name}'
    )
    manage(
        'keystone.cmd.manage',
        ('keystone.conf',),
        'db_sync',
        f'fernet_setup {owner}',
        f'credential_setup {owner}',
        f'bootstrap --bootstrap-username={layout.ADMIN}'
        f' --bootstrap-password={layout.PASSWORD}'
        f' --bootstrap-public-url={layout.url("keystone")}/v3'
        f' --bootstrap-region-id={FIRST.name}',
    )


def placement(region: layout.Region) -> None:
    """Make the tables of a region's Placement."""
    manage(
        'placement.cmd.manage',
        (f'{region.name}/placement.conf',),
        'db sync',
        environment=region.nova_environment,
    )


def glance() -> None:
    """Make the tables of Glance, and its folders."""
    for region in layout.REGIONS:
        for folder in ('staging', 'images'):
            path = layout.DATA / f'glance-{region.name}' / folder
            path.mkdir(parents=True)
    manage('glance.cmd.manage', (f'{FIRST.name}/glance.conf',), 'db_sync')
    copy('glance')


def neutron() -> None:
    """Make the tables of Neutron."""
    files = (f'{FIRST.name}/neutron.conf',)
    manage('neutron.db.migration.cli', files, 'upgrade head')
    copy('neutron')


def copy(service: str) -> None:
    """Give the other regions the tables that the first one has.

    The tools of the services take up to half a minute of processor time each;
    a copy takes a second.
    """
    for region in layout.REGIONS[1:]:
        mariadb.copy(f'{service}_{FIRST.name}', f'{service}_{region.name}')


def nova(region: layout.Region) -> None:
    """Make the tables of a region's Nova, and its two cells."""
    cell0 = layout.database(f'nova_cell0_{region.name}')
    manage(
        'nova.cmd.manage',
        services.nova_files(region),
        'api_db sync',
        'db sync --local_cell',
        f'cell_v2 map_cell0 --database_connection {cell0}',
        'cell_v2 create_cell --name cell1',
        environment=region.nova_environment,
    )
    mariadb.copy(f'nova_{region.name}', f'nova_cell0_{region.name}')
