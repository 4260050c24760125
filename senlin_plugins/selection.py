# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Choose which nodes of a cluster are to be deleted.

The criteria are those of the deletion policy's specification. Nodes that
are of no use any more go before healthy ones, whatever the criterion. Where
another policy decided how many nodes leave each region or zone, the
criterion applies within each of them (both sections "S6" of the document).
"""

import collections
import dataclasses
import enum
import random
from collections.abc import Iterable, Mapping, Sequence

#: Operator-visible reason, letter by letter from the specification.
CANDIDATES_GENERATED = 'Candidates generated'


class Criterion(enum.StrEnum):
    """Who goes first (property ``criteria``)."""

    #: The node that was created first.
    OLDEST_FIRST = 'OLDEST_FIRST'
    #: The node whose profile was created first.
    OLDEST_PROFILE_FIRST = 'OLDEST_PROFILE_FIRST'
    #: The node that was created last.
    YOUNGEST_FIRST = 'YOUNGEST_FIRST'
    #: Any node, each as likely as the other.
    RANDOM = 'RANDOM'


class Fitness(enum.IntEnum):
    """How much a node is still worth; the smaller goes first."""

    #: In status ERROR or WARNING, or tainted.
    BAD = 0
    #: Never created: there may be nothing behind it.
    UNBORN = 1
    GOOD = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One node of the cluster.

    :param id: the node's id.
    :param group: the region or zone it is in; ``None`` when unknown.
    :param fitness: whether it goes before healthy nodes.
    :param created: when it was created, in seconds since the epoch.
    :param profile_created: when its profile was created, as text that sorts
        like time (ISO 8601, one time zone): Senlin keeps it so.
    :param index: its index in the cluster; decides between equal ages.
    """

    id: str
    group: str | None = None
    fitness: Fitness = Fitness.GOOD
    created: float = 0.0
    profile_created: str = ''
    index: int = -1


@dataclasses.dataclass(frozen=True)
class Selection:
    """The chosen nodes.

    :param candidates: node ids, the first to go first; none twice.
    :param shortage: region or zone -> how many nodes it lacked to give what
        it was asked for; those were taken from the others.
    """

    candidates: tuple[str, ...]
    shortage: Mapping[str, int]


def select(
    members: Iterable[Member],
    count: int,
    criterion: Criterion,
    rng: random.Random,
    per_group: Mapping[str, int] | None = None,
) -> Selection:
    """Choose the nodes to delete.

    A region or zone that has fewer nodes than it is asked for gives what it
    has; the rest is made up by the criterion from all other nodes. There
    are never more candidates than members.

    :param members: the nodes of the cluster.
    :param count: how many to choose.
    :param criterion: who goes first among the good ones.
    :param rng: the source of chance for ``RANDOM``.
    :param per_group: region or zone -> how many must come from it.
    :returns: the candidates and what was short.
    """
    unique = {member.id: member for member in members}
    chosen: dict[str, None] = {}
    shortage: dict[str, int] = {}
    groups: dict[str | None, list[Member]] = collections.defaultdict(list)
    wanted = per_group or {}
    if wanted:
        for member in unique.values():
            groups[member.group].append(member)
    for name in sorted(wanted):
        picked = _pick(groups.get(name, []), wanted[name], criterion, rng)
        chosen.update(dict.fromkeys(picked))
        if len(picked) < wanted[name]:
            shortage[name] = wanted[name] - len(picked)
    missing = max(count, sum(wanted.values())) - len(chosen)
    if missing > 0:
        rest = [m for m in unique.values() if m.id not in chosen]
        chosen.update(dict.fromkeys(_pick(rest, missing, criterion, rng)))
    return Selection(tuple(chosen), shortage)


def _pick(
    members: Sequence[Member],
    count: int,
    criterion: Criterion,
    rng: random.Random,
) -> list[str]:
    """Choose from one pool, those of no use first.

    :returns: at most ``count`` ids, in the order in which they go.
    """
    useless = [m for m in members if m.fitness is not Fitness.GOOD]
    useless.sort(key=lambda m: (m.fitness, m.index, m.id))
    picked = useless[:count]
    good = [m for m in members if m.fitness is Fitness.GOOD]
    picked += _by_criterion(good, count - len(picked), criterion, rng)
    return [m.id for m in picked]


def _by_criterion(
    good: list[Member], count: int, criterion: Criterion, rng: random.Random
) -> list[Member]:
    """Choose at most ``count`` of the good nodes."""
    count = min(count, len(good))
    if count <= 0:
        return []
    if criterion is Criterion.RANDOM:
        return rng.sample(good, count)
    # Two stable sorts: equal ages stay in the order of index and id, also
    # when the ages are sorted downwards.
    good.sort(key=lambda m: (m.index, m.id))
    if criterion is Criterion.OLDEST_PROFILE_FIRST:
        good.sort(key=lambda m: m.profile_created)
    else:
        good.sort(
            key=lambda m: m.created,
            reverse=criterion is Criterion.YOUNGEST_FIRST,
        )
    return good[:count]
