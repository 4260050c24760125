# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK; only requests that change nothing."""

import logging
from typing import Any

from openstack import utils
from osc_lib import exceptions

from nova_filters.advice import inventory

LOG = logging.getLogger(__name__)

#: Since this microversion Nova shows a server's own copy of the flavor.
EMBEDDED_FLAVOR = '2.47'


def negotiate(compute: Any) -> None:
    """Let the SDK choose microversions if the shell's choice is too old.

    :param compute: the compute proxy; the shell pins 2.1 unless told
        otherwise, and there a server's flavor is no more than an ID.
    """
    if not utils.supports_microversion(compute, EMBEDDED_FLAVOR):
        compute.default_microversion = None


def _flavor(flavor: Any) -> inventory.Flavor:
    """Return a flavor of the SDK as a record."""
    return inventory.Flavor(
        str(flavor.name), dict(flavor.extra_specs or {}), str(flavor.id)
    )


def flavors(compute: Any) -> list[inventory.Flavor]:
    """Return all flavors, private ones too.

    :param compute: the compute proxy.
    :returns: the flavors with their extra specs.
    """
    found = compute.flavors(is_public=None, get_extra_specs=True)
    return [_flavor(flavor) for flavor in found]


def aggregates(compute: Any) -> list[inventory.HostAggregate]:
    """Return all host aggregates.

    :param compute: the compute proxy.
    :returns: the aggregates with metadata and hosts.
    """
    return [
        inventory.HostAggregate(
            str(aggregate.name),
            dict(aggregate.metadata or {}),
            tuple(aggregate.hosts or ()),
        )
        for aggregate in compute.aggregates()
    ]


def hosts(compute: Any) -> list[str]:
    """Return the names of the compute hosts, as aggregates name them.

    :param compute: the compute proxy.
    :returns: the hosts of the nova-compute services.
    """
    return [
        str(service.host)
        for service in compute.services(binary='nova-compute')
    ]


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


def servers(compute: Any) -> list[inventory.Server]:
    """Return the servers of all projects.

    :param compute: the compute proxy.
    :returns: the servers with their own copies of the flavor. Those of a
        cell that is down come without; they are left out with a warning.
    """
    found = list(compute.servers(all_projects=True))
    known = [server for server in found if _has_flavor(server)]
    if not known:
        # A Nova that is too old: the first one is told.
        return [_server(server) for server in found]
    if len(known) < len(found):
        LOG.warning(
            '%(count)d servers are left out: Nova does not show their '
            'flavors; is a cell down?',
            {'count': len(found) - len(known)},
        )
    return [_server(server) for server in known]


def server(compute: Any, name: str) -> inventory.Server:
    """Return one server.

    :param compute: the compute proxy.
    :param name: its name or ID.
    :returns: the server with its own copy of the flavor.
    """
    found = compute.find_server(
        name, ignore_missing=False, details=True, all_projects=True
    )
    return _server(found)
