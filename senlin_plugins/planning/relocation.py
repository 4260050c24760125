# SPDX-License-Identifier: Apache-2.0

"""Foresee where the nodes of a cluster come that cannot be where they were."""

import dataclasses
from collections.abc import Sequence

from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot, distribution


def relocate(
    snapshot: Snapshot, ids: Sequence[str]
) -> tuple[dict[str, str], list[str], Snapshot]:
    """Give nodes new regions, as many as there is room for.

    Growing by one node several times is growing by several, so each node may
    find its own place, in any order.

    :param snapshot: the cluster.
    :param ids: the nodes, in the order in which they are served.
    :returns: node id -> its new region; the ids of those without a place; and
        the cluster with the nodes in their new places, with the same change.
    """
    moves: dict[str, str] = {}
    nodes = [node for node in snapshot.nodes if node.id not in ids]
    current = distribution(nodes, growing=True)
    # Those without a place go on to count where they are.
    stuck = list(ids)
    one = Change(growing=True, count=1)
    state = dataclasses.replace(snapshot, change=one, current=current)
    for node in ids:
        decision = place(state)
        if decision.refusal:
            break
        (moves[node],) = decision.placements
        stuck.remove(node)
        state = state.after(decision.plan)
    rest = [node for node in snapshot.nodes if node.id in stuck]
    for name, count in distribution(rest, growing=True).items():
        state = state.after({name: count})
    return moves, stuck, dataclasses.replace(state, change=snapshot.change)
