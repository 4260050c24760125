# SPDX-License-Identifier: Apache-2.0

"""Order the candidates for the next member of a stack or server group.

The option ``stack_spread_over`` lists *topology keys*, such as ``rack``. A
*topology domain* is the set of hosts with one value of a key, such as one
rack. The *path* of a host names its domains, the most important key first:
``(('rack', 'a'), ('host', 'compute-1'))``.
"""

import hashlib
import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Path = tuple[tuple[str, str], ...]
#: The sort key of a domain; the domain with the smallest key gets the next
#: member: its state, the number of its members, and a number for equal ones.
Key = tuple[int, int, int]
#: The states of domains: it can take a member; the other weighers refuse its
#: hosts; it has as many members as it may have.
FREE, REFUSED, FULL = range(3)
#: One more than the largest number of a domain.
_ENDS: Final = 2**64
#: Of the free hosts, the last three, or the last third if it has more, are the
#: first alternates of members with hosts of limited capacity.
_LAST: Final = 3
#: The topology key for which each host is a domain, and the key of Nova's
#: zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


class Paths:
    """The paths of hosts.

    :param aggregates: the aggregates of each candidate, by host.
    :param keys: the topology keys, the most important one first.
    :param default_zone: the zone of hosts whose aggregates name no zone.
    """

    def __init__(
        self,
        aggregates: Mapping[str, Collection[Any]],
        keys: Sequence[str],
        default_zone: str,
    ) -> None:
        self._by_host = aggregates
        self._keys = [*keys]
        self._default_zone = default_zone
        self._aggregates: set[Any] = set()
        if self._keys != [HOST]:
            self._aggregates.update(*aggregates.values())

    def find_path(self, name: str) -> Path:
        """Return the path of a host.

        If a host is in no domain of a key, the host itself is the domain.

        :param name: the host. If it is no candidate, its aggregates are known
            as far as they have candidates.
        """
        if self._keys == [HOST]:
            # No aggregate matters. This saves time with thousands of hosts.
            return ((HOST, name),)
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
            domain = find_domain(metadata, key, self._default_zone)
            if domain:
                path.append((key, domain))
            else:
                path.append((HOST, name))
        return tuple(path)

    def find_origin(self, name: str | None) -> Path:
        """Return the path of the host that a member leaves.

        :param name: the host; None if the member leaves none.
        :returns: an empty path if the member need not leave its domain.
        """
        if name is None:
            return ()
        path = self.find_path(name)
        domain_key, _ = path[-1]
        if domain_key != HOST:
            return ()
        return path


