# SPDX-License-Identifier: Apache-2.0

"""Boot the cloud from nothing, and take it down again."""

import concurrent.futures
import functools
import graphlib
import shutil
import subprocess
import sys
import time
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
    services,
    tables,
)

#: How many steps run at the same time. More of them only wait for each
#: other on a machine with two processors.
WORKERS = 4

#: What to do, and the names of the steps that must be done before.
Step = tuple[Callable[[], object], tuple[str, ...]]


def up() -> None:
    """Boot the cloud; end the process with the reason if that fails."""
    if names := processes.all_running():
        sys.exit(
            f'{len(names)} services of the cloud run already; "down" stops '
            'them. The cloud is always booted from nothing, because the fake '
            'computes of Nova do not survive a restart of the host.'
        )
    if packages := install.missing():
        sys.exit(f'{" ".join(packages)} missing: run "install" as root')
    for region in layout.REGIONS:
        python = region.nova_environment / 'bin' / 'python'
        needed = 'import nova, placement, nova_filters, pymysql, waitress'
        if not python.exists() or subprocess.call((python, '-c', needed)):
            sys.exit(
                f'the Nova of {region.name} cannot run from {python}: '
                f'run "make env ENV={region.nova_environment.name}"'
            )
    began = time.monotonic()
    shutil.rmtree(layout.FOLDER, ignore_errors=True)
    for folder in (layout.ETC, layout.LOG, layout.RUN, layout.DATA):
        folder.mkdir(parents=True)
    (layout.DATA / 'locks').mkdir()
    layout.choose_ports()
    configuration.write_all()
    rabbitmq.configure()
    try:
        run(all_steps())
    except BaseException as exc:
        print(*logs.errors(), sep='\n')
        down()
        sys.exit(f'the cloud did not come up: {type(exc).__name__}: {exc}')
    print(f'the cloud is up after {time.monotonic() - began:.0f} s')


def down() -> None:
    """Stop every service that runs; the logs stay."""
    # Nobody needs a goodbye of services whose data are thrown away.
    for name in processes.all_running():
        processes.kill(name)
    shutil.rmtree(layout.DATA, ignore_errors=True)
    print('the cloud is down')


def run(steps: dict[str, Step]) -> None:
    """Do all steps, each as soon as those before it are done.

    :param steps: by name; those that take longest first.
    :raises Exception: what a step raises; no other is begun then.
    """
    began = time.monotonic()
    order = graphlib.TopologicalSorter(
        {name: after for name, (_, after) in steps.items()}
    )
    order.prepare()
    running = {}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        while order.is_active():
            for name in order.get_ready():
                running[pool.submit(steps[name][0])] = name
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in done:
                name = running.pop(future)
                if future.exception():
                    pool.shutdown(wait=False, cancel_futures=True)
                    print(f'FAILED  {name}')
                future.result()
                order.done(name)
                print(f'{time.monotonic() - began:6.1f} s  {name}', flush=True)


def all_steps() -> dict[str, Step]:
    """Return everything that has to be done, in an order that is quick."""
    basis = ('catalog', 'rabbitmq')
    found: dict[str, Step] = {
        'mariadb': (start_mariadb, ()),
        'rabbitmq': (start_rabbitmq, ()),
        'databases': (tables.create, ('mariadb',)),
        'keystone tables': (tables.keystone, ('databases',)),
    }
    for region in layout.REGIONS:
        found[f'{region.name} nova tables'] = (
            functools.partial(tables.nova, region),
            ('databases',),
        )
    found |= {
        'neutron tables': (tables.neutron, ('databases',)),
        'heat tables': (tables.heat, ('databases',)),
        'senlin tables': (tables.senlin, ('databases',)),
        'glance tables': (tables.glance, ('databases',)),
        **steps_of([services.keystone()], 'keystone tables'),
        'catalog': (catalog.fill, ('keystone',)),
        **steps_of(services.heat(), 'heat tables', *basis),
        **steps_of(services.senlin(), 'senlin tables', *basis),
    }
    for region in layout.REGIONS:
        name = region.name
        found[f'{name} placement tables'] = (
            functools.partial(tables.placement, region),
            ('databases',),
        )
        started = services.of_region(region)
        for service in started:
            kind = service.name.removeprefix(f'{name}.').partition('-')[0]
            own = f'{name} ' if kind in ('nova', 'placement') else ''
            # Nova 34 ends if Placement does not answer when it starts.
            asked = [f'{name}.placement'] * (kind == 'nova')
            found |= steps_of([service], f'{own}{kind} tables', *basis, *asked)
        found[f'{name} flavor and image'] = (
            functools.partial(fill_region, region),
            (f'{name}.nova-api', f'{name}.glance-api'),
        )
        found |= waiting(
            f'{name} networks',
            functools.partial(readiness.neutron, region),
            f'{name}.neutron-server',
        )
        found |= waiting(
            f'{name} hosts',
            functools.partial(readiness.nova, region),
            *(service.name for service in started),
        )
    for name, path in (
        ('heat', f'{layout.url("heat")}/v1/PROJECT/services'),
        ('senlin', f'{layout.url("senlin")}/v1/services'),
    ):
        found |= waiting(
            f'{name} engines',
            functools.partial(readiness.engines, path, f'{name}-engine'),
            *(one for one in found if one.startswith(f'{name}-')),
        )
    return found


def steps_of(started: list[processes.Service], *after: str) -> dict[str, Step]:
    """Return the steps that start services, by the services' names."""
    return {
        service.name: (functools.partial(readiness.start, service), after)
        for service in started
    }


def waiting(
    name: str, check: Callable[[], object], *after: str
) -> dict[str, Step]:
    """Return a step that waits for services."""
    wait = functools.partial(readiness.wait_until, check, *after)
    return {name: (wait, after)}


def start_mariadb() -> None:
    """Make and start MariaDB."""
    mariadb.prepare()
    readiness.start(mariadb.service(), mariadb.check)


def start_rabbitmq() -> None:
    """Start RabbitMQ and the port mapper that it needs."""
    readiness.start(rabbitmq.port_mapper(), rabbitmq.check_port_mapper)
    readiness.start(rabbitmq.service(), rabbitmq.check)


def fill_region(region: layout.Region) -> None:
    """Make the flavor and the image that a server needs."""
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
