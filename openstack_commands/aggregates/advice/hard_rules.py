# SPDX-License-Identifier: Apache-2.0

"""Find running servers that break the hard rules of Nova.

If a server breaks such a rule, nova-scheduler would not choose the server's
host today.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from openstack_commands.aggregates.advice import inventory, reservations
from openstack_commands.aggregates.advice.breaches import (
    BROKEN,
    SERVER,
    SERVER_GROUP,
    Breach,
)
from openstack_commands.aggregates.advice.nova_records import Group
from os_placement_plugins.quoting import listed, quote

_APART: Final = 'anti-affinity'
_TOGETHER: Final = 'affinity'


def of_group(
    group: Group, members: Sequence[inventory.Server]
) -> Iterator[Breach]:
    """Yield the breaches of a server group's hard policy.

    :param members: the members that are on a host.
    """
    by_host: dict[str, list[inventory.Server]] = {}
    for member in members:
        by_host.setdefault(member.host or '', []).append(member)
    if group.policy == _TOGETHER and len(by_host) > 1:
        names = listed(sorted(by_host))
        reason = f'its policy wants one host: {names}'
        yield _of_group(group, members, reason)
    if group.policy == _APART:
        for host, servers in sorted(by_host.items()):
            if len(servers) > group.most_per_host:
                reason = (
                    f'host {host} has {len(servers)} of {len(members)} '
                    f'members; its policy allows {group.most_per_host}'
                )
                yield _of_group(group, servers, reason)


def _of_group(
    group: Group, servers: Sequence[inventory.Server], reason: str
) -> Breach:
    """Return a breach of a server group."""
    return Breach(
        problem=BROKEN,
        noun=SERVER_GROUP,
        name=group.name,
        servers=servers,
        reason=reason,
        id=group.id,
    )


def of_zones(
    servers: Iterable[inventory.Server], stock: inventory.Stock
) -> Iterator[Breach]:
    """Yield a breach for each server outside the zone that it must stay in.

    :param servers: the servers; the host of each is in ``stock``.
    :param stock: the flavors, aggregates and hosts.
    """
    zones = {
        aggregate.metadata.get(inventory.ZONE)
        for aggregate in stock.aggregates
    }
    for server in servers:
        host = stock.hosts[server.host or '']
        if not server.zone or server.zone == host.zone:
            continue
        # If no aggregate sets the default zone, Nova accepts any host for a
        # server in this zone.
        if server.zone == stock.default_zone and server.zone not in zones:
            continue
        reason = (
            f'it must stay in zone {quote(server.zone)}; host {host.name} is '
            f'in zone {quote(host.zone)}'
        )
        yield _of_server(server, reason)


def of_projects(
    servers: Iterable[inventory.Server], stock: inventory.Stock
) -> Iterator[Breach]:
    """Yield a breach for each server on a host reserved for other projects.

    :param servers: the servers; the host of each is in ``stock``.
    :param stock: the flavors, aggregates and hosts.
    """
    reserved = {
        name: reservations.projects(host) for name, host in stock.hosts.items()
    }
    for server in servers:
        host = server.host or ''
        if not reservations.admits(reserved[host], server.project):
            reason = f'host {host} is reserved for other projects'
            yield _of_server(server, reason)


def _of_server(server: inventory.Server, reason: str) -> Breach:
    """Return a breach of one server."""
    return Breach(
        problem=BROKEN,
        noun=SERVER,
        name=server.name,
        servers=[server],
        reason=reason,
        id=server.id,
    )
