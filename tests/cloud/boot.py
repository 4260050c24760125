# SPDX-License-Identifier: Apache-2.0

"""Boot the cloud from nothing, and take it down again."""

import concurrent.futures
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial

from tests.cloud import (
    catalog,
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


def up() -> None:
    """Boot the cloud; end the process with the reason if that fails."""
    if names := processes.running():
        sys.exit(
            f'{len(names)} services of the cloud run already; "down" stops '
            'them. The cloud is always booted from nothing, because the fake '
            'computes of Nova do not survive a restart of the host.'
        )
    if packages := install.missing():
        sys.exit(f'{" ".join(packages)} missing: run "install" as root')
    if not layout.NEWEST.exists():
        sys.exit(f'run "make env ENV={layout.NEWEST.name}" first')
    began = time.monotonic()
    shutil.rmtree(layout.FOLDER, ignore_errors=True)
    for folder in (layout.ETC, layout.LOG, layout.DATA):
        folder.mkdir(parents=True)
    (layout.DATA / 'locks').mkdir()
    layout.choose_ports()
    configuration.write_all()
    rabbitmq.configure()
    try:
        start_all()
    except BaseException as exc:
        print(*logs.errors(), sep='\n')
        down()
        sys.exit(f'the cloud did not come up: {type(exc).__name__}: {exc}')
    print(f'the cloud is up after {time.monotonic() - began:.0f} s')


def down() -> None:
    """Stop every service that runs; the logs stay."""
    # Nobody needs a goodbye of services whose data are thrown away.
    for name in processes.running():
        processes.kill(name)
    shutil.rmtree(layout.DATA, ignore_errors=True)
    print('the cloud is down')


def start_all() -> None:
    """Start everything, and wait until it can be used."""
    mariadb.prepare()
    readiness.start(mariadb.service(), mariadb.check)
    mariadb.create(tables.databases())
    # Those that take longest stand first.
    steps = {'keystone': start_keystone, 'rabbitmq': start_rabbitmq}
    for region in layout.REGIONS:
        steps[f'{region.name} nova tables'] = partial(tables.nova, region)
    steps['neutron tables'] = tables.neutron
    for name in 'heat', 'senlin':
        steps[f'{name} tables'] = partial(
            tables.manage,
            f'{name}.cmd.manage',
            (f'{name}.conf',),
            'db_sync',
        )
    steps['glance tables'] = tables.glance
    for region in layout.REGIONS:
        steps[f'{region.name} placement'] = partial(start_placement, region)
    together(steps)
    started = services.independent()
    starts = {
        service.name: partial(readiness.start, service) for service in started
    }
    together(starts)
    waits = {
        'heat engines': partial(readiness.engines, 'orchestration'),
        'senlin engines': partial(readiness.engines, 'clustering'),
    }
    for region in layout.REGIONS:
        waits[f'{region.name} networks'] = partial(readiness.neutron, region)
        waits[f'{region.name} hosts'] = partial(readiness.nova, region)
    names = [service.name for service in started]
    steps = {
        name: partial(readiness.wait_until, check, *names)
        for name, check in waits.items()
    }
    for region in layout.REGIONS:
        steps[f'{region.name} images'] = partial(fill_region, region)
    together(steps)


def together(steps: dict[str, Callable[[], object]]) -> None:
    """Do steps, some of them at once; tell when each is done.

    :raises Exception: what a step raises; no other is begun then.
    """
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        running = {pool.submit(step): name for name, step in steps.items()}
        for done in concurrent.futures.as_completed(running):
            if done.exception():
                pool.shutdown(wait=False, cancel_futures=True)
                print(f'FAILED  {running[done]}')
            done.result()
            print(time.strftime('%X'), running[done], flush=True)


def start_keystone() -> None:
    """Make Keystone's tables, start it, and fill it."""
    tables.keystone()
    readiness.start(services.keystone())
    catalog.fill()


def start_rabbitmq() -> None:
    """Start RabbitMQ and the port mapper that it needs."""
    readiness.start(rabbitmq.port_mapper(), rabbitmq.check_port_mapper)
    readiness.start(rabbitmq.service(), rabbitmq.check)


def start_placement(region: layout.Region) -> None:
    """Start Placement, without which Nova 34 does not start."""
    tables.placement(region)
    readiness.start(services.placement(region))


def fill_region(region: layout.Region) -> None:
    """Make the flavor and the image that servers need."""
    admin = layout.connect(region.name)
    admin.compute.create_flavor(name=layout.FLAVOR, vcpus=1, ram=64, disk=1)
    admin.image.create_image(
        layout.IMAGE,
        data=bytes(1024),
        disk_format='raw',
        container_format='bare',
        visibility='public',
    )
