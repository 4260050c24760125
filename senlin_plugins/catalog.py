# SPDX-License-Identifier: Apache-2.0

"""Which services a region offers, by Keystone's catalog."""

from collections.abc import Iterable
from typing import Any

from keystoneauth1 import exceptions as keystone_exc


def missing(
    session: Any, region: str, services: Iterable[str], interface: str
) -> list[str]:
    """Return those of some services that have no endpoint in a region.

    :param session: a session of keystoneauth; its token's catalog counts.
    :param region: the region's name.
    :param services: service types.
    :param interface: which endpoints are looked for, such as ``public``.
    """
    return [
        service
        for service in services
        if not find_endpoint(session, region, service, interface)
    ]


def find_endpoint(
    session: Any, region: str, service: str, interface: str
) -> str | None:
    """Return the endpoint of a service in a region, if there is one.

    :param session: a session of keystoneauth; its token's catalog counts.
    :param region: the region's name.
    :param service: the service type.
    :param interface: which endpoint, such as ``public``.
    """
    try:
        url: str | None = session.get_endpoint(
            service_type=service,
            region_name=region,
            interface=interface,
            # Only the catalog counts, not whether the service answers.
            skip_discovery=True,
        )
    except keystone_exc.EndpointNotFound:
        return None
    return url
