# SPDX-License-Identifier: Apache-2.0

"""Choose the place for the next member of a stack or server group.

A *level* is a kind of place in the option ``stack_spread_over``, such as
``rack``. A *path* names the place of a host at each level, the most important
level first: ``(('rack', 'a'), ('host', 'compute-1'))``.
"""

import hashlib
import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

Path = tuple[tuple[str, str], ...]
#: The sort key of a place; the place with the smallest key gets the next
#: server.
Key = tuple[int, int]
#: The sort keys and the paths of places, as a heap.
Queue = list[tuple[Key, Path]]
#: One more than the largest number of a place.
_ENDS: Final = 2**64
#: The smallest difference between the distance of the right place and that of
#: another place. The other weighers do not easily outweigh it.
GAP: Final = 0.9
#: The level at which each host is a place, and the level of Nova's zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


class Candidates:
    """The candidate hosts of one or more servers.

    :param hosts: the paths of the hosts.
    """

    def __init__(self, hosts: Iterable[Path]) -> None:
        self.hosts = [*hosts]
        #: The paths of the hosts, and of the places around the hosts.
        self.paths: set[Path] = set()
        for host in self.hosts:
            self.paths.update(_parts(host))


class Arrival(NamedTuple):
    """A server that gets a place.

    :param candidates: the hosts that the server may have.
    :param origin: the host that the server leaves, if it moves.
    """

    candidates: Candidates
    origin: Path = ()

    def leaves(self, path: Path) -> bool:
        """Tell whether the server leaves the only candidate in a place."""
        level = len(path)
        if not self.origin or self.origin[:level] != path:
            return False
        return all(
            host == self.origin
            for host in self.candidates.hosts
            if host[:level] == path
        )


class Ranking(NamedTuple):
    """How places with equal numbers of members are ordered.

    Every scheduler process finds the same order.

    :param team: teams begin at different places.
    :param kind: the number of the servers' kind in the team. Two kinds begin
        at the two ends, and the next two in the middle. So they meet late,
        although no kind knows where the others go.
    """

    team: str
    kind: int = 0

    def number(self, path: Path) -> int:
        """Return the number of a place; the smallest comes first."""
        text = f'{self.team}/{path[-1:]}'.encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        number = int.from_bytes(digest)
        if self.kind % 4 >= 2:
            number = (number + _ENDS // 2) % _ENDS
        if self.kind % 2:
            number = _ENDS - number
        return number


class Place:
    """A place, and the places in it.

    :param pack: whether members are packed, and not spread.
    """

    def __init__(self, path: Path, ranking: Ranking, pack: bool) -> None:
        self.path = path
        self.inside: dict[Path, Place] = {}
        self.members = 0
        self._pack = pack
        self._number = ranking.number(path)
        #: The queues of the inner places. When a place gets a member, its new
        #: key is added. The old key stays until :meth:`next` removes it.
        self._queues: dict[Candidates, Queue] = {}

    def key(self) -> Key:
        """Return the sort key of the place."""
        if self._pack:
            return -self.members, self._number
        return self.members, self._number

    def take(self, server: Arrival) -> Path:
        """Add a server to the place, and return the path of its host."""
        self.members += 1
        if not self.inside:
            return self.path
        place = self.next(server)
        path = place.take(server)
        for candidates, queue in self._queues.items():
            if place.path in candidates.paths:
                heapq.heappush(queue, (place.key(), place.path))
        return path

    def next(self, server: Arrival) -> 'Place':
        """Return the inner place that gets a server."""
        queue = self._queue(server.candidates)
        skipped = []
        while True:
            key, path = queue[0]
            if key != self.inside[path].key():
                heapq.heappop(queue)
            elif server.leaves(path):
                skipped.append(heapq.heappop(queue))
            else:
                break
        for entry in skipped:
            heapq.heappush(queue, entry)
        return self.inside[path]

    def _queue(self, candidates: Candidates) -> Queue:
        if candidates not in self._queues:
            self._queues[candidates] = [
                (place.key(), path)
                for path, place in self.inside.items()
                if path in candidates.paths
            ]
            heapq.heapify(self._queues[candidates])
        return self._queues[candidates]


class Places:
    """All places, with the members that are placed before the next server.

    :param server: the next server.
    :param counts: the paths of hosts, with their numbers of members. A host
        may be outside of all places.
    :param ahead: the members in flight that are placed before the next server,
        in their order.
    """

    def __init__(
        self,
        server: Arrival,
        counts: Iterable[tuple[Path, int]],
        ahead: Sequence[Arrival],
        ranking: Ranking,
        pack: bool,
    ) -> None:
        self._server = server
        self._hosts = [
            host for host in server.candidates.hosts if host != server.origin
        ]
        self._cloud = Place((), ranking, pack)
        self._places: dict[Path, Place] = {(): self._cloud}
        for candidates in {arrival.candidates for arrival in (server, *ahead)}:
            for host in candidates.hosts:
                self._add(host, ranking, pack)
        for host, count in counts:
            for path in _parts(host):
                if path in self._places:
                    self._places[path].members += count
        for member in ahead:
            # A member without another candidate goes elsewhere.
            if not member.leaves(()):
                self._cloud.take(member)

    def _add(self, host: Path, ranking: Ranking, pack: bool) -> None:
        for above, path in itertools.pairwise(_parts(host)):
            if path not in self._places:
                self._places[path] = Place(path, ranking, pack)
                self._places[above].inside[path] = self._places[path]

    def distances(self, subset: int = 1) -> dict[Path, float]:
        """Place the next server, and return the distance of each candidate.

        :param subset: the number of hosts from which Nova chooses at random.
        :returns: 0 for hosts with one of the best ``subset`` paths, and
            :data:`GAP` to 1 for other hosts.
        """
        right = self._cloud.take(self._server)
        wrong = sorted({*self._hosts} - {right}, key=self._key)
        distances = {}
        for rank, host in enumerate([right, *wrong]):
            distances[host] = 0.0
            if rank >= subset:
                distances[host] = GAP + (1 - GAP) * rank / (len(wrong) + 1)
        return distances

    def _key(self, path: Path) -> list[Key]:
        return [self._places[part].key() for part in _parts(path)[1:]]


def _parts(path: Path) -> list[Path]:
    """Return the paths of the whole cloud and of all places of a host."""
    return [path[:level] for level in range(len(path) + 1)]


def shared(
    metadata: Iterable[Mapping[str, str]], level: str, default_zone: str
) -> str | None:
    """Return the name of the place that a host shares with other hosts.

    :param metadata: the metadata of each of the host's aggregates.
    :param level: a key of metadata, or :data:`HOST`.
    :param default_zone: the zone of hosts whose aggregates name no zone.
    :returns: the name; if there are several names, the first in alphabetical
        order. None if there is no name, and always for :data:`HOST`.
    """
    if level == HOST:
        return None
    names = {values[level] for values in metadata if values.get(level)}
    if names:
        return min(names)
    if level == ZONE:
        return default_zone
    return None
