# SPDX-License-Identifier: Apache-2.0

"""Check whether regions have the services that a node needs."""

import datetime
from collections.abc import Collection, Sequence
from typing import Any

from senlin_plugins.planning.region_state import Cause, Fault, show_time
from senlin_plugins.regions import endpoints


def now() -> str:
    """Return the current time in the format of stored states."""
    return show_time(datetime.datetime.now(datetime.UTC))


def look(
    session: Any,
    in_keystone: Collection[str],
    names: Collection[str],
    services: Sequence[str],
    interface: str,
    timeout: float = 0,
    catalog: bool = True,
) -> dict[str, Fault]:
    """Check regions, and return the faults.

    :param session: a session of keystoneauth, whose catalog is used.
    :param in_keystone: the regions that Keystone knows.
    :param names: the regions to check.
    :param services: the services that a node needs. The first one is enough to
        remove a node.
    :param interface: which endpoints count, such as ``public``.
    :param timeout: seconds in which a service must answer. With 0, only the
        catalog is checked.
    :param catalog: whether it is a fault if the catalog lacks a service.
    :returns: region name -> the fault, only for regions that have a fault.
    """
    urls = {}
    for name in sorted({*names} & {*in_keystone}):
        for service in services:
            url = endpoints.find(session, name, service, interface)
            urls[name, service] = url
    silent: set[str] = set()
    if timeout:
        endpoints_to_ask = {url for url in urls.values() if url}
        silent = endpoints.find_silent(session, endpoints_to_ask, timeout)
    faults = {}
    for name in {*names} - {*in_keystone}:
        faults[name] = Fault(Cause.UNKNOWN)
    for (name, service), url in urls.items():
        dead = service == services[0]
        if url in silent:
            fault = Fault(Cause.NO_ANSWER, service, dead)
        elif not url and catalog:
            fault = Fault(Cause.MISSING, service, dead)
        else:
            continue
        # A fault of the service that deletes nodes replaces other faults.
        if dead or name not in faults:
            faults[name] = fault
    return faults
