# SPDX-License-Identifier: Apache-2.0

"""Decide in which regions nodes are created, and which nodes leave."""

import dataclasses

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import NO_REGION, Snapshot


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


def recover(snapshot: Snapshot) -> Decision:
    """Decide about the recovery of a cluster.

    Regions are chosen first for the nodes that have no region yet, and then
    for new nodes, if the cluster has too few.

    A cluster that grows one node at a time gets the same plan as a cluster
    that grows by all nodes at once. So this function plans one node at a time,
    and as many nodes get regions as there is room for.

    :param snapshot: the cluster, and the change, which adds the new nodes.
    :returns: the decision; a refusal if there is no room for the new nodes, or
        for the nodes that have no region yet.
    """
    one_node = Change(growing=True, count=1)
    cluster = dataclasses.replace(snapshot, change=one_node)
    regions: dict[str, str] = {}
    for node in snapshot.nodes:
        if node.region != NO_REGION:
            continue
        decision = place(cluster)
        if decision.refusal:
            return dataclasses.replace(decision, regions=regions)
        (regions[node.id],) = decision.placements
        cluster = cluster.after(decision.plan)
    if not snapshot.change.count:
        return Decision(regions=regions)
    decision = place(dataclasses.replace(cluster, change=snapshot.change))
    return dataclasses.replace(decision, regions=regions)
