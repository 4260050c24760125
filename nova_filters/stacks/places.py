# SPDX-License-Identifier: Apache-2.0

"""Choose the place for the next member of a stack or server group.

A *path* names the place of a host at each level, the most important level
first: ``(('rack', 'a'), ('host', 'compute-1'))``.
"""

import hashlib
import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

Path = tuple[tuple[str, str], ...]
#: What orders places.
Key = tuple[int, bytes]
#: The level at which each host is a place, and that of Nova's zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


class Candidates:
    """The hosts that some servers may have.

    :param hosts: the paths of the hosts.
    """

    def __init__(self, hosts: Iterable[Path]) -> None:
        self.hosts = [*hosts]
        #: With the places around the hosts.
        self.paths: set[Path] = set()
        for host in self.hosts:
            self.paths.update(_parts(host))


class Place:
    """A place, and the places in it.

    :param team: the order of equal places depends on the team only. The order
        by Nova's other weighers changes with each server that starts.
    :param pack: whether members are packed, and not spread.
    """

    def __init__(self, path: Path, team: str, pack: bool) -> None:
        self.path = path
        self.inside: dict[Path, Place] = {}
        self.members = 0
        self._pack = pack
        text = f'{team}/{path[-1:]}'.encode()
        self._tie = hashlib.blake2b(text, digest_size=8).digest()
        #: The inner places that some servers may have, by their keys.
        #: A place has a new key with each member. Its old keys stay.
        self._queues: dict[Candidates, list[tuple[Key, Path]]] = {}

    def key(self) -> Key:
        """Return the sort key of the place; the smallest key is next."""
        if self._pack:
            return -self.members, self._tie
        return self.members, self._tie

    def next(self, candidates: Candidates) -> 'Place':
        """Return the inner place that gets the next server."""
        if candidates not in self._queues:
            self._queues[candidates] = [
                (place.key(), path)
                for path, place in self.inside.items()
                if path in candidates.paths
            ]
            heapq.heapify(self._queues[candidates])
        queue = self._queues[candidates]
        while True:
            key, path = queue[0]
            if key == self.inside[path].key():
                return self.inside[path]
            heapq.heappop(queue)

    def take(self, candidates: Candidates) -> Path:
        """Add a member, and return the path of its host."""
        self.members += 1
        if not self.inside:
            return self.path
        place = self.next(candidates)
        path = place.take(candidates)
        for queue_candidates, queue in self._queues.items():
            if place.path in queue_candidates.paths:
                heapq.heappush(queue, (place.key(), place.path))
        return path


class Places:
    """The places of hosts, with the members that come first.

    :param candidates: of the server that is placed.
    :param counts: the paths of members; a path may be outside of all places.
    :param ahead: the candidates of the members in flight that come first, one
        by one.
    """

    def __init__(
        self,
        candidates: Candidates,
        counts: Iterable[tuple[Path, int]],
        ahead: Sequence[Candidates],
        team: str,
        pack: bool,
    ) -> None:
        self._candidates = candidates
        self._cloud = Place((), team, pack)
        self._places: dict[Path, Place] = {(): self._cloud}
        for servers in {candidates, *ahead}:
            for host in servers.hosts:
                self._add(host, team, pack)
        for host, count in counts:
            for path in _parts(host):
                if path in self._places:
                    self._places[path].members += count
        for servers in ahead:
            self._cloud.take(servers)

    def _add(self, host: Path, team: str, pack: bool) -> None:
        """Add a host, and the places around it that are not there yet."""
        for above, path in itertools.pairwise(_parts(host)):
            if path not in self._places:
                self._places[path] = Place(path, team, pack)
                self._places[above].inside[path] = self._places[path]

    def skews(self) -> list[int]:
        """Return by how many members each first place would be the fullest.

        :returns: for each candidate, the number of members in its place at the
            first level with the server in it, minus the number in the emptiest
            place. At the same time, another place may get one more member.
        """
        firsts = {host[:1] for host in self._candidates.hosts}
        counts = {path: self._places[path].members for path in firsts}
        least = min(counts.values())
        skews = {path: count + 2 - least for path, count in counts.items()}
        skews[self._cloud.next(self._candidates).path] -= 1
        return [skews[host[:1]] for host in self._candidates.hosts]

    def distances(self, subset: int = 1) -> list[float]:
        """Place the server, and return how far each candidate is from there.

        :param subset: how many hosts Nova chooses from at random.
        :returns: 0 for the hosts in the right place, or in so many places; for
            others 0.9 to 1, so that no other weigher can outweigh it.
        """
        right = self._cloud.take(self._candidates)
        wrong = sorted({*self._candidates.hosts} - {right}, key=self._key)
        ranks = {host: rank for rank, host in enumerate([right, *wrong])}
        distances = []
        for host in self._candidates.hosts:
            rank = ranks[host]
            if rank < subset:
                distances.append(0.0)
            else:
                distances.append(0.9 + 0.1 * rank / len(ranks))
        return distances

    def _key(self, path: Path) -> list[Key]:
        """Return the sort key of hosts."""
        return [self._places[part].key() for part in _parts(path)]


def _parts(path: Path) -> list[Path]:
    """Return the paths of all places that a host is in."""
    return [path[:level] for level in range(len(path) + 1)]


def shared(
    metadata: Iterable[Mapping[str, str]], level: str, default_zone: str
) -> str | None:
    """Return the name of the place that a host shares with others.

    :param metadata: of the host's aggregates.
    :param level: a key of metadata; for :data:`HOST` there is no such place.
    :param default_zone: the zone of hosts that are in no zone by an aggregate.
    :returns: the first name in alphabetical order if there are several.
    """
    if level == HOST:
        return None
    names = {values[level] for values in metadata if values.get(level)}
    if names:
        return min(names)
    if level == ZONE:
        return default_zone
    return None
