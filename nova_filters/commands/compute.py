# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK; only requests that change nothing."""

import logging
from collections.abc import Iterable
from typing import Any

from openstack import utils
from osc_lib import exceptions

from nova_filters.advice import inventory
from nova_filters.commands import walking

LOG = logging.getLogger(__name__)

#: Since this microversion Nova shows a server's own copy of the flavor.
EMBEDDED_FLAVOR = '2.47'


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
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

    def failed(self, name: str) -> walking.Failed | None:
        """Return the request of a server in ERROR that has no host.

        :returns: None for another server.
        """
        # What follows shows IDs of hypervisors, and groups of servers.
        self._compute.default_microversion = None
        server = self._find(name)
        if server.status != 'ERROR' or server.compute_host:
            return None
        return walking.read(server) if _has_flavor(server) else None

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
