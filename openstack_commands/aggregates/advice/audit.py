# SPDX-License-Identifier: Apache-2.0

"""Find running servers that their own host would refuse today.

The audit does not move any server.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from openstack_commands.aggregates.advice import inventory

#: Servers that their own host would refuse today.
REFUSED: Final = 'refused'
#: Servers that cannot be judged.
UNKNOWN: Final = 'unknown'


class Problem(NamedTuple):
    """A problem that some servers share.

    :param kind: ``REFUSED`` or ``UNKNOWN``.
    :param flavor: the name of the servers' flavor; empty for ``UNKNOWN``.
    :param reason: why the hosts refuse the servers, or why the servers cannot
        be judged.
    """

    kind: str
    flavor: str
    servers: Sequence[inventory.Server]
    reason: str

    @property
    def places(self) -> list[str]:
        """Return the name of each server with its host."""
        places = []
        for server in self.servers:
            place = server.name
            if server.host:
                place += f' ({server.host})'
            places.append(place)
        return places

    @property
    def server_ids(self) -> list[str]:
        """Return the ID of each server."""
        return [server.id for server in self.servers]

    @property
    def hosts(self) -> list[str]:
        """Return the hosts of the servers, each once."""
        hosts = {server.host for server in self.servers if server.host}
        return sorted(hosts)


class Audit:
    """Judge servers on their hosts."""

    def __init__(
        self, servers: Iterable[inventory.Server], stock: inventory.Stock
    ) -> None:
        self._stock = stock
        #: The servers with a known flavor and host. Only these servers can be
        #: judged.
        self.running: list[inventory.Server] = []
        self._unknown: list[inventory.Server] = []
        for server in sorted(servers, key=lambda s: (s.name, s.id)):
            if server.flavor and server.host in stock.hosts:
                self.running.append(server)
            elif server.host != '':
                # Servers on no host, for example shelved servers, are left
                # out, because there is nothing to judge.
                self._unknown.append(server)

    def refused(self) -> Iterator[Problem]:
        """Yield the servers that their own host would refuse.

        Servers with the same flavor and reason are one problem.
        """
        # Many servers have the same extra specs.
        judges: dict[inventory.Specs, Judge] = {}
        by_reason: dict[tuple[str, str], list[inventory.Server]] = {}
        for server in self.running:
            if server.specs not in judges:
                specs = inputs.read_flavor(dict(server.specs))
                judges[server.specs] = Judge(specs, self._stock.exempt)
            judge = judges[server.specs]
            aggregates = self._stock.hosts[server.host or ''].aggregates
            refusals = judge.refusals(aggregates)
            if refusals:
                first = judge.explain(refusals[0], aggregates)
                key = server.flavor_name, str(first)
                by_reason.setdefault(key, []).append(server)
        for (flavor, reason), servers in by_reason.items():
            yield Problem(REFUSED, flavor, servers, reason)

    def unknown(self) -> Iterator[Problem]:
        """Yield the servers that cannot be judged, one problem per reason."""
        by_reason: dict[str, list[inventory.Server]] = {}
        for server in self._unknown:
            reason = 'Nova does not show the flavor or the host'
            if server.flavor and server.host:
                reason = 'the host is not among the compute hosts'
            by_reason.setdefault(reason, []).append(server)
        for reason, servers in by_reason.items():
            yield Problem(UNKNOWN, '', servers, reason)
