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
from typing import Final

Path = tuple[tuple[str, str], ...]
#: The sort key of a place; the place with the smallest key gets the next
#: server.
Key = tuple[int, bytes]
#: The level at which each host is a place, and the level of Nova's zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


class Candidates:
    """The candidate hosts of one or more servers.

    :param hosts: the paths of the hosts.
    """

    def __init__(self, hosts: Iterable[Path]) -> None:
        self.hosts = [*hosts]
        #: The paths of the hosts, and of all places around the hosts.
        self.paths: set[Path] = set()
        for host in self.hosts:
            self.paths.update(_parts(host))


class Place:
    """A place, and the places in it.

    :param team: a text that decides the order of places with equal numbers of
        members. Every scheduler process then uses the same order.
    :param pack: whether members are packed, and not spread.
    """

    def __init__(self, path: Path, team: str, pack: bool) -> None:
        self.path = path
        self.inside: dict[Path, Place] = {}
        self.members = 0
        self._pack = pack
        text = f'{team}/{path[-1:]}'.encode()
        self._tie = hashlib.blake2b(text, digest_size=8).digest()
        #: For each :class:`Candidates`, a heap of the keys and paths of the
        #: inner places. When a place gets a member, its new key is added. The
        #: old key stays in the heap until :meth:`next` removes it.
        self._queues: dict[Candidates, list[tuple[Key, Path]]] = {}

    def key(self) -> Key:
        """Return the sort key of the place."""
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
        """Add a member to the place, and return the path of its host."""
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
    """All places, with the members that are placed before the next server.

    :param candidates: the candidates of the next server.
    :param counts: the paths of hosts, with their numbers of members. A host
        may be outside of all places.
    :param ahead: the candidates of each member in flight that is placed before
        the next server.
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
        """Add a host, and the missing places around it."""
        for above, path in itertools.pairwise(_parts(host)):
            if path not in self._places:
                self._places[path] = Place(path, team, pack)
                self._places[above].inside[path] = self._places[path]

    def skews(self) -> list[int]:
        """Return the skew of each candidate's place at the first level.

        :returns: for each candidate, the number of members in its place, with
            the new server, minus the number in the emptiest place. For each
            place except the next one in the order, the number is larger by 1:
            the place may get another server at the same time.
        """
        firsts = {host[:1] for host in self._candidates.hosts}
        counts = {path: self._places[path].members for path in firsts}
        least = min(counts.values())
        skews = {path: count + 2 - least for path, count in counts.items()}
        skews[self._cloud.next(self._candidates).path] -= 1
        return [skews[host[:1]] for host in self._candidates.hosts]

    def distances(self, subset: int = 1) -> list[float]:
        """Place the next server, and return the distance of each candidate.

        :param subset: the number of hosts from which Nova chooses at random.
        :returns: 0 for hosts with one of the best ``subset`` paths, and 0.9 to
            1 for other hosts. The gap is large, so that other weighers do not
            easily outweigh the right place.
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
        """Return the sort key of a host: the keys of its places."""
        return [self._places[part].key() for part in _parts(path)]


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
