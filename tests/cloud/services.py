# SPDX-License-Identifier: Apache-2.0

"""Every process of the cloud, as it is started."""

import functools
import itertools
import pathlib
from collections.abc import Iterator

from tests.cloud import layout, processes

Service = processes.Service


def program(
    name: str, *files: str, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that starts a daemon of a service.

    :param files: its configuration files below ``etc``, the last one wins.
    """
    return (str(environment / 'bin' / name), *config_files(*files))


def config_files(*files: str) -> Iterator[str]:
    """Yield the arguments that name configuration files below ``etc``."""
    for file in files:
        yield '--config-file'
        yield str(layout.ETC / file)


def python(
    name: str, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that runs a program of this folder."""
    # -P: the program's folder is no place to import from.
    file = layout.ROOT / 'tests' / 'cloud' / name
    return (str(environment / 'bin' / 'python'), '-P', str(file))


def application(
    name: str, port: int, environment: pathlib.Path = layout.ENVIRONMENT
) -> tuple[str, ...]:
    """Return the command that serves a WSGI application.

    :param name: where the application is found, as ``wsgi.py`` takes it.
    """
    words = name, layout.ADDRESS, str(port)
    return (*python('wsgi.py', environment), *words)


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


def placement(region: layout.Region) -> Service:
    """Return Placement in a region."""
    port, environment = region.port('placement'), region.nova_environment
    return Service(
        f'{region.name}.placement',
        application('placement.wsgi:init_application()', port, environment),
        port,
        {'OS_PLACEMENT_CONFIG_DIR': str(layout.ETC / region.name)},
    )


def of_region(region: layout.Region) -> Iterator[Service]:
    """Yield what each region has beside its Placement."""
    name = region.name
    files = nova_files(region)
    nova = functools.partial(program, environment=region.nova_environment)
    yield nova_api(region)
    for host in region.hosts:
        command = nova('nova-compute', files[0], f'{name}/{host}.conf')
        yield Service(f'{name}.nova-compute-{host}', command)
    for kind, daemon in (
        ('neutron', 'neutron-server'),
        ('glance', 'glance-api'),
    ):
        command = program(daemon, f'{name}/{kind}.conf')
        yield Service(f'{name}.{daemon}', command, region.port(kind))
    yield Service(f'{name}.nova-conductor', nova('nova-conductor', *files))
    for number in (1, 2):
        host_file = f'{name}/scheduler-{number}.conf'
        # At DEBUG it says what each host weighs, and why one is no candidate.
        command = (*nova('nova-scheduler', *files, host_file), '--debug')
        yield Service(f'{name}.nova-scheduler-{number}', command)


def heat() -> Iterator[Service]:
    """Yield Heat's services."""
    port = layout.port('heat')
    yield Service('heat-api', program('heat-api', 'heat.conf'), port)
    for name in ('heat-engine-1', 'heat-engine-2'):
        command = program('heat-engine', 'heat.conf', f'{name}.conf')
        yield Service(name, command)


def senlin() -> Iterator[Service]:
    """Yield Senlin's services."""
    for name, module, port, *files in (
        ('senlin-api', 'api', layout.port('senlin')),
        ('senlin-conductor', 'conductor', None),
        ('senlin-health-manager', 'health_manager', None),
        ('senlin-engine-1', 'engine', None, 'senlin-engine-1.conf'),
        ('senlin-engine-2', 'engine', None, 'senlin-engine-2.conf'),
    ):
        yield Service(
            name,
            (
                *python('senlin_program.py'),
                f'senlin.cmd.{module}',
                *config_files('senlin.conf', *files),
            ),
            port,
        )


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


def independent() -> list[Service]:
    """Return the services that can be started in any order."""
    regional = itertools.chain(*map(of_region, layout.REGIONS))
    return [*regional, *heat(), *senlin()]
