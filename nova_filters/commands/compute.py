# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK; only requests that change nothing."""

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from openstack import exceptions as sdk_exceptions
from openstack import utils
from osc_lib import exceptions

from nova_filters.advice import demand, inventory, walk
from os_placement_plugins.commands.lister import telling_in_one_line

LOG = logging.getLogger(__name__)

#: Since this microversion Nova shows a server's own copy of the flavor.
EMBEDDED_FLAVOR: Final = '2.47'
#: What nova-scheduler itself asks Placement with.
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


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._compute = compute = connection.compute
        # The shell pins 2.1 unless told otherwise, and there a server's
        # flavor is no more than an ID.
        if not utils.supports_microversion(compute, EMBEDDED_FLAVOR):
            compute.default_microversion = None

    def flavors(self) -> list[inventory.Flavor]:
        """Return all flavors, private ones too."""
        return [
            inventory.Flavor(
                str(flavor.name),
                dict(flavor.extra_specs or {}),
                str(flavor.id),
            )
            for flavor in self._compute.flavors(
                is_public=None, get_extra_specs=True
            )
        ]

    def aggregates(self) -> list[inventory.HostAggregate]:
        """Return all host aggregates."""
        return [
            inventory.HostAggregate(
                str(aggregate.name),
                dict(aggregate.metadata or {}),
                tuple(aggregate.hosts or ()),
                str(aggregate.id),
            )
            for aggregate in self._compute.aggregates()
        ]

    def hosts(self) -> list[inventory.Host]:
        """Return all compute hosts, without their aggregates."""
        return [
            inventory.Host(
                str(service.host),
                state=inventory.state_of(service.status, service.state),
            )
            for service in self._compute.services(binary='nova-compute')
        ]

    def servers(self) -> list[inventory.Server]:
        """Return the servers of all projects.

        Those of a cell that is down come without a flavor. They are left out
        with a warning.
        """
        found = list(self._compute.servers(all_projects=True))
        known = [server for server in found if _has_flavor(server)]
        # If none has one, Nova is too old: the first one is told.
        if known and len(known) < len(found):
            LOG.warning(
                '%(count)d servers are left out: Nova does not show their '
                'flavors; is a cell down?',
                {'count': len(found) - len(known)},
            )
        return [_server(server) for server in known or found]

    def servers_named(self, names: Iterable[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs."""
        return [_server(self._find(name)) for name in names]

    def failed(self, name: str) -> Failed | None:
        """Return the request of a server in ERROR that has no host.

        :returns: None for another server.
        """
        # What follows shows IDs of hypervisors, and groups of servers.
        self._compute.default_microversion = None
        server = self._find(name)
        if server.status != 'ERROR' or server.compute_host:
            return None
        return _failed(server) if _has_flavor(server) else None

    def candidates(
        self, query: Mapping[str, str]
    ) -> tuple[set[str] | None, str]:
        """Return the hosts that Placement offers.

        :param query: the parameters of ``GET /allocation_candidates``.
        :returns: the hosts, and nothing; or None, and why Placement does not
            answer.
        """
        try:
            with telling_in_one_line():
                answer = self._connection.placement.get(
                    '/allocation_candidates',
                    params=dict(query),
                    microversion=_PLACEMENT_VERSION,
                )
                sdk_exceptions.raise_from_response(answer)
        except exceptions.CommandError as exc:
            return None, str(exc)
        found = answer.json()
        roots = {
            found['provider_summaries'][provider]['root_provider_uuid']
            for allocation in found['allocation_requests']
            for provider in allocation['allocations']
        }
        # Placement knows a compute node by the ID of its hypervisor.
        return {
            str(node.service_details['host'])
            for node in self._compute.hypervisors(details=True)
            if node.id in roots
        }, ''

    def _find(self, name: str) -> Any:
        """Return the server of the SDK with this name or ID."""
        return self._compute.find_server(
            name, ignore_missing=False, details=True, all_projects=True
        )


def _has_flavor(server: Any) -> bool:
    """Tell whether Nova showed a server's own copy of the flavor."""
    return (
        server.flavor is not None and server.flavor.original_name is not None
    )


def _server(server: Any) -> inventory.Server:
    """Return a server of the SDK as a record."""
    if not _has_flavor(server):
        raise exceptions.CommandError(
            f'Nova does not show the flavor inside server {server.id}: that '
            f'takes API microversion {EMBEDDED_FLAVOR}, and a cell that is up'
        )
    flavor = server.flavor
    return inventory.Server(
        name=str(server.name),
        id=str(server.id),
        host=str(server.compute_host or ''),
        flavor=inventory.Flavor(
            str(flavor.original_name), dict(flavor.extra_specs or {})
        ),
    )


def _failed(server: Any) -> Failed:
    """Return the request of a server of the SDK."""
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
