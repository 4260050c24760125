# SPDX-License-Identifier: Apache-2.0

"""Boot the cloud, look at it, and take it down again."""

import functools
import shutil
from collections.abc import Callable

from tests.cloud import (
    catalog,
    clients,
    configuration,
    install,
    layout,
    logs,
    mariadb,
    processes,
    rabbitmq,
    readiness,
    schema,
    services,
    steps,
)

Step = steps.Step
Say = Callable[[str], object]


class BootFailed(Exception):
    """The cloud did not come up; says why."""


def running() -> list[str]:
    """Return the names of the services of which anything runs."""
    return [
        name
        for name, service in services.ALL.items()
        if processes.members(service)
    ]


def up(say: Say) -> None:
    """Boot the cloud from nothing.

    :param say: gets a line for each step.
    :raises BootFailed: when it does not come up; nothing runs then.
    """
    if names := running():
        raise BootFailed(
            f'{len(names)} services of the cloud run already; "down" stops '
            'them. It is always booted from nothing, because the fake '
            'computes of Nova do not survive a restart of the host.'
        )
    if packages := install.missing():
        raise BootFailed(
            f'{" ".join(packages)} missing: run "install" as root'
        )
    for region in layout.REGIONS:
        environment = region.nova_environment
        if not services.can_run_nova(environment):
            raise BootFailed(
                f'the Nova of {region.name} cannot run from {environment}: '
                f'run "make env ENV={environment.name}"'
            )
    if taken := layout.taken_ports():
        raise BootFailed('ports are in use: ' + '; '.join(taken))
    shutil.rmtree(layout.FOLDER, ignore_errors=True)
    for folder in (layout.ETC, layout.LOG, layout.RUN, layout.DATA):
        folder.mkdir(parents=True)
    (layout.DATA / 'locks').mkdir()
    configuration.write_all()
    rabbitmq.configure()
    try:
        steps.run(all_steps(), say)
    except steps.StepFailed as exc:
        say(f'FAILED  {exc}')
        for line in logs.of_failure(exc.step.name):
            say(line)
        down(say)
        raise BootFailed(f'the cloud did not come up: {exc}') from exc
    except BaseException:
        down(say)
        raise


def down(say: Say) -> None:
    """Stop every service that runs; the logs stay.

    :param say: gets a line for each service.
    """
    # What others depend on goes last.
    for name, service in reversed(services.ALL.items()):
        quick = service in (mariadb.SERVICE, rabbitmq.SERVICE, rabbitmq.EPMD)
        # Nobody needs a goodbye of services whose data are thrown away.
        if processes.stop(service, grace=10.0 if quick else 0.0):
            say(f'stopped {name}')
    shutil.rmtree(layout.DATA, ignore_errors=True)


def start(service: processes.Service, check: Callable[[], object]) -> None:
    """Start a service and wait until it can be used.

    :param service: which one.
    :param check: raises as long as it cannot be used.
    :raises readiness.NotReady: when it does not get ready, or dies.
    """
    processes.start(service)
    readiness.wait_until(check, alive=functools.partial(alive, service))


def alive(*wanted: processes.Service) -> None:
    """Raise unless services run.

    :param wanted: which ones.
    :raises readiness.NotReady: when one does not.
    """
    for service in wanted:
        if processes.pid_of(service) is None:
            raise readiness.NotReady(f'{service.name} has ended')


def all_steps() -> list[Step]:
    """Return everything that has to be done, in an order that is quick."""
    found = [
        Step('mariadb', start_mariadb),
        Step('rabbitmq', start_rabbitmq),
        Step('databases', schema.create, ('mariadb',)),
        Step('keystone tables', schema.keystone, ('databases',)),
        Step(
            'keystone',
            functools.partial(
                start,
                services.KEYSTONE,
                functools.partial(readiness.answers, layout.PORTS['keystone']),
            ),
            ('keystone tables',),
        ),
        Step('catalog', catalog.fill, ('keystone',)),
    ]
    # Those that take longest first.
    for name, make in (
        ('neutron', schema.neutron),
        *regional(schema.nova),
        *regional(schema.nova_api),
        ('heat', schema.heat),
        ('senlin', schema.senlin),
        ('glance', schema.glance),
        *regional(schema.placement),
    ):
        found.append(Step(f'{name} tables', make, ('databases',)))
    for region in layout.REGIONS:
        found += steps_of(region)
    found += central_steps('heat', services.HEAT, layout.PORTS['heat'])
    found += central_steps('senlin', services.SENLIN, layout.PORTS['senlin'])
    return found


