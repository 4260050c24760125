# SPDX-License-Identifier: Apache-2.0

"""Every process of the cloud, as it is started."""

import getpass
import json
import pathlib
import subprocess
from collections.abc import Iterator
from typing import Any

from tests.cloud import layout
from tests.cloud.layout import PORTS
from tests.cloud.processes import Service

SOCKET = layout.DATA / 'mariadb.sock'


def program(
    environment: pathlib.Path, name: str, *files: str
) -> tuple[str, ...]:
    """Return the command that runs a program of a service.

    :param files: its configuration files below ``etc``, the last one wins.
    """
    options = [f'--config-file={layout.ETC / file}' for file in files]
    return (str(environment / 'bin' / name), *options)


def python(
    environment: pathlib.Path, name: str, *words: str
) -> tuple[str, ...]:
    """Return the command that runs a program of this folder."""
    # -P: the program's folder is no place to import from.
    file = layout.ROOT / 'tests' / 'cloud' / name
    return (str(environment / 'bin' / 'python'), '-P', str(file), *words)


def mariadb() -> Service:
    """Return MariaDB, which need not survive a power cut."""
    port = PORTS['mariadb']
    command = (
        '/usr/sbin/mariadbd',
        '--no-defaults',
        f'--user={getpass.getuser()}',
        f'--datadir={layout.DATA / "mariadb"}',
        f'--socket={SOCKET}',
        f'--bind-address={layout.ADDRESS}',
        f'--port={port}',
        '--max-connections=2000',
        '--character-set-server=utf8mb3',
        '--skip-name-resolve',
        '--skip-log-bin',
        '--innodb-flush-log-at-trx-commit=0',
        '--innodb-doublewrite=0',
        '--innodb-flush-method=nosync',
        '--performance-schema=0',
    )
    return Service('mariadb', command, port)


def rabbitmq() -> Service:
    """Return RabbitMQ, which starts a port mapper of its own.

    The program of the same name in /usr/sbin insists on the system's user and
    on its folders.
    """
    return Service(
        'rabbitmq',
        ('/usr/lib/rabbitmq/bin/rabbitmq-server',),
        PORTS['rabbitmq'],
        {
            'RABBITMQ_NODENAME': 'cloud@localhost',
            'RABBITMQ_CONF_ENV_FILE': '/dev/null',
            'RABBITMQ_CONFIG_FILE': str(layout.ETC / 'rabbitmq.conf'),
            'RABBITMQ_ENABLED_PLUGINS_FILE': str(layout.DATA / 'plugins'),
            'RABBITMQ_MNESIA_BASE': str(layout.DATA / 'rabbitmq'),
            'RABBITMQ_LOGS': '-',
            'RABBITMQ_DIST_PORT': str(PORTS['erlang']),
            'ERL_EPMD_ADDRESS': layout.ADDRESS,
            'ERL_EPMD_PORT': str(PORTS['epmd']),
            # Erlang's schedulers would spin while they have nothing to do,
            # and others need the processors.
            'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS': (
                '-kernel inet_dist_use_interface {127,0,0,1} '
                '+sbwt none +sbwtdcpu none +sbwtdio none'
            ),
        },
    )


def keystone() -> Service:
    application = 'keystone.server.wsgi:initialize_public_application'
    port = PORTS['keystone']
    return Service(
        'keystone',
        python(layout.ENVIRONMENT, 'wsgi.py', application, str(port)),
        port,
        {'OS_KEYSTONE_CONFIG_DIR': str(layout.ETC)},
    )


def placement(region: layout.Region) -> Service:
    application = 'placement.wsgi:init_application'
    name = f'{region.name}.placement'
    port = PORTS[name]
    return Service(
        name,
        python(region.environment, 'wsgi.py', application, str(port)),
        port,
        {'OS_PLACEMENT_CONFIG_DIR': str(layout.ETC / region.name)},
    )


def nova_files(region: layout.Region) -> tuple[str, str]:
    """Return Nova's configuration in a region.

    :returns: what all processes read, and what only those read that use the
        databases.
    """
    return f'{region.name}/nova.conf', f'{region.name}/nova-database.conf'


def ask_nova(region: layout.Region, name: str, *words: str) -> Any:
    """Return what a program of this folder prints that reads nova.conf."""
    _, *options = program(region.environment, '', *nova_files(region))
    printed = subprocess.check_output(
        python(region.environment, name, *words, *options), cwd=layout.DATA
    )
    return json.loads(printed)


def nova_api(region: layout.Region) -> Service:
    """Return Nova's API in a region.

    The newest Nova has no program for it.
    """
    port = PORTS[f'{region.name}.nova']
    name = f'{region.name}.nova-api'
    files = nova_files(region)
    if region.environment != layout.NEWEST:
        return Service(
            name, program(region.environment, 'nova-api', *files), port
        )
    application = 'nova.wsgi.osapi_compute:application'
    # The first one says what the application consists of.
    pipeline = str(region.environment / 'etc' / 'nova' / 'api-paste.ini')
    return Service(
        name,
        python(region.environment, 'wsgi.py', application, str(port)),
        port,
        {
            'OS_NOVA_CONFIG_DIR': str(layout.ETC),
            'OS_NOVA_CONFIG_FILES': ';'.join((pipeline, *files)),
        },
    )


def nova(region: layout.Region) -> Iterator[Service]:
    name, environment = region.name, region.environment
    common, databases = nova_files(region)
    yield nova_api(region)
    yield Service(
        f'{name}.nova-conductor',
        program(environment, 'nova-conductor', common, databases),
    )
    for host in region.schedulers:
        file = f'{name}/{host}.conf'
        yield Service(
            f'{name}.nova-{host}',
            program(environment, 'nova-scheduler', common, databases, file),
        )
    for host in region.hosts:
        yield nova_compute(region, host)


def nova_compute(region: layout.Region, host: str) -> Service:
    """Return the nova-compute of a host."""
    common, _ = nova_files(region)
    file = f'{region.name}/{host}.conf'
    return Service(
        f'{region.name}.nova-compute-{host}',
        program(region.environment, 'nova-compute', common, file),
    )


def shared() -> Iterator[Service]:
    """Yield what both regions share beside Keystone."""
    for name, daemon, port in (
        ('glance', 'glance-api', 'glance'),
        ('neutron', 'neutron-server', 'neutron'),
        ('heat-api', 'heat-api', 'heat'),
        ('heat-engine-1', 'heat-engine', None),
        ('heat-engine-2', 'heat-engine', None),
    ):
        file = f'{name.partition("-")[0]}.conf'
        command = program(layout.ENVIRONMENT, daemon, file)
        yield Service(name, command, port and PORTS[port])
    file = f'--config-file={layout.ETC / "senlin.conf"}'
    for name, module, port in (
        ('senlin-api', 'api', 'senlin'),
        ('senlin-conductor', 'conductor', None),
        ('senlin-health-manager', 'health_manager', None),
        ('senlin-engine-1', 'engine', None),
        ('senlin-engine-2', 'engine', None),
    ):
        words = 'senlin_program.py', f'senlin.cmd.{module}', file
        command = python(layout.ENVIRONMENT, *words)
        yield Service(name, command, port and PORTS[port])
