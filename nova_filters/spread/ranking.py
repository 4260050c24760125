# SPDX-License-Identifier: Apache-2.0

"""Order the candidates for the next member of a stack or server group.

The weight of a host is its rank: 0 for the right host, then 1, 2 and so on.
Nova tries the hosts in this order if builds fail. With a positive multiplier,
the ranks are negative.
"""

import collections
import datetime
import hashlib
import heapq
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping
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
#: member: its state, the number of its members, and its load.
Key = tuple[int, int, float]
#: Returns the *load* of each host when a request came: the share of its memory
#: that was given away. Every scheduler process finds the same.
Loads = Callable[[datetime.datetime], Mapping[str, float]]
#: The states of domains under a hard policy: it can take a member; its hosts
#: are a last choice; pending members of other kinds may have taken it; it has
#: as many members as it may have.
FREE, AVOIDED, DOUBTFUL, FULL = range(4)
#: The largest random number that is added to a load. Without it, all teams
#: that start in the same minute would begin at the same host.
_NOISE: Final = 0.2
#: Of the free hosts, the last three, or the last third if it has more, are the
#: first alternates of members with hosts of limited capacity.
_LAST: Final = 3


class HardPolicy(NamedTuple):
    """The limit of a server group with the policy ``anti-affinity``.

    :param capacity: how many members a host may have.
    :param avoided: the hosts that are a last choice, as every scheduler finds
        them.
    """

    capacity: int
    avoided: Collection[str] = ()


class Policy(NamedTuple):
    """The rule by which members are placed.

    :param team: teams begin at different domains.
    :param kind: the number of the server's kind in the team.
    :param pack: whether members are packed, and not spread.
    :param capacity: how many members a host may have; None for any number.
    """

    team: str
    kind: int = 0
    pack: bool = False
    capacity: int | None = None


