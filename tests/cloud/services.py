# SPDX-License-Identifier: Apache-2.0

"""Every process of the cloud, as it is started."""

import functools
import pathlib
import subprocess
import sys
from collections.abc import Iterator

from tests.cloud import layout, mariadb, processes, rabbitmq

Service = processes.Service


def program(
    name: str, *files: str, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that starts a daemon of a service.

    :param name: the program, as pip has installed it.
    :param files: its configuration files below ``etc``, the last one wins.
    :param environment: the environment that it is installed in.
    :returns: the program and its arguments.
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
    :param port: where it listens.
    :param environment: the environment that it is installed in.
    :returns: the program and its arguments.
    """
    # -P: the program's folder is no place to import from.
    return (
        str(environment / 'bin' / 'python'),
        '-P',
        str(layout.ROOT / 'tests' / 'cloud' / 'wsgi.py'),
        name,
        layout.ADDRESS,
        str(port),
    )


def can_run_nova(environment: pathlib.Path) -> bool:
    """Return whether an environment has what Nova and Placement run with.

    :param environment: its folder, which need not exist.
    """
    python = environment / 'bin' / 'python'
    needed = 'nova, placement, nova_filters, pymysql, waitress'
    return python.exists() and not subprocess.call(
        (python, '-c', f'import {needed}'),
        cwd=environment,
        env=processes.environment(),
        stderr=subprocess.DEVNULL,
    )


def nova_files(region: layout.Region) -> tuple[str, str]:
    """Return Nova's configuration in a region.

    :param region: which one.
    :returns: what all processes read, and what only those read that use the
        databases.
    """
    return f'{region.name}/nova.conf', f'{region.name}/nova-database.conf'


def nova_api(region: layout.Region) -> Service:
    """Return Nova's API in a region.

    :param region: which one.
    :returns: Nova's own program where there is one; the newer versions bring
        the application only.
    """
    name = f'{region.name}.nova-api'
    files = nova_files(region)
    environment = region.environment('nova')
    if (environment / 'bin' / 'nova-api').exists():
        return Service(name, program('nova-api', *files))
    return Service(
        name,
        application(
            'nova.wsgi.osapi_compute:application',
            region.ports()['nova'],
            environment,
        ),
        {
            'OS_NOVA_CONFIG_DIR': str(layout.ETC),
            # The first one says what the application consists of.
            'OS_NOVA_CONFIG_FILES': ';'.join(
                (str(environment / 'etc' / 'nova' / 'api-paste.ini'), *files)
            ),
        },
    )


def of_region(region: layout.Region) -> list[Service]:
    """Return the services that each region has.

    :param region: which one.
    :returns: the services.
    """
    name = region.name
    ports = region.ports()
    nova = nova_files(region)
    nova_program = functools.partial(
        program, environment=region.environment('nova')
    )
    return [
        Service(
            f'{name}.placement',
            application(
                'placement.wsgi:init_application()',
                ports['placement'],
                region.environment('placement'),
            ),
            {'OS_PLACEMENT_CONFIG_DIR': str(layout.ETC / name)},
        ),
        Service(
            f'{name}.glance-api',
            program('glance-api', f'{name}/glance-api.conf'),
        ),
        Service(
            f'{name}.neutron-server',
            program('neutron-server', f'{name}/neutron.conf'),
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


def senlin(name: str, number: int = 0) -> Service:
    """Return one of Senlin's services.

    :param name: what Senlin calls it.
    :param number: which one, if there are several.
    :returns: the service.
    """
    files = ['senlin.conf']
    if number:
        files.append(f'senlin-{name}-{number}.conf')
    return Service(
        '-'.join(['senlin', name, *([str(number)] if number else [])]),
        (
            sys.executable,
            '-P',
            str(layout.ROOT / 'tests' / 'cloud' / 'senlin_program.py'),
            f'senlin.cmd.{name.replace("-", "_")}',
            *config_files(*files),
        ),
    )


KEYSTONE = Service(
    'keystone',
    application(
        'keystone.server.wsgi:initialize_public_application()',
        layout.PORTS['keystone'],
    ),
    {'OS_KEYSTONE_CONFIG_DIR': str(layout.ETC)},
)

HEAT = [
    Service('heat-api', program('heat-api', 'heat.conf')),
    *(
        Service(
            f'heat-engine-{number}',
            program('heat-engine', 'heat.conf', f'heat-engine-{number}.conf'),
        )
        for number in (1, 2)
    ),
]

SENLIN = [
    senlin('api'),
    senlin('conductor'),
    senlin('health-manager'),
    senlin('engine', 1),
    senlin('engine', 2),
]

#: All of them, in the order in which they are started.
ALL = {
    service.name: service
    for service in (
        mariadb.SERVICE,
        rabbitmq.EPMD,
        rabbitmq.SERVICE,
        KEYSTONE,
        *(
            service
            for region in layout.REGIONS
            for service in of_region(region)
        ),
        *HEAT,
        *SENLIN,
    )
}
