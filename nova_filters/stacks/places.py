# SPDX-License-Identifier: Apache-2.0

"""Choose the place for the next member of a stack or server group.

A *path* names the place of a host at each level, the most important level
first: ``(('rack', 'a'), ('host', 'compute-1'))``.
"""

import hashlib
import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final, NamedTuple

Path = tuple[tuple[str, str], ...]
#: The level at which each host is a place, and that of Nova's zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


#: The kind of the server that is placed; others are numbered from 1.
MINE: Final = 0


class Flight(NamedTuple):
    """A member in flight.

    :param kind: members of one kind have the same candidates.
    :param allowed: the places that it may have, with those around them. It
        does not count for :data:`MINE`, which may have all.
    """

    kind: int = MINE
    allowed: Set[Path] = frozenset()


class Place:
    """A place, with the places in it; the next one to be taken is the first.

    :param team: equal places stand in an order of the team's own. Nova's
        other weighers change their minds with each server that starts.
    :param pack: whether members go to each other, and not apart.
    """

    def __init__(self, path: Path, team: str, pack: bool) -> None:
        self.path = path
        self.inside = list[Place]()
        #: The members that are here, and those in flight by their kind.
        self.members = 0
        self.ahead: dict[int, int] = {}
        self._pack = pack
        text = f'{team}/{path[-1:]}'.encode()
        self._tie = hashlib.blake2b(text, digest_size=8).digest()

    def key(self, kind: int = MINE) -> tuple[int, int, bytes]:
        """Return what orders the places in one place.

        Nobody knows whether members of other kinds have candidates elsewhere,
        so they only decide between places that are equal without them.

        :param kind: of the server that looks for a place.
        """
        alike = self.count(kind)
        others = self.members + sum(self.ahead.values()) - alike
        if self._pack:
            return -alike, -others, self._tie
        return alike, others, self._tie

    def count(self, kind: int = MINE) -> int:
        """Return the members here, with those in flight of one kind."""
        return self.members + self.ahead.get(kind, 0)

    def __lt__(self, other: 'Place') -> bool:
        """Tell whether a server goes here rather than there."""
        return self.key() < other.key()

    def take(self, flight: Flight) -> Path:
        """Add a member where it belongs, and return the path."""
        self.ahead[flight.kind] = self.ahead.get(flight.kind, 0) + 1
        if not self.inside:
            return self.path
        if flight.kind == MINE:
            path = self.inside[0].take(flight)
            heapq.heapreplace(self.inside, self.inside[0])
            return path
        place = min(
            (place for place in self.inside if place.path in flight.allowed),
            key=lambda place: place.key(flight.kind),
        )
        path = place.take(flight)
        heapq.heapify(self.inside)
        return path


class Places:
    """The places of the candidates, with the members that come first.

    :param candidates: the paths of the hosts to choose from.
    :param counts: the members at paths, which need not be candidates'.
    :param ahead: the members in flight that come first, one by one.
    """

    def __init__(
        self,
        candidates: Sequence[Path],
        counts: Iterable[tuple[Path, int]],
        ahead: Iterable[Flight],
        team: str,
        pack: bool,
    ) -> None:
        self._candidates = candidates
        self._places: dict[Path, Place] = {(): Place((), team, pack)}
        for path in candidates:
            for above, one in itertools.pairwise(_parts(path)):
                if one not in self._places:
                    self._places[one] = Place(one, team, pack)
                    self._places[above].inside.append(self._places[one])
        for path, count in counts:
            for one in _parts(path):
                if one in self._places:
                    self._places[one].members += count
        for place in self._places.values():
            heapq.heapify(place.inside)
        for flight in ahead:
            self._places[()].take(flight)

    def skews(self) -> list[int]:
        """Return by how many members each first place would be the fullest.

        :returns: for each candidate, the members of its place at the first
            level with the server in it, less those of the emptiest place. A
            place whose turn it is not may get one more at the same time.
        """
        first, *others = self._places[()].inside
        least = min(place.count() for place in (first, *others))
        found = {place.path: place.count() + 2 - least for place in others}
        found[first.path] = first.count() + 1 - least
        return [found[path[:1]] for path in self._candidates]

    def distances(self, subset: int = 1) -> list[float]:
        """Place the server, and return how far each candidate is from there.

        :param subset: how many hosts Nova chooses from at random.
        :returns: 0 for the hosts in the right place, or in so many places;
            for others 0.9 to 1, so that no other weigher makes up for it.
        """
        right = self._places[()].take(Flight())
        others = sorted({*self._candidates} - {right}, key=self._key)
        ranks = {path: n for n, path in enumerate([right, *others])}
        return [
            0.9 + 0.1 * ranks[one] / len(ranks)
            if ranks[one] >= subset
            else 0.0
            for one in self._candidates
        ]

    def _key(self, path: Path) -> list[tuple[int, int, bytes]]:
        """Return what orders hosts."""
        return [self._places[one].key() for one in _parts(path)]


def flight(kind: int, paths: Iterable[Path]) -> Flight:
    """Return a member in flight.

    :param paths: of the hosts that it may have.
    """
    allowed = {part for path in paths for part in _parts(path)}
    return Flight(kind, allowed)


def _parts(path: Path) -> list[Path]:
    """Return the paths of all places that a host is in."""
    return [path[:level] for level in range(len(path) + 1)]


def shared(
    metadata: Iterable[Mapping[str, str]], level: str, default_zone: str
) -> str | None:
    """Return the name of the place that a host shares with others.

    :param metadata: of the host's aggregates.
    :param level: a key of metadata; for :data:`HOST` there is no such place.
    :param default_zone: the zone of hosts that no aggregate puts into one.
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
