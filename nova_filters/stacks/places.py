# SPDX-License-Identifier: Apache-2.0

"""Choose the place for the next member of a stack or server group.

A *path* names the place of a host at each level, the most important level
first: ``(('rack', 'a'), ('host', 'compute-1'))``.
"""

import hashlib
import heapq
from collections.abc import Iterable, Sequence

Path = tuple[tuple[str, str], ...]


class Place:
    """A place, with the places in it; the next one to be taken is the first.

    :param team: equal places stand in an order of the team's own. Nova's
        other weighers change their minds with each server that starts.
    :param step: 1 to spread the members, -1 to pack them.
    """

    def __init__(self, path: Path, team: str, step: int) -> None:
        self.path, self.inside = path, list[Place]()
        self._load, self._step = 0, step
        text = f'{team}/{path[-1:]}'.encode()
        self._tie = hashlib.blake2b(text, digest_size=8).digest()

    def key(self) -> tuple[int, bytes]:
        """Return what orders the places in one place."""
        return self._load, self._tie

    def __lt__(self, other: 'Place') -> bool:
        """Tell whether a server goes here rather than there."""
        return self.key() < other.key()

    def add(self, count: int) -> None:
        """Count members."""
        self._load += count * self._step

    def take(self) -> Path:
        """Add a member where it belongs, and return the path."""
        self.add(1)
        if not self.inside:
            return self.path
        found = self.inside[0].take()
        heapq.heapreplace(self.inside, self.inside[0])
        return found


def choose(
    candidates: Sequence[Path],
    counts: Iterable[tuple[Path, int]],
    ahead: int,
    team: str,
    pack: bool,
    subset: int = 1,
) -> list[float]:
    """Return how far the place of each candidate is from the right one.

    The members in flight are placed one by one, and then the server itself.

    :param counts: the members at paths, which need not be candidates'.
    :param ahead: how many members in flight have the same candidates.
    :param subset: how many hosts Nova chooses from at random.
    :returns: 0 for the hosts in the right place, or in so many places; for
        others 0.9 to 1, so that no other weigher makes up for it.
    """
    places: dict[Path, Place] = {(): Place((), team, -1 if pack else 1)}
    for path in candidates:
        for level in range(len(path)):
            one = path[: level + 1]
            if one not in places:
                places[one] = Place(one, team, -1 if pack else 1)
                places[path[:level]].inside.append(places[one])
    for path, count in counts:
        for level in range(len(path)):
            if path[: level + 1] in places:
                places[path[: level + 1]].add(count)
    for place in places.values():
        heapq.heapify(place.inside)
    right = [places[()].take() for _ in range(ahead + 1)][-1]

    def key(path: Path) -> list[tuple[int, bytes]]:
        return [places[path[: n + 1]].key() for n in range(len(path))]

    others = sorted({*candidates} - {right}, key=key)
    ranks = {path: n for n, path in enumerate([right, *others])}
    return [
        0.9 + 0.1 * ranks[path] / len(ranks) if ranks[path] >= subset else 0.0
        for path in candidates
    ]
