# SPDX-License-Identifier: Apache-2.0

"""Every process of the cloud, as it is started."""

import functools
import pathlib
import sys
from collections.abc import Iterator

from tests.cloud import layout, mariadb, processes, rabbitmq

Service = processes.Service


def program(
    name: str, *files: str, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that starts a daemon or a tool of a service.

    :param files: its configuration files below ``etc``, the last one wins.
    """
    return (str(environment / 'bin' / name), *config_files(*files))


def config_files(*files: str) -> Iterator[str]:
    """Yield the arguments that name configuration files below ``etc``."""
    for file in files:
        yield '--config-file'
        yield str(layout.ETC / file)


def application(
    name: str, port: int, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that serves a WSGI application.

    :param name: where the application is found, as ``wsgi.py`` takes it.
    """
    # -P: the program's folder is no place to import from.
    return (
        *(str(environment / 'bin' / 'python'), '-P'),
        str(layout.ROOT / 'tests' / 'cloud' / 'wsgi.py'),
        *(name, layout.ADDRESS, str(port)),
    )


def nova_files(region: layout.Region) -> tuple[str, str]:
    """Return Nova's configuration in a region.

    :returns: what all processes read, and what only those read that use the
        databases.
    """
    return f'{region.name}/nova.conf', f'{region.name}/nova-database.conf'


def nova_api(region: layout.Region) -> Service:
    """Return Nova's API in a region.

    :returns: Nova's own program where there is one; the newer versions bring
        the application only.
    """
    name, port = f'{region.name}.nova-api', region.port('nova')
    files = nova_files(region)
    environment = region.nova_environment
    if (environment / 'bin' / 'nova-api').exists():
        return Service(name, program('nova-api', *files), port)
    return Service(
        name,
        application('nova.wsgi.osapi_compute:application', port, environment),
        port,
        {
            'OS_NOVA_CONFIG_DIR': str(layout.ETC),
            # The first one says what the application consists of.
            'OS_NOVA_CONFIG_FILES': ';'.join(
                (str(environment / 'etc' / 'nova' / 'api-paste.ini'), *files)
            ),
        },
    )


def of_region(region: layout.Region) -> list[Service]:
    """Return the services that each region has."""
    name = region.name
    placement, glance, neutron = map(
        region.port, ('placement', 'glance', 'neutron')
    )
    nova = nova_files(region)
    nova_program = functools.partial(
        program, environment=region.nova_environment
    )
    return [
        Service(
            f'{name}.placement',
            application(
                'placement.wsgi:init_application()',
                placement,
                region.environment('placement'),
            ),
            placement,
            {'OS_PLACEMENT_CONFIG_DIR': str(layout.ETC / name)},
        ),
        Service(
            f'{name}.glance-api',
            program('glance-api', f'{name}/glance-api.conf'),
            glance,
        ),
        Service(
            f'{name}.neutron-server',
            program('neutron-server', f'{name}/neutron.conf'),
            neutron,
        ),
        nova_api(region),
        Service(
            f'{name}.nova-conductor', nova_program('nova-conductor', *nova)
        ),
        *(
            Service(
                f'{name}.nova-scheduler-{number}',
                # At DEBUG it says what each host weighs, and why one is no
                # candidate.
                (
                    *nova_program(
                        'nova-scheduler',
                        *nova,
                        f'{name}/scheduler-{number}.conf',
                    ),
                    '--debug',
                ),
            )
            for number in (1, 2)
        ),
        *(
            Service(
                f'{name}.nova-compute-{host}',
                nova_program('nova-compute', nova[0], f'{name}/{host}.conf'),
            )
            for host in region.hosts
        ),
    ]


def heat() -> list[Service]:
    """Return Heat's services."""
    return [
        Service(
            'heat-api', program('heat-api', 'heat.conf'), layout.port('heat')
        ),
        *(
            Service(name, program('heat-engine', 'heat.conf', f'{name}.conf'))
            for name in ('heat-engine-1', 'heat-engine-2')
        ),
    ]


def senlin() -> list[Service]:
    """Return Senlin's services."""

    def command(name: str, *files: str) -> tuple[str, ...]:
        return (
            *(sys.executable, '-P'),
            str(layout.ROOT / 'tests' / 'cloud' / 'senlin_program.py'),
            f'senlin.cmd.{name}',
            *config_files('senlin.conf', *files),
        )

    return [
        Service('senlin-api', command('api'), layout.port('senlin')),
        Service('senlin-conductor', command('conductor')),
        Service('senlin-health-manager', command('health_manager')),
        *(
            Service(name, command('engine', f'{name}.conf'))
            for name in ('senlin-engine-1', 'senlin-engine-2')
        ),
    ]


def keystone() -> Service:
    """Return Keystone."""
    port = layout.port('keystone')
    return Service(
        'keystone',
        application(
            'keystone.server.wsgi:initialize_public_application()', port
        ),
        port,
        {'OS_KEYSTONE_CONFIG_DIR': str(layout.ETC)},
    )


def named(name: str) -> Service:
    """Return one of the services by its name."""
    return next(
        service
        for service in (
            *(mariadb.service(), rabbitmq.port_mapper(), rabbitmq.service()),
            *(keystone(), *heat(), *senlin()),
            *(one for region in layout.REGIONS for one in of_region(region)),
        )
        if service.name == name
    )