class Ties(NamedTuple):
    """How domains with equally many members are ordered.

    Every scheduler process finds the same order.

    :param team: teams begin at different domains.
    :param kind: the number of the servers' kind in the team. Two kinds begin
        at the two ends, and the next two in the middle. So they meet late,
        although no kind knows where the others go.
    """

    team: str
    kind: int = 0

    def number(self, path: Path) -> int:
        """Return the number of a domain; the smallest comes first."""
        text = f'{self.team}/{path[-1:]}'.encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        number = int.from_bytes(digest)
        if self.kind % 4 >= 2:
            number = (number + _ENDS // 2) % _ENDS
        if self.kind % 2:
            number = _ENDS - number
        return number


class Policy(NamedTuple):
    """The rule by which members are placed.

    :param pack: whether members are packed, and not spread.
    :param capacity: how many members a host may have; None for any number.
    """

    pack: bool = False
    capacity: int | None = None


class Domain:
    """A topology domain, with the domains inside it and its members."""

    def __init__(self, path: Path, policy: Policy, number: int) -> None:
        self.path = path
        self.members = 0
        self.refused = False
        self.inside: dict[Path, Domain] = {}
        self._policy = policy
        self._number = number
        #: The domains inside, the next one first; made when it is needed.
        self._queue: list[tuple[Key, Path]] = []

    def state(self) -> int:
        """Return whether the domain can take a member."""
        if self._policy.capacity is None:
            return FREE
        if self.inside:
            return min(domain.state() for domain in self.inside.values())
        if self.members >= self._policy.capacity:
            return FULL
        if self.refused:
            return REFUSED
        return FREE

    def key(self) -> Key:
        """Return the sort key of the domain."""
        members = self.members
        if self._policy.pack:
            members = -members
        return self.state(), members, self._number

    def sort_hosts(self) -> list[Path]:
        """Return the paths of all hosts in the domain, the next one first."""
        if not self.inside:
            return [self.path]
        paths = []
        for domain in sorted(self.inside.values(), key=Domain.key):
            paths += domain.sort_hosts()
        return paths

    def is_left(self, origin: Path) -> bool:
        """Tell whether a member leaves the only host of the domain.

        :param origin: the path of the host that the member leaves.
        """
        domain = self
        while len(domain.inside) == 1:
            (domain,) = domain.inside.values()
        return not domain.inside and domain.path == origin

    def take_member(self, origin: Path) -> Path:
        """Add a member, and return the path of its host.

        :param origin: the path of the host that the member leaves; empty if
            it leaves none.
        """
        if self.inside:
            domain = self._pop_domain(origin)
            path = domain.take_member(origin)
            heapq.heappush(self._queue, (domain.key(), domain.path))
        else:
            path = self.path
        self.members += 1
        return path

    def _pop_domain(self, origin: Path) -> 'Domain':
        """Remove the next inner domain from the queue, and return it."""
        if not self._queue:
            self._queue = [
                (domain.key(), path) for path, domain in self.inside.items()
            ]
            heapq.heapify(self._queue)
        left = []
        while True:
            key, path = heapq.heappop(self._queue)
            domain = self.inside[path]
            if not domain.is_left(origin):
                break
            left.append((key, path))
        for entry in left:
            heapq.heappush(self._queue, entry)
        return domain


class Topology:
    """The topology domains of a server's candidates, with their members.

    :param candidates: the paths of the candidates.
    """

    def __init__(
        self, candidates: Iterable[Path], policy: Policy, ties: Ties
    ) -> None:
        self._policy, self._ties = policy, ties
        self._cloud = Domain((), policy, 0)
        self._domains: dict[Path, Domain] = {(): self._cloud}
        self._hosts = {path: self._add_domain(path) for path in candidates}

    def refuse_hosts(self, hosts: Iterable[Path]) -> None:
        """Give no member to these hosts until all others are full."""
        for path in hosts:
            self._hosts[path].refused = True

    def add_members(self, host: Path, count: int) -> None:
        """Add members to a host, which need not be a candidate."""
        for length in range(1, len(host) + 1):
            path = host[:length]
            if path in self._domains:
                self._domains[path].members += count

    def _add_domain(self, path: Path) -> Domain:
        """Return the domain of a path, which is added if it is new."""
        if path not in self._domains:
            above = self._add_domain(path[:-1])
            domain = Domain(path, self._policy, self._ties.number(path))
            self._domains[path] = above.inside[path] = domain
        return self._domains[path]

    def place_member(self, origin: Path = ()) -> None:
        """Give a host to a member that is placed before the server.

        :param origin: the path of the host that the member leaves.
        """
        # A member without another candidate goes elsewhere.
        if not self._cloud.is_left(origin):
            self._cloud.take_member(origin)

    def sort_candidates(self, origin: Path = ()) -> list[Path]:
        """Place the server, and return its candidates, the best one first.

        If hosts have a capacity, the next members get the first free hosts of
        the order. So the other candidates of this server begin with one of the
        last free hosts, and end with the full ones.

        :param origin: the path of the host that the server leaves. It is not
            returned.
        """
        best = self._cloud.take_member(origin)
        alternates = [
            path
            for path in self._cloud.sort_hosts()
            if path not in (best, origin)
        ]
        if self._policy.capacity is None:
            return [best, *alternates]
        by_state: dict[int, list[Path]] = {FREE: [], REFUSED: [], FULL: []}
        for path in alternates:
            by_state[self._hosts[path].state()].append(path)
        free = by_state[FREE][::-1]
        if free:
            # Members whose builds fail at the same time try different hosts.
            count = min(len(free), max(_LAST, len(free) // _LAST))
            free.insert(0, free.pop(self._cloud.members % count))
        return [best, *free, *by_state[REFUSED], *by_state[FULL]]


def find_domain(
    metadata: Iterable[Mapping[str, str]], key: str, default_zone: str
) -> str | None:
    """Return the name of a host's domain for a topology key.

    :param metadata: the metadata of each of the host's aggregates.
    :param key: a key of metadata, or :data:`HOST`.
    :param default_zone: the zone of hosts whose aggregates name no zone.
    :returns: the name; if there are several names, the first in alphabetical
        order. None if there is no name, and always for :data:`HOST`.
    """
    if key == HOST:
        return None
    names = {values[key] for values in metadata if values.get(key)}
    if names:
        return min(names)
    if key == ZONE:
        return default_zone
    return None
