# SPDX-License-Identifier: Apache-2.0

"""Ask a cloud for the way of a request that has failed."""

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from keystoneauth1 import exceptions as auth_exceptions
from openstack import exceptions as sdk_exceptions

from nova_filters.advice import demand, inventory, walk
from os_placement_plugins.errors import one_line

#: What nova-scheduler itself asks with.
_PLACEMENT_VERSION: Final = '1.36'
_MIB_IN_GIB: Final = 1024


class Failed(NamedTuple):
    """A request that has failed.

    :param request: what the filters see of it.
    :param demand: what Placement is asked for.
    :param fault: what Nova says of the failure.
    """

    request: walk.Request
    demand: demand.Demand
    fault: str


def read(server: Any) -> Failed:
    """Return the request of a server in ERROR.

    :param server: the server of the SDK.
    """
    flavor, specs = server.flavor, dict(server.flavor.extra_specs or {})
    # A server that boots from a volume has no image, and no root disk.
    root = flavor.disk if getattr(server.image, 'id', None) else 0
    swap = math.ceil((flavor.swap or 0) / _MIB_IN_GIB)
    size = demand.Size(
        flavor.vcpus, flavor.ram, root + (flavor.ephemeral or 0) + swap
    )
    zone = getattr(server, 'pinned_availability_zone', None)
    return Failed(
        walk.Request(
            inventory.Flavor(str(flavor.original_name), specs),
            str(server.project_id),
            str(zone or server.availability_zone or ''),
            bool(server.server_groups),
        ),
        demand.of(size, specs),
        str((server.fault or {}).get('message', '')),
    )


def candidates(
    connection: Any, query: Mapping[str, str]
) -> tuple[set[str] | None, str]:
    """Return the hosts that Placement offers.

    :param connection: the SDK's connection.
    :param query: the parameters of ``GET /allocation_candidates``.
    :returns: the hosts, and nothing; or None, and why Placement does not
        answer.
    """
    try:
        answer = connection.placement.get(
            '/allocation_candidates',
            params=dict(query),
            microversion=_PLACEMENT_VERSION,
        )
        sdk_exceptions.raise_from_response(answer)
    except (
        auth_exceptions.ClientException,
        sdk_exceptions.SDKException,
    ) as exc:
        return None, one_line(exc)
    found = answer.json()
    roots = {
        found['provider_summaries'][provider]['root_provider_uuid']
        for allocation in found['allocation_requests']
        for provider in allocation['allocations']
    }
    # Placement knows a compute node by the ID of its hypervisor.
    return {
        str(node.service_details['host'])
        for node in connection.compute.hypervisors(details=True)
        if node.id in roots
    }, ''
