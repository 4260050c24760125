# SPDX-License-Identifier: Apache-2.0

"""Tell whether a service can be used, not only whether it runs."""

import http.client
import time
from collections.abc import Callable
from typing import Any

from tests.cloud import clients, layout, mariadb, processes

#: How long a service may take to get ready, in seconds.
TIMEOUT = 300.0


class NotReady(Exception):
    """What is asked for is not there yet; says what is missing."""


def wait_until(
    check: Callable[[], Any], *alive: str, timeout: float = TIMEOUT
) -> Any:
    """Wait until a check raises nothing, and return what it returns.

    :param alive: the services that must run meanwhile.
    :raises NotReady: when the time is over, with the check's last words, or
        when one of the services has ended.
    """
    deadline = time.monotonic() + timeout
    while True:
        for name in alive:
            if not processes.is_running(name):
                raise NotReady(f'{name} has ended')
        try:
            return check()
        except Exception as exc:
            if time.monotonic() > deadline:
                raise NotReady(
                    f'not ready after {timeout:.0f} s: '
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
    asked = http.client.HTTPConnection(layout.ADDRESS, port, timeout=10)
    try:
        asked.request('GET', '/')
        status = asked.getresponse().status
    finally:
        asked.close()
    if status >= 500:
        raise NotReady(f'HTTP {status}')


def reports(region: str) -> dict[str, int]:
    """Return how often each Nova service has said that it is alive.

    :returns: the numbers, by program and host.
    """
    rows = mariadb.query(
        f'nova_{region}',
        "SELECT CONCAT(`binary`, ' on ', host), report_count FROM services"
        " WHERE `binary` <> 'nova-osapi_compute' AND deleted = 0",
    )
    return dict(rows)


def reported(region: str, before: dict[str, int]) -> None:
    """Raise unless each of some Nova services has reported itself since.

    :raises NotReady: names those that have not.
    """
    now = reports(region)
    if silent := [who for who, number in before.items() if now[who] <= number]:
        raise NotReady(f'{region} has not heard from {silent}')


def nova(region: layout.Region) -> None:
    """Raise unless servers can be placed on all hosts of a region.

    :raises NotReady: says which service is missing or down, or which host
        Nova or Placement does not know.
    """
    admin = clients.connect(region.name)
    up = [
        service.binary
        for service in admin.compute.services()
        if service.state == 'up'
    ]
    for binary, number in (
        ('nova-conductor', 1),
        ('nova-scheduler', 2),
        ('nova-compute', len(region.hosts)),
    ):
        if up.count(binary) < number:
            raise NotReady(f'{up.count(binary)} of {number} {binary} are up')
    known = {one.name for one in admin.compute.hypervisors()}
    if missing := set(region.hosts) - known:
        raise NotReady(f'Nova does not know {sorted(missing)}')
    for provider in admin.placement.resource_providers():
        inventories = admin.placement.get(
            f'/resource_providers/{provider.id}/inventories'
        )
        if 'VCPU' not in inventories.json()['inventories']:
            raise NotReady(f'Placement has no inventory of {provider.name}')
        known.discard(provider.name)
    if known:
        raise NotReady(f'Placement does not know {sorted(known)}')


def neutron(region: layout.Region) -> None:
    """Raise unless ports can be listed.

    The first request for ports fails until networks were asked for.
    """
    admin = clients.connect(region.name)
    list(admin.network.networks())
    list(admin.network.ports())


def engines(path: str, binary: str) -> None:
    """Raise unless both engines of Heat or Senlin are there.

    :param path: the URL of the list of processes; ``PROJECT`` stands for
        the project's id.
    """
    admin = clients.connect()
    answer = admin.session.get(
        path.replace('PROJECT', admin.current_project_id),
        # The APIs wait a minute for what does not run yet.
        timeout=3,
    )
    up = [
        service
        for service in answer.json()['services']
        if service['binary'] == binary
        and service.get('state', service.get('status')) == 'up'
    ]
    if len(up) < 2:
        raise NotReady(f'{len(up)} of 2 {binary} are up')