def regional(
    make: Callable[[layout.Region], None],
) -> list[tuple[str, Callable[[], None]]]:
    """Return what makes the same tables in each region.

    :param make: makes them in one.
    :returns: for each region what the tables are called, and what makes them.
    """
    return [
        (
            f'{region.name} {make.__name__}',
            functools.partial(make, region),
        )
        for region in layout.REGIONS
    ]


def steps_of(region: layout.Region) -> list[Step]:
    """Return the steps that start the services of one region.

    :param region: which one.
    """
    name = region.name
    found = [
        Step(
            f'{name} nova cells',
            functools.partial(schema.cells, region),
            (f'{name} nova tables', f'{name} nova_api tables'),
        )
    ]
    started = []
    for service in services.of_region(region):
        kind = service.name.partition('.')[2].split('-')[0]
        port = None
        made = {
            'nova': f'{name} nova cells',
            'placement': f'{name} placement tables',
        }.get(kind, f'{kind} tables')
        if not service.name.startswith(f'{name}.nova-'):
            port = region.ports()[kind]
        elif service.name == f'{name}.nova-api':
            port = region.ports()['nova']
        found.append(
            Step(
                service.name,
                functools.partial(start, service, checker(service, port)),
                (made, 'catalog', 'rabbitmq'),
            )
        )
        started.append(service.name)
    found += [
        Step(
            f'{name} hosts',
            functools.partial(find_hosts, region),
            tuple(started),
        ),
        Step(
            f'{name} flavor and image',
            functools.partial(fill_region, region),
            (f'{name}.nova-api', f'{name}.glance-api'),
        ),
        Step(
            f'{name} networks',
            functools.partial(
                readiness.wait_until,
                functools.partial(readiness.neutron, region),
            ),
            (f'{name}.neutron-server',),
        ),
    ]
    return found


def central_steps(
    name: str, started: list[processes.Service], port: int
) -> list[Step]:
    """Return the steps that start Heat or Senlin.

    :param name: which of them.
    :param started: its services.
    :param port: where its API listens.
    """
    after = (f'{name} tables', 'catalog', 'rabbitmq')
    found = []
    for service in started:
        is_api = service.name == f'{name}-api'
        found.append(
            Step(
                service.name,
                functools.partial(
                    start, service, checker(service, port if is_api else None)
                ),
                after,
            )
        )
    path = {
        'heat': f'{layout.url("heat")}/v1/%(tenant_id)s/services',
        'senlin': f'{layout.url("senlin")}/v1/services',
    }[name]
    found.append(
        Step(
            f'{name} engines',
            functools.partial(
                readiness.wait_until,
                readiness.engines(path, f'{name}-engine', 2),
                alive=functools.partial(alive, *started),
            ),
            tuple(service.name for service in started),
        )
    )
    return found


def checker(
    service: processes.Service, port: int | None
) -> Callable[[], object]:
    """Return the check for one service by itself.

    :param service: which one.
    :param port: where it listens; None for one that reports itself to its
        service's database, which is looked at later.
    """
    if port is None:
        return functools.partial(alive, service)
    return functools.partial(readiness.answers, port)


def start_mariadb() -> None:
    """Make and start MariaDB."""
    mariadb.prepare()
    start(mariadb.SERVICE, mariadb.ready)


def start_rabbitmq() -> None:
    """Start RabbitMQ and the port mapper that it needs."""
    start(rabbitmq.EPMD, rabbitmq.epmd_ready)
    start(rabbitmq.SERVICE, rabbitmq.ready)


def find_hosts(region: layout.Region) -> None:
    """Wait for a region's Nova and let it know its compute hosts.

    :param region: the region.
    """
    wanted = [
        service
        for service in services.of_region(region)
        if '.nova-' in service.name
    ]
    readiness.wait_until(
        functools.partial(readiness.nova, region),
        alive=functools.partial(alive, *wanted),
    )
    schema.discover(region)
    readiness.wait_until(functools.partial(readiness.hypervisors, region))


def fill_region(region: layout.Region) -> None:
    """Make the flavor and the image that a server needs.

    :param region: where.
    """
    admin = clients.connect(region.name)
    admin.compute.create_flavor(name=layout.FLAVOR, vcpus=1, ram=64, disk=1)
    admin.image.create_image(
        layout.IMAGE,
        data=bytes(1024),
        disk_format='raw',
        container_format='bare',
        visibility='public',
        allow_duplicates=True,
    )
