# SPDX-License-Identifier: Apache-2.0

"""Tell whether a service can be used, not only whether it runs."""

import http.client
import time
from collections.abc import Callable

from tests.cloud import clients, layout, mariadb

#: How long a service may take to get ready, in seconds.
TIMEOUT = 120.0


class NotReady(Exception):
    """What is asked for is not there yet; says what is missing."""


def wait_until(
    check: Callable[[], object],
    timeout: float = TIMEOUT,
    alive: Callable[[], object] | None = None,
) -> None:
    """Wait until a check raises nothing.

    :param check: asks for something.
    :param timeout: seconds.
    :param alive: raises what ends the waiting at once.
    :raises NotReady: when the time is over; with the check's last words.
    """
    deadline = time.monotonic() + timeout
    while True:
        if alive is not None:
            alive()
        try:
            check()
            return
        except Exception as exc:
            if time.monotonic() > deadline:
                raise NotReady(
                    f'not ready after {timeout:.0f} s: '
                    f'{type(exc).__name__}: {exc}'
                ) from exc
        time.sleep(0.2)


def answers(port: int) -> None:
    """Raise unless an HTTP server on a port answers sensibly.

    :param port: on the loopback address.
    :raises NotReady: when the answer is an error of the server.
    :raises OSError: when there is none.
    """
    asked = http.client.HTTPConnection(layout.ADDRESS, port, timeout=10)
    try:
        asked.request('GET', '/')
        status = asked.getresponse().status
    finally:
        asked.close()
    if status >= 500:
        raise NotReady(f'HTTP {status}')


def nova(region: layout.Region) -> None:
    """Raise unless all of a region's Nova services have reported themselves.

    :param region: the region.
    :raises NotReady: names those that are missing or down.
    """
    wanted = {
        'nova-conductor': 1,
        'nova-scheduler': 2,
        'nova-compute': len(region.hosts),
    }
    listed = list(clients.connect(region.name).compute.services())
    for binary, number in wanted.items():
        up = [
            service.host
            for service in listed
            if service.binary == binary and service.state == 'up'
        ]
        if len(up) < number:
            raise NotReady(f'{len(up)} of {number} {binary} are up: {up}')


def reports(
    region: str, binary: str = 'nova-(compute|conductor|scheduler)'
) -> dict[str, int]:
    """Return how often each Nova service has said that it is alive.

    :param region: the region's name.
    :param binary: a regular expression for the names of the programs.
    :returns: the numbers, by program and host.
    """
    rows = mariadb.query(
        f'nova_{region}',
        "SELECT CONCAT(`binary`, ' on ', host), report_count FROM services"
        ' WHERE `binary` REGEXP %s AND deleted = 0',
        f'^{binary}$',
    )
    return dict(rows)


def reported(region: str, before: dict[str, int]) -> None:
    """Raise unless each of some Nova services has reported itself since.

    :param region: the region's name.
    :param before: what :func:`reports` returned then.
    :raises NotReady: names those that have not.
    """
    now = reports(region)
    if silent := [who for who, number in before.items() if now[who] <= number]:
        raise NotReady(f'{region} has not heard from {silent}')


def hypervisors(region: layout.Region) -> None:
    """Raise unless servers can be placed on all hosts of a region.

    :param region: the region.
    :raises NotReady: names the hosts that Nova or Placement do not know.
    """
    admin = clients.connect(region.name)
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

    :param region: the region.
    """
    admin = clients.connect(region.name)
    list(admin.network.networks())
    list(admin.network.ports())


def engines(path: str, binary: str, number: int) -> Callable[[], None]:
    """Return a check that Heat's or Senlin's processes are there.

    :param path: the URL of the list of processes.
    :param binary: which of them.
    :param number: how many there must be.
    :returns: the check.
    """

    def check() -> None:
        admin = clients.connect()
        answer = admin.session.get(
            path.replace('%(tenant_id)s', admin.current_project_id),
            # The APIs wait a minute for what does not run yet.
            timeout=3,
        )
        up = [
            service
            for service in answer.json()['services']
            if service['binary'] == binary
            and service.get('state', service.get('status')) == 'up'
        ]
        if len(up) < number:
            raise NotReady(f'{len(up)} of {number} {binary} are up')

    return check
