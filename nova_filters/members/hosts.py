# SPDX-License-Identifier: Apache-2.0

"""The topology domains of hosts, and the servers that a scheduler knows."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import nova.conf

from nova_filters.spread import topology

CONF = nova.conf.CONF


class Paths:
    """The paths of hosts; see ``topology``.

    :param single: whether hosts must be told apart, even if
        ``stack_spread_over`` does not list them.
    """

    def __init__(self, hosts: Sequence[Any], single: bool) -> None:
        self._keys = [*CONF.nova_filters.stack_spread_over]
        if single and topology.HOST not in self._keys:
            self._keys.append(topology.HOST)
        # To read the option for each of many hosts would be slow.
        self._default_zone = CONF.default_availability_zone
        #: The aggregates of the candidates, by host, and all of them.
        self._by_host = {host.host: host.aggregates or () for host in hosts}
        self._aggregates: set[Any] = set()
        if self._keys != [topology.HOST]:
            self._aggregates.update(*self._by_host.values())

    def find(self, name: str) -> topology.Path:
        """Return the path of a host.

        If a host is in no domain of a key, the host itself is the domain.

        :param name: the host. If it is no candidate, its aggregates are known
            as far as they have candidates.
        """
        if self._keys == [topology.HOST]:
            # No aggregate matters. This saves time with thousands of hosts.
            return ((topology.HOST, name),)
        aggregates = self._by_host.get(name)
        if aggregates is None:
            aggregates = [
                aggregate
                for aggregate in self._aggregates
                if name in aggregate.hosts
            ]
        metadata = [aggregate.metadata for aggregate in aggregates]
        path = []
        for key in self._keys:
            domain = topology.find_domain(metadata, key, self._default_zone)
            if domain:
                path.append((key, domain))
            else:
                path.append((topology.HOST, name))
        return tuple(path)

    def find_origin(self, name: str | None) -> topology.Path:
        """Return the path of the host that a member leaves.

        :param name: the host; None if the member leaves none.
        :returns: an empty path if the member need not leave its domain.
        """
        if name is None:
            return ()
        path = self.find(name)
        domain_key, _ = path[-1]
        if domain_key != topology.HOST:
            return ()
        return path


class KnownServers:
    """The servers on each host, as this scheduler process knows them."""

    def __init__(self) -> None:
        #: Nova's own dictionaries, which Nova changes.
        self._servers: dict[str, Mapping[str, Any]] = {}

    def find_elsewhere(
        self, uuids: Collection[str], hosts: Iterable[Any]
    ) -> dict[str, str]:
        """Return the hosts of servers that are on none of the candidates.

        A scheduler remembers where it has put the members of groups. Nova's
        filter for ``anti-affinity`` then refuses these hosts, before any
        database knows them.

        :param uuids: the ids of the servers.
        :param hosts: the candidates, as Nova's HostStates.
        """
        candidates = {host.host: host.instances for host in hosts}
        self._servers |= candidates
        elsewhere = {}
        for name, servers in [*self._servers.items()]:
            if name not in candidates:
                elsewhere.update(dict.fromkeys(servers.keys() & uuids, name))
        return elsewhere