class Domain:
    """A topology domain, with the domains inside it and its members."""

    def __init__(self, path: Path, policy: Policy) -> None:
        self.path = path
        self.members = 0
        #: How many of the members may be elsewhere.
        self.doubtful = 0
        self.avoided = False
        self.inside: dict[Path, Domain] = {}
        self._policy = policy
        # Every scheduler process finds the same number.
        text = f'{policy.team}/{path[-1:]}'.encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        self._number = int.from_bytes(digest) / 2**64
        self._load = 0.0
        #: The domains inside, the next one first; made when it is needed.
        self._queue: list[tuple[Key, Path]] = []

    def state(self) -> int:
        """Return whether the domain can take a member."""
        capacity = self._policy.capacity
        if capacity is None:
            return FREE
        if self.inside:
            return min(domain.state() for domain in self.inside.values())
        if self.members - self.doubtful >= capacity:
            return FULL
        if self.members >= capacity:
            return DOUBTFUL
        if self.avoided:
            return AVOIDED
        return FREE

    def key(self, kind: int | None = None) -> Key:
        """Return the sort key of the domain.

        :param kind: the number of a kind; by default, the server's. Two kinds
            begin at the two ends, and the next two in the middle. So they
            meet late.
        """
        if kind is None:
            kind = self._policy.kind
        members = self.members
        if self._policy.pack:
            members = -members
        number = self._number
        if kind % 4 >= 2:
            number = (number + 0.5) % 1
        if kind % 2:
            number = 1 - number
        return self.state(), members, self._load + _NOISE * number

    def set_load(self, load: float) -> None:
        """Change where the domain stands among those with as many members."""
        self._load = load
        self._queue = []

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

    def take_doubtful(self, origin: Path, kind: int) -> None:
        """Add a pending member of another kind, which may be elsewhere.

        :param kind: the number of its kind.
        """
        if self.inside:
            domains = [
                domain
                for domain in self.inside.values()
                if not domain.is_left(origin)
            ]
            domain = min(domains, key=lambda domain: domain.key(kind))
            domain.take_doubtful(origin, kind)
            # The order has changed.
            self._queue = []
        self.members += 1
        self.doubtful += 1

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

    def __init__(self, candidates: Iterable[Path], policy: Policy) -> None:
        self._policy = policy
        self._cloud = Domain((), policy)
        self._domains: dict[Path, Domain] = {(): self._cloud}
        self._hosts = {path: self._add_domain(path) for path in candidates}
        self._loads: Mapping[str, float] = {}

    def order_by(self, loads: Mapping[str, float], paths: Paths) -> None:
        """Order domains with equally many members by their loads.

        The load of a rack is the mean of all its hosts, candidates or not.
        """
        if loads is self._loads:
            return
        self._loads = loads
        inside = collections.defaultdict(list)
        for host, load in loads.items():
            path = paths.find_path(host)
            for length in range(1, len(path) + 1):
                inside[path[:length]].append(load)
        for path, domain in self._domains.items():
            domain.set_load(statistics.fmean(inside[path] or [0.0]))

    def avoid_hosts(self, hosts: Iterable[Path]) -> None:
        """Give no member to these hosts until all others are full."""
        for path in hosts:
            self._hosts[path].avoided = True

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
            domain = Domain(path, self._policy)
            self._domains[path] = above.inside[path] = domain
        return self._domains[path]

    def place_member(self, origin: Path = (), kind: int | None = None) -> None:
        """Give a host to a member that is placed before the server.

        :param origin: the path of the host that the member leaves.
        :param kind: the number of the member's kind, if it is not the
            server's. Its candidates are then unknown, and it only counts
            under a hard policy.
        """
        # A member without another candidate goes elsewhere.
        if self._cloud.is_left(origin):
            return
        if kind is None:
            self._cloud.take_member(origin)
        elif self._policy.capacity is not None:
            self._cloud.take_doubtful(origin, kind)

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
        free = []
        others = []
        for path in alternates:
            if self._hosts[path].state() == FREE:
                free.append(path)
            else:
                others.append(path)
        others.sort(key=lambda path: self._hosts[path].state())
        free.reverse()
        if free:
            # Members whose builds fail at the same time try different hosts.
            count = min(len(free), max(_LAST, len(free) // _LAST))
            first = free.pop(self._cloud.members % count)
            others = [*free, *others]
            free = [first]
        return [best, *free, *others]


def weigh_hosts(
    team: Team,
    members: Members,
    paths: Paths,
    sums: Mapping[str, float],
    multiplier: float,
    hard: HardPolicy | None = None,
    loads: Loads | None = None,
) -> dict[str, float]:
    """Return the weight of each candidate, by host.

    :param sums: the sum of the other weights of each candidate, by host.
    :param multiplier: the number by which Nova multiplies the weights. If it
        is positive, stacks are packed.
    :param hard: the limit of a group with the policy ``anti-affinity``.
    :param loads: finds the loads; None orders equal hosts at random.
    """
    best = max(sums.values())
    deficits = {
        host: (best - total) / abs(multiplier) for host, total in sums.items()
    }
    pack = POLICIES.get(team[0], multiplier > 0)
    # Two kinds begin at the two ends of an order that must not change.
    if pack or len(members.kinds) > 1:
        loads = None
    ranks = _rank_hosts(team, pack, hard, members, paths, deficits, loads)
    weights = {}
    for host, rank in ranks.items():
        weight = float(rank)
        if hard:
            # Nova refuses or breaks a hard policy if the other weighers send
            # a member to another host.
            weight -= deficits[host]
        if multiplier > 0:
            weight = -weight
        weights[host] = weight
    return weights


def _rank_hosts(
    team: Team,
    pack: bool,
    hard: HardPolicy | None,
    members: Members,
    paths: Paths,
    deficits: Mapping[str, float],
    loads: Loads | None,
) -> dict[str, int]:
    """Return the rank of each candidate, by host.

    :param deficits: by how many ranks the other weighers put each host below
        the best one.
    """
    by_host = {host: paths.find_path(host) for host in deficits}
    # If a host is more than one rank below the best one, even the right rank
    # does not make up for it.
    candidates = {
        path for host, path in by_host.items() if hard or deficits[host] <= 1
    }
    origin: Path = ()
    # With room for one member, the host stays full for the others, too.
    if hard is None or hard.capacity > 1:
        origin = _find_left_host(members.server, paths, by_host)
    if origin:
        candidates.add(origin)
    kind = 0
    if not pack:
        kind = members.kind_number(members.server)
    capacity = None
    if hard:
        capacity = hard.capacity
    domains = Domains(candidates, Policy(str(team), kind, pack, capacity))
    if hard:
        domains.avoid_hosts(by_host[host] for host in hard.avoided)
    for host, count in members.counts.items():
        domains.add_members(paths.find_path(host), count)
    _place_ahead(domains, members, paths, loads)
    order = domains.sort_candidates(origin)
    ranks = {path: rank for rank, path in enumerate(order)}
    return {
        host: ranks.get(path, len(order)) for host, path in by_host.items()
    }


def _place_ahead(
    domains: Domains, members: Members, paths: Paths, loads: Loads | None
) -> None:
    """Place the members ahead, each with the loads of its own time."""
    for member in members.ahead:
        if loads:
            domains.order_by(loads(member.turn.time), paths)
        kind = None
        if not members.is_alike(member):
            kind = members.kind_number(member)
        domains.place_member(paths.find_origin(member.origin), kind)
    if loads:
        domains.order_by(loads(members.server.turn.time), paths)


def _find_left_host(
    server: Pending,
    paths: Paths,
    by_host: Mapping[str, Path],
) -> Path:
    """Return the path of the host that a server leaves for another size.

    The host is no candidate of the server, but of the other members.

    :param by_host: the paths of the server's candidates.
    """
    if server.action != RESIZE or server.origin in by_host:
        return ()
    return paths.find_origin(server.origin)
