# SPDX-License-Identifier: Apache-2.0

"""Choose which nodes of a cluster are to be deleted.

The criteria are those of the deletion policy's specification. Nodes that
are of no use any more go before healthy ones, whatever the criterion. Where
another policy decided how many nodes leave each region or zone, the
criterion applies within each of them (both sections "S6" of the document).

A cluster may have many thousand nodes, and every attribute of a Senlin
object is a call. So the nodes are taken as they are, and each is asked only
for what the criterion needs.
"""

import collections
import dataclasses
import datetime
import enum
import itertools
import operator
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

#: Operator-visible reason, letter by letter from the specification.
CANDIDATES_GENERATED = 'Candidates generated'

#: Nodes with such a status are of no use any more, like tainted ones: they
#: go first, and after them those that were never created.
BAD_STATUSES = ('ERROR', 'WARNING')

#: What decides between nodes that are alike otherwise.
_TIES = (operator.attrgetter('index'), operator.attrgetter('id'))


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


class Node(Protocol):
    """What the selection reads of a node, as Senlin's objects name it."""

    @property
    def id(self) -> str:
        """The node's id."""

    @property
    def index(self) -> int:
        """Its index in the cluster; decides between equal ages."""

    @property
    def status(self) -> str:
        """Its status."""

    @property
    def tainted(self) -> bool:
        """Whether a health check marked it as of no use."""

    @property
    def created_at(self) -> datetime.datetime | None:
        """When it was created; ``None`` when it never was."""

    @property
    def profile_created_at(self) -> str | None:
        """When its profile was created, as text that sorts like time.

        ISO 8601 in one time zone: Senlin keeps it so.
        """


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
    nodes: Iterable[Node],
    count: int,
    criterion: Criterion,
    rng: random.Random,
    groups: Iterable[str | None] = (),
    per_group: Mapping[str, int] | None = None,
) -> Selection:
    """Choose the nodes to delete.

    A region or zone that has fewer nodes than it is asked for gives what it
    has; the rest is made up by the criterion from all other nodes. There
    are never more candidates than nodes.

    :param nodes: the nodes of the cluster, none twice.
    :param count: how many to choose.
    :param criterion: who goes first among the good ones.
    :param rng: the source of chance for ``RANDOM``.
    :param groups: the region or zone of each node, ``None`` when unknown;
        read only with ``per_group``.
    :param per_group: region or zone -> how many must come from it.
    :returns: the candidates and what was short.
    """
    nodes = list(nodes)
    wanted = per_group or {}
    members: dict[str | None, list[Node]] = collections.defaultdict(list)
    if wanted:
        for node, group in zip(nodes, groups, strict=True):
            members[group].append(node)
    chosen: list[str] = []
    shortage: dict[str, int] = {}
    for name in sorted(wanted):
        picked = _pick(members.get(name, []), wanted[name], criterion, rng)
        chosen += picked
        if len(picked) < wanted[name]:
            shortage[name] = wanted[name] - len(picked)
    missing = max(count, sum(wanted.values())) - len(chosen)
    if missing > 0:
        if chosen:
            taken = set(chosen)
            nodes = [node for node in nodes if node.id not in taken]
        chosen += _pick(nodes, missing, criterion, rng)
    return Selection(tuple(chosen), shortage)


def _pick(
    nodes: Sequence[Node],
    count: int,
    criterion: Criterion,
    rng: random.Random,
) -> list[str]:
    """Choose from one pool, those of no use first.

    :returns: at most ``count`` ids, in the order in which they go.
    """
    if count <= 0:
        return []
    bad = []
    unborn = []
    good = []
    births = []
    for node in nodes:
        if node.tainted or node.status in BAD_STATUSES:
            bad.append(node)
            continue
        born = node.created_at
        if born is None:
            unborn.append(node)
        else:
            good.append(node)
            births.append(born)
    victims = _first(bad, len(bad), _TIES) + _first(unborn, len(unborn), _TIES)
    rest = min(max(0, count - len(victims)), len(good))
    if criterion is Criterion.RANDOM:
        victims += rng.sample(good, rest)
    elif criterion is Criterion.OLDEST_PROFILE_FIRST:
        ages = [node.profile_created_at or '' for node in good]
        victims += _by_value(good, ages, rest, _TIES)
    else:
        latest = criterion is Criterion.YOUNGEST_FIRST
        victims += _by_value(good, births, rest, _TIES, reverse=latest)
    return [node.id for node in victims[:count]]


def _first(
    nodes: list[Node], count: int, keys: Sequence[Callable[[Node], Any]]
) -> list[Node]:
    """Return the ``count`` nodes with the smallest keys, in that order."""
    if not keys or len(nodes) < 2:
        return nodes[:count]
    values = [*map(keys[0], nodes)]
    return _by_value(nodes, values, count, keys[1:])


def _by_value(
    nodes: list[Node],
    values: Sequence[Any],
    count: int,
    keys: Sequence[Callable[[Node], Any]],
    reverse: bool = False,
) -> list[Node]:
    """Return the ``count`` nodes with the smallest or the largest values.

    Equal ones go by the smallest of the next keys. Most nodes need not be
    asked for these, nor those that are too far behind to be chosen.
    """
    order = sorted(range(len(nodes)), key=values.__getitem__, reverse=reverse)
    chosen: list[Node] = []
    for _, positions in itertools.groupby(order, key=values.__getitem__):
        if len(chosen) >= count:
            break
        alike = [nodes[i] for i in positions]
        if len(alike) > 1:
            alike = _first(alike, count - len(chosen), keys)
        chosen += alike
    return chosen
