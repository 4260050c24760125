# SPDX-License-Identifier: Apache-2.0

"""Order the candidates for the next member of a stack or server group.

The weight of a host is its rank: 0 for the right host, then 1, 2 and so on.
Nova tries the hosts in this order if builds fail. With a positive multiplier,
the ranks are negative.
"""

import hashlib
import heapq
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from nova_filters.spread.teams import (
    POLICIES,
    RESIZE,
    Members,
    Pending,
    Team,
)
from nova_filters.spread.topology import Path, Paths

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


class Domains:
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


def weigh_hosts(
    team: Team,
    capacity: int | None,
    members: Members,
    paths: Paths,
    sums: Mapping[str, float],
    multiplier: float,
) -> dict[str, float]:
    """Return the weight of each candidate, by host.

    :param capacity: how many members a host may have, by a hard policy; None
        for any number.
    :param sums: the sum of the other weights of each candidate, by host.
    :param multiplier: the number by which Nova multiplies the weights. If it
        is positive, stacks are packed.
    """
    policy = Policy(POLICIES.get(team[0], multiplier > 0), capacity)
    best = max(sums.values())
    deficits = {
        host: (best - total) / abs(multiplier) for host, total in sums.items()
    }
    ranks = _rank_hosts(team, policy, members, paths, deficits)
    weights = {}
    for host, rank in ranks.items():
        weight = float(rank)
        if capacity is not None:
            # Nova refuses or breaks a hard policy if the other weighers send
            # a member to another host.
            weight -= deficits[host]
        if multiplier > 0:
            weight = -weight
        weights[host] = weight
    return weights


def _rank_hosts(
    team: Team,
    policy: Policy,
    members: Members,
    paths: Paths,
    deficits: Mapping[str, float],
) -> dict[str, int]:
    """Return the rank of each candidate, by host.

    :param deficits: by how many ranks the other weighers put each host below
        the best one.
    """
    by_host = {host: paths.find_path(host) for host in deficits}
    # If a host is more than one rank below the best one, even the right rank
    # does not make up for it.
    candidates = {
        path for host, path in by_host.items() if deficits[host] <= 1
    }
    refused = {*by_host.values()} - candidates
    is_strict = policy.capacity is not None
    if is_strict:
        candidates |= refused
    origin = _find_left_host(members.server, paths, by_host)
    if origin:
        candidates.add(origin)
    kind = 0
    if not policy.pack:
        kind = members.kind_number()
    domains = Domains(candidates, policy, Ties(str(team), kind))
    if is_strict:
        domains.refuse_hosts(refused)
    for host, count in members.counts.items():
        domains.add_members(paths.find_path(host), count)
    for member in members.alike():
        domains.place_member(paths.find_origin(member.origin))
    order = domains.sort_candidates(origin)
    ranks = {path: rank for rank, path in enumerate(order)}
    return {
        host: ranks.get(path, len(order)) for host, path in by_host.items()
    }


def _find_left_host(
    server: Pending | None,
    paths: Paths,
    by_host: Mapping[str, Path],
) -> Path:
    """Return the path of the host that a server leaves for another size.

    The host is no candidate of the server, but of the other members.

    :param by_host: the paths of the server's candidates.
    """
    if server is None or server.action != RESIZE or server.origin in by_host:
        return ()
    return paths.find_origin(server.origin)
