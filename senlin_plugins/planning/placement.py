# SPDX-License-Identifier: Apache-2.0

"""Decide in which regions nodes are created, and which nodes leave."""

import dataclasses
from collections.abc import Sequence

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import NO_REGION, Snapshot, distribution


def place(snapshot: Snapshot) -> Decision:
    """Decide for the region placement policy.

    The scenarios are S1 to S4 of the policy's specification.

    :param snapshot: the cluster, and the requested change.
    :returns: the plan, with the nodes to delete if the cluster shrinks; or a
        refusal.
    """
    change = snapshot.change
    if change.growing:
        return apportionment.grow(
            snapshot.usable, snapshot.movable, change.count
        )
    planned = apportionment.shrink(
        snapshot.usable, snapshot.movable, change.count
    )
    if planned.refusal:
        return planned
    chosen = selection.select(
        snapshot.nodes,
        change.count,
        selection.Criterion.RANDOM,
        {'regions': planned.plan},
    )
    return dataclasses.replace(planned, candidates=chosen.candidates)


def recover(snapshot: Snapshot, lost: Sequence[str]) -> Decision:
    """Decide about the recovery of a cluster.

    Regions are chosen first for the nodes that have no region yet, then for
    the nodes that move, and then for new nodes, if the cluster has too few.

    :param snapshot: the cluster, and the change, which adds the new nodes.
    :param lost: the ids of the nodes that need another region.
    :returns: the decision; a refusal if there is no room for the new nodes, or
        for the nodes that have no region yet.
    """
    new = [node.id for node in snapshot.nodes if node.region == NO_REGION]
    moves, stuck, after = relocate(snapshot, [*new, *lost])
    waiting = [node_id for node_id in new if node_id in stuck]
    count = snapshot.change.count or len(waiting)
    change = Change(growing=True, count=count)
    decision = Decision()
    if count:
        decision = place(dataclasses.replace(after, change=change))
    return dataclasses.replace(decision, moves=moves, stuck=stuck)


def relocate(
    snapshot: Snapshot, ids: Sequence[str]
) -> tuple[dict[str, str], list[str], Snapshot]:
    """Assign new regions to as many nodes as there is room for.

    A cluster that grows one node at a time gets the same plan as a cluster
    that grows by all nodes at once. So this function plans one node at a time.

    :param ids: the nodes, in the order in which they get regions.
    :returns: node id -> its new region; the ids of the nodes for which no
        region has room; and the cluster with the nodes in their new regions.
    """
    moves: dict[str, str] = {}
    nodes = [node for node in snapshot.nodes if node.id not in ids]
    current = distribution(nodes)
    stuck = list(ids)
    one_node = Change(growing=True, count=1)
    state = dataclasses.replace(snapshot, change=one_node, current=current)
    for node_id in ids:
        decision = place(state)
        if decision.refusal:
            break
        (moves[node_id],) = decision.placements
        stuck.remove(node_id)
        state = state.after(decision.plan)
    # Nodes that get no new region continue to count in their old region.
    stuck_nodes = [node for node in snapshot.nodes if node.id in stuck]
    for name, count in distribution(stuck_nodes).items():
        state = state.after({name: count})
    return moves, stuck, dataclasses.replace(state, change=snapshot.change)
