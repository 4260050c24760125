# SPDX-License-Identifier: Apache-2.0

"""Boot the cloud from nothing, and take it down again."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any

from tests.cloud import (
    catalog,
    configuration,
    databases,
    layout,
    processes,
    services,
)

#: What the cloud needs beside Python, and a program that tells whether it is
#: there. The core of MariaDB is its programs alone, without a system daemon;
#: one that mariadb-install-db calls lies in that of the client, on which it
#: does not depend.
PACKAGES = {
    'mariadb-server-core': '/usr/sbin/mariadbd',
    'mariadb-client-core': '/usr/bin/my_print_defaults',
    'rabbitmq-server': '/usr/lib/rabbitmq/bin/rabbitmq-server',
}

#: Debian's maintainer scripts ask this program whether they may start a
#: daemon; 101 stands for "no".
POLICY = pathlib.Path('/usr/sbin/policy-rc.d')

#: How many tables are made at the same time. More programs only wait for each
#: other on a machine with two processors.
WORKERS = 4

#: The rows that say that a cloud can be used: a database, a statement, and
#: how many rows it must find.
SHARED_ROWS = (
    ('heat', 'SELECT id FROM service', 2),
    ('senlin', 'SELECT id FROM service', 4),
)
#: The same for each region, to which the databases belong: three hosts, with
#: their schedulers and a conductor.
REGION_ROWS = (
    ('nova', 'SELECT id FROM services', 6),
    ('nova_api', 'SELECT id FROM host_mappings', 3),
    ('placement', 'SELECT DISTINCT resource_provider_id FROM inventories', 3),
)

#: What a line of a log says that is worth showing, and how many are shown.
SIGNS = re.compile(r' ERROR | CRITICAL |Traceback|[Ee]rror:')
LINES = 15

Started = dict[str, subprocess.Popen[bytes]]


def missing() -> list[str]:
    """Return the packages whose programs are not on this machine."""
    return [
        package
        for package, program in PACKAGES.items()
        if not pathlib.Path(program).exists()
    ]


def install() -> None:
    """Install Debian's MariaDB and RabbitMQ, without system daemons."""
    packages = missing()
    if not packages:
        return
    if os.geteuid() != 0:
        sys.exit(f'{" ".join(packages)} missing: run "install" as root')
    env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    apt = ['apt-get', '-qy', '-o', 'Acquire::Retries=5']
    # A machine that has a rule of its own keeps it.
    if ours := not POLICY.exists():
        POLICY.write_text('#!/bin/sh\nexit 101\n')
        POLICY.chmod(0o755)
    try:
        for command in (
            [*apt, 'update'],
            [*apt, '--no-install-recommends', 'install', *packages],
        ):
            subprocess.run(command, env=env, check=True)
    finally:
        if ours:
            POLICY.unlink()


def up() -> None:
    """Boot the cloud; if that fails, show the errors and stop it."""
    if processes.running():
        sys.exit('the cloud runs already; "down" stops it')
    for port in layout.PORTS.values():
        with socket.socket() as probe:
            if probe.connect_ex((layout.ADDRESS, port)) == 0:
                sys.exit(f'something else listens on port {port}: stop it')
    if packages := missing():
        sys.exit(f'{" ".join(packages)} missing: run "install" as root')
    if not layout.NEWEST.exists():
        sys.exit(f'run "make env ENV={layout.NEWEST.name}" first')
    shutil.rmtree(layout.FOLDER, ignore_errors=True)
    for folder in 'etc', 'log', 'data/locks', 'data/glance/images':
        (layout.FOLDER / folder).mkdir(parents=True)
    (layout.DATA / 'glance' / 'staging').mkdir()
    configuration.write_all()
    try:
        start_all()
    except BaseException:
        show_errors()
        down()
        raise
    print('the cloud is up')


def down() -> None:
    """Stop every service that runs; the logs stay."""
    while pids := processes.running():
        # Nobody needs a goodbye of services whose data are thrown away.
        processes.send(signal.SIGKILL, *pids)
        time.sleep(0.1)
    shutil.rmtree(layout.DATA, ignore_errors=True)
    print('the cloud is down')


def show_errors() -> None:
    """Show the last errors in all logs."""
    for log in sorted(layout.LOG.glob('*.log')):
        lines = log.read_text(errors='replace').splitlines()
        if errors := [line for line in lines if SIGNS.search(line)]:
            print(f'--- {log}', *errors[-LINES:], sep='\n')


def start_all() -> None:
    """Start everything, and wait until it can be used."""
    started: Started = {}
    databases.prepare()
    start(started, services.mariadb(), services.rabbitmq())
    databases.create()
    with futures.ThreadPoolExecutor(WORKERS) as pool:
        # Those that take longest stand first.
        regions = layout.REGIONS
        jobs = [pool.submit(databases.fill_nova, each) for each in regions]
        jobs.append(pool.submit(databases.fill_keystone))
        jobs.append(pool.submit(databases.fill_neutron))
        for name in 'heat', 'senlin', 'glance':
            jobs.append(pool.submit(databases.fill_shared, name))
        for each in regions:
            jobs.append(pool.submit(databases.fill_placement, each))
        for job in futures.as_completed(jobs):
            job.result()
    # Nova 34 does not start without Placement.
    early = [services.placement(region) for region in layout.REGIONS]
    start(started, services.keystone(), *early)
    catalog.fill()
    late = list(services.shared())
    rows = list(SHARED_ROWS)
    for region in layout.REGIONS:
        late += services.nova(region)
        for database, statement, count in REGION_ROWS:
            rows.append((f'{database}_{region.name}', statement, count))
    start(started, *late)
    for row in rows:
        wait_until(started, check_rows, *row)
    # The first request for ports fails until networks were asked for.
    list(layout.connect().network.networks())
    catalog.fill_clouds()


def start(started: Started, *wanted: processes.Service) -> None:
    """Start services, and wait until all listen that ever will."""
    for service in wanted:
        print(time.strftime('%X'), service.name, flush=True)
        started[service.name] = processes.start(service)
    for service in wanted:
        if service.port:
            wait_until(started, check_listens, service.port)


def wait_until(
    started: Started, check: Callable[..., None], *words: Any
) -> None:
    """Wait until a check raises nothing.

    :raises SystemExit: when one of the services ends.
    """

    def check_all() -> None:
        for name, process in started.items():
            if process.poll() is not None:
                sys.exit(f'{name} has ended')
        check(*words)

    processes.wait_until(check_all)


def check_listens(port: int) -> None:
    """Raise unless somebody listens at a port."""
    with socket.create_connection((layout.ADDRESS, port), 5):
        pass


def check_rows(database: str, statement: str, count: int) -> None:
    """Raise unless a statement finds enough rows."""
    rows = databases.query(database, statement)
    if len(rows) < count:
        raise LookupError(f'{len(rows)} of {count} rows: {statement}')
