# SPDX-License-Identifier: Apache-2.0

"""Decide in which regions nodes are created, and which nodes leave."""

import collections
import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from senlin_plugins.planning import apportionment, selection
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A cluster under a region placement policy, and the requested change.

    :param change: how many nodes come or go.
    :param regions: the regions of the policy's spec.
    :param current: region name -> number of nodes that count in the region
        now.
    :param out_of_reach: the names of regions in which no node is created or
        deleted now. Some of these regions may not be in the spec.
    :param nodes: the nodes of the cluster.
    :param limits: the sizes that the cluster may have after the change.
    """

    change: Change
    regions: Sequence[Region]
    current: Mapping[str, int]
    out_of_reach: Collection[str] = ()
    nodes: Sequence[Node] = ()
    limits: Limits = Limits()

    @property
    def violation(self) -> str:
        """The limit that the change would violate; empty if there is none."""
        count = self.change.count
        if not count:
            return ''
        size = sum(self.current.values())
        size = size + count if self.change.growing else max(0, size - count)
        return self.limits.describe_violation(size)

    @property
    def usable(self) -> list[Region]:
        """The regions in which a plan creates or keeps nodes.

        If the cluster shrinks, the nodes of all other regions within reach
        leave first.
        """
        return [
            region
            for region in self.regions
            if region.name not in self.out_of_reach
        ]

    @property
    def movable(self) -> dict[str, int]:
        """Region name -> number of nodes, without regions out of reach."""
        return {
            name: count
            for name, count in self.current.items()
            if name not in self.out_of_reach
        }

    def after(self, plan: Mapping[str, int]) -> 'Snapshot':
        """Return the cluster after a plan has been carried out.

        :param plan: region name -> nodes to add or to remove there.
        """
        sign = 1 if self.change.growing else -1
        current = dict(self.current)
        for name, count in plan.items():
            current[name] = current.get(name, 0) + sign * count
        return dataclasses.replace(self, current=current)


def plan_change(snapshot: Snapshot) -> Decision:
    """Decide for the region placement policy.

    The scenarios are S1 to S4 of the policy's specification.

    :param snapshot: the cluster, and the requested change.
    :returns: the plan, with the nodes to delete if the cluster shrinks; or a
        refusal.
    """
    if snapshot.violation:
        return Decision(refusal=snapshot.violation)
    return _plan_regions(snapshot)


def _plan_regions(snapshot: Snapshot) -> Decision:
    change = snapshot.change
    if change.growing:
        return apportionment.plan_growth(
            snapshot.usable, snapshot.movable, change.count
        )
    planned = apportionment.plan_shrinkage(
        snapshot.usable,
        snapshot.movable,
        change.count,
        selection.count_useless(snapshot.nodes),
    )
    if planned.refusal:
        return planned
    chosen = selection.select_nodes(
        snapshot.nodes,
        change.count,
        selection.Criterion.RANDOM,
        {'regions': planned.plan},
    )
    return Decision(
        plan=planned.plan,
        candidates=chosen.candidates,
        node_regions={
            node.id: node.region
            for node in snapshot.nodes
            if not node.recorded
        },
    )


def plan_recovery(snapshot: Snapshot) -> Decision:
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
    if snapshot.violation:
        return Decision(refusal=snapshot.violation)
    one_node = Change(growing=True, count=1)
    cluster = dataclasses.replace(snapshot, change=one_node)
    node_regions: dict[str, str] = {}
    for node in snapshot.nodes:
        if node.region != NO_REGION:
            continue
        decision = _plan_regions(cluster)
        if decision.refusal:
            return dataclasses.replace(decision, node_regions=node_regions)
        (node_regions[node.id],) = decision.plan
        cluster = cluster.after(decision.plan)
    if not snapshot.change.count:
        return Decision(node_regions=node_regions)
    decision = _plan_regions(
        dataclasses.replace(cluster, change=snapshot.change)
    )
    return dataclasses.replace(decision, node_regions=node_regions)


def count_by_region(nodes: Iterable[Node]) -> dict[str, int]:
    """Return region name -> number of nodes."""
    return collections.Counter(node.region for node in nodes)
