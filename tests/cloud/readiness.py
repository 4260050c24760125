# SPDX-License-Identifier: Apache-2.0

"""Tell whether a service can be used, not only whether it runs."""

import http.client
import time
from collections.abc import Callable
from typing import Any

from tests.cloud import layout, mariadb, processes

#: How long a service may take to get ready, in seconds.
TIMEOUT = 300.0


class NotReady(Exception):
    """What is asked for is not there yet; says what is missing."""


def wait_until(
    check: Callable[[], Any],
    *alive: str,
    not_yet: type[Exception] = Exception,
) -> Any:
    """Wait until a check raises nothing, and return what it returns.

    :param alive: the services that must run meanwhile.
    :param not_yet: what the check raises as long as it does not hold.
    :raises NotReady: when the time is over, with the check's last words, or
        when one of the services has ended.
    """
    deadline = time.monotonic() + TIMEOUT
    while True:
        if alive and (ended := set(alive).difference(processes.running())):
            raise NotReady(f'{sorted(ended)} ended')
        try:
            return check()
        except not_yet as exc:
            if time.monotonic() > deadline:
                raise NotReady(
                    f'not ready after {TIMEOUT:.0f} s: '
                    f'{type(exc).__name__}: {exc}'
                ) from exc
        time.sleep(0.3)


def start(
    service: processes.Service, check: Callable[[], object] | None = None
) -> None:
    """Start a service and wait until it can be used.

    :param check: raises as long as it cannot be used; by default, that it
        answers at its port if it has one.
    :raises NotReady: when it does not get ready, or dies.
    """
    processes.start(service)
    if check is not None or service.port is not None:
        wait_until(check or (lambda: answers(service.port)), service.name)


def answers(port: int) -> None:
    """Raise unless an HTTP server on a port answers sensibly.

    :param port: on the loopback address.
    :raises NotReady: when the answer is an error of the server.
    """
    connection = http.client.HTTPConnection(layout.ADDRESS, port, timeout=10)
    try:
        connection.request('GET', '/')
        status = connection.getresponse().status
    finally:
        connection.close()
    if status >= 500:
        raise NotReady(f'HTTP {status}')


def nova(region: layout.Region) -> None:
    """Raise unless servers can be placed on all hosts of a region.

    :raises NotReady: says which table lacks what.
    """
    hosts = set(region.hosts)
    for database, needed, query in (
        (
            'nova',
            hosts | {'scheduler-1', 'scheduler-2'},
            'SELECT host FROM services',
        ),
        ('nova_api', hosts, 'SELECT host FROM host_mappings'),
        (
            'placement',
            hosts,
            'SELECT name FROM resource_providers AS p JOIN inventories AS i'
            ' ON i.resource_provider_id = p.id',
        ),
    ):
        rows = mariadb.query(f'{database}_{region.name}', query)
        if missing := needed.difference(name for (name,) in rows):
            raise NotReady(f'{database} does not know {sorted(missing)}')


def neutron(region: layout.Region) -> None:
    """Raise unless ports can be listed.

    The first request for ports fails until networks were asked for.
    """
    admin = layout.connect(region.name)
    list(admin.network.networks())
    list(admin.network.ports())


def engines(kind: str) -> None:
    """Raise unless both engines of Heat or Senlin are there.

    :param kind: as the catalog names the service.
    """
    # The APIs wait a minute for what does not run yet.
    answer = getattr(layout.connect(), kind).get('/services', timeout=10)
    up = [
        service
        for service in answer.json()['services']
        if service['binary'].endswith('-engine')
        and service.get('state', service.get('status')) == 'up'
    ]
    if len(up) < 2:
        raise NotReady(f'{len(up)} of 2 engines are up')
