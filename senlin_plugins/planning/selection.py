# SPDX-License-Identifier: Apache-2.0

"""Choose which nodes of a cluster are to be deleted.

The criteria are those of the deletion policy's specification. Nodes of no use
go before healthy ones, and the criterion orders both. If another policy
decided how many nodes leave each region or zone, the criterion applies within
each region or zone (both sections "S6" of the specification).
"""

import collections
import datetime
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from senlin_plugins.planning.decision import Decision

#: Nodes with one of these statuses, and tainted nodes, go first. Nodes that
#: were never created go next.
BAD_STATUSES: Final = ('ERROR', 'WARNING')


class Node(NamedTuple):
    """A node of a cluster.

    :param id: its id.
    :param region: the region in which the node counts; empty if the region is
        unknown, and ``NO_REGION`` if no region is chosen yet.
    :param zone: its availability zone, if its data name one.
    :param status: its status.
    :param tainted: whether a user has marked it as tainted through the API.
    :param position: its index in the cluster.
    :param created_at: when it was created; ``None`` if it never was.
    :param profile_created_at: when its profile was created, as text that
        sorts like time.
    :param lot: a random number between 0 and 1, for a random order of nodes.
    :param recorded: whether the node's data name its region.
    """

    id: str
    region: str = ''
    zone: str | None = None
    status: str = 'ACTIVE'
    tainted: bool = False
    position: int = -1
    created_at: datetime.datetime | None = None
    profile_created_at: str | None = None
    lot: float = 0.0
    recorded: bool = True


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


def _is_bad(node: Node) -> bool:
    return node.tainted or node.status in BAD_STATUSES


def count_useless(nodes: Iterable[Node]) -> dict[str, int]:
    """Return region name -> number of nodes that go before healthy nodes."""
    useless = []
    for node in nodes:
        if _is_bad(node) or node.created_at is None:
            useless.append(node.region)
    return collections.Counter(useless)


def accept_nodes(named: Iterable[str], members: Iterable[str]) -> Decision:
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


def select_nodes(
    nodes: Sequence[Node],
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
    :param criterion: which nodes of the same use go first.
    :param decided: the ``deletion`` of an action's data. Its ``regions`` map
        each region to the number of nodes that must leave it. If it has no
        ``regions``, its ``zones`` do the same for the availability zones.
    """
    # The specification has both spellings, "regions" and "region".
    per_region = decided.get('regions') or decided.get('region')
    per_group: Mapping[str, int] = per_region or decided.get('zones') or {}
    ordered = sorted(nodes, key=lambda node: _order(node, criterion))
    groups: dict[str | None, list[Node]] = collections.defaultdict(list)
    for node in ordered:
        groups[node.region if per_region else node.zone].append(node)
    chosen: list[Node] = []
    shortage = {}
    for group, number in sorted(per_group.items()):
        members = groups[group]
        chosen.extend(members[:number])
        if number > len(members):
            shortage[group] = number - len(members)
    missing = max(count, sum(per_group.values())) - len(chosen)
    taken = {node.id for node in chosen}
    rest = [node for node in ordered if node.id not in taken]
    chosen.extend(rest[:missing])
    candidates = tuple(node.id for node in chosen)
    return Decision(candidates=candidates, shortage=shortage)


def _order(node: Node, criterion: Criterion) -> tuple[Any, ...]:
    """Return a key by which the nodes that go first sort first.

    A bad node that was never created has nothing to lose, so it goes first.
    """
    rank: float | str
    if criterion is Criterion.RANDOM:
        rank = node.lot
    elif criterion is Criterion.OLDEST_PROFILE_FIRST:
        rank = node.profile_created_at or ''
    elif criterion is Criterion.OLDEST_FIRST:
        rank = _seconds(node)
    else:
        rank = -_seconds(node)
    created = node.created_at is not None
    return not _is_bad(node), created, rank, node.position, node.id


def _seconds(node: Node) -> float:
    """Return when a node was created; 0 if it never was."""
    if node.created_at is None:
        return 0.0
    return node.created_at.replace(tzinfo=datetime.UTC).timestamp()
