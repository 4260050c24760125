# SPDX-License-Identifier: Apache-2.0

"""Choose which nodes of a cluster are to be deleted.

The criteria are those of the deletion policy's specification. With each
criterion, useless nodes go before healthy ones. If another policy decided how
many nodes leave each region or zone, the criterion applies within each region
or zone (both sections "S6" of the specification).
"""

import collections
import enum
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.snapshot import Node

#: Nodes with one of these statuses, and tainted nodes, are useless: they go
#: first. Nodes that were never created go next.
BAD_STATUSES = ('ERROR', 'WARNING')


class Criterion(enum.StrEnum):
    """Which nodes go first (property ``criteria``)."""

    #: The node that was created first.
    OLDEST_FIRST = 'OLDEST_FIRST'
    #: The node whose profile was created first.
    OLDEST_PROFILE_FIRST = 'OLDEST_PROFILE_FIRST'
    #: The node that was created last.
    YOUNGEST_FIRST = 'YOUNGEST_FIRST'
    #: Any node, with the same probability for each.
    RANDOM = 'RANDOM'


#: Criterion -> the value by which healthy nodes are sorted.
_KEYS: Mapping[Criterion, Callable[[Node], Any]] = {
    Criterion.OLDEST_FIRST: operator.attrgetter('created_at'),
    Criterion.OLDEST_PROFILE_FIRST: lambda node: node.profile_created_at or '',
    Criterion.YOUNGEST_FIRST: operator.attrgetter('created_at'),
    Criterion.RANDOM: operator.attrgetter('lot'),
}


def accept(named: Iterable[str], members: Iterable[str]) -> Decision:
    """Accept the nodes that a request names.

    This is scenario S1 of the deletion policy's specification.

    The API does not check the ids from a webhook. Senlin may also have deleted
    a node after the API checked its id.

    :param named: the ids in the request.
    :param members: the ids of the cluster's nodes.
    :returns: the named nodes of the cluster, each once; a refusal if none of
        the named nodes is in the cluster.
    """
    member_ids = set(members)
    # A dict keeps each id once, in the order of the request.
    ids = dict.fromkeys(named)
    candidates = [id_ for id_ in ids if id_ in member_ids]
    if ids and not candidates:
        return Decision(
            refusal=f"The 'candidates' '{', '.join(ids)}' are not in the "
            'cluster.'
        )
    return Decision(candidates=tuple(candidates))


def select(
    nodes: Iterable[Node],
    count: int,
    criterion: Criterion,
    decided: Mapping[str, Any],
) -> Decision:
    """Choose the nodes that leave.

    The scenarios are S2 to S6 of the deletion policy's specification.

    If a region or zone has too few nodes, all its nodes leave. The nodes that
    are still to be chosen then come from all other regions and zones. If the
    cluster has too few nodes, all nodes are chosen.

    :param nodes: the nodes of the cluster, each once.
    :param count: how many nodes to choose.
    :param criterion: which healthy nodes go first.
    :param decided: the ``deletion`` of an action's data. Its ``regions`` map
        each region to the number of nodes that must leave it. If it has no
        ``regions``, its ``zones`` do the same for the availability zones.
    """
    # The specification has both spellings, "regions" and "region".
    per_region = decided.get('regions') or decided.get('region')
    per_group: Mapping[str, int] = per_region or decided.get('zones') or {}
    ordered = _in_order(nodes, criterion)
    members: dict[str | None, list[Node]] = collections.defaultdict(list)
    for node in ordered:
        members[node.region if per_region else node.zone].append(node)
    chosen: list[str] = []
    shortage = {}
    for name, number in sorted(per_group.items()):
        chosen.extend(node.id for node in members[name][:number])
        if number > len(members[name]):
            shortage[name] = number - len(members[name])
    missing = max(count, sum(per_group.values())) - len(chosen)
    taken = set(chosen)
    rest = [node.id for node in ordered if node.id not in taken]
    return Decision(candidates=(*chosen, *rest[:missing]), shortage=shortage)


def _in_order(nodes: Iterable[Node], criterion: Criterion) -> list[Node]:
    """Return the nodes in the order in which they go."""
    useless, never_created, healthy = [], [], []
    # The sort below is stable: equal nodes stay in order of index and id.
    for node in sorted(nodes, key=operator.attrgetter('position', 'id')):
        if node.tainted or node.status in BAD_STATUSES:
            useless.append(node)
        elif node.created_at is None:
            never_created.append(node)
        else:
            healthy.append(node)
    youngest_first = criterion is Criterion.YOUNGEST_FIRST
    healthy.sort(key=_KEYS[criterion], reverse=youngest_first)
    return useless + never_created + healthy
