# SPDX-License-Identifier: Apache-2.0

"""Check whether regions have the services that a node needs."""

from collections.abc import Collection
from typing import Any

from senlin_plugins.regions import endpoints


def find_faults(
    session: Any,
    in_keystone: Collection[str],
    names: Collection[str],
    services: Collection[str],
    interface: str,
    timeout: float = 0,
    catalog: bool = True,
) -> dict[str, str]:
    """Check regions, and return what is wrong with them.

    :param session: a session of keystoneauth, whose catalog is used.
    :param in_keystone: the regions that Keystone knows.
    :param names: the regions to check.
    :param services: the services that a region needs.
    :param interface: which endpoints count, such as ``public``.
    :param timeout: seconds in which a service must answer. With 0, no service
        is asked.
    :param catalog: whether it is a fault if the catalog lacks a service.
    :returns: region name -> the fault as text, only for regions that have a
        fault.
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
        faults[name] = 'Keystone does not know it'
    for (name, service), url in urls.items():
        if name in faults:
            continue
        if not url and catalog:
            faults[name] = f'its catalog offers no {service}'
        elif url in silent:
            faults[name] = f'{service} does not answer'
    return faults
