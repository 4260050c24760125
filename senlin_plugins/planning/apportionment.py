# SPDX-License-Identifier: Apache-2.0

"""Plan how many nodes each region gains or loses.

A plan brings the cluster as close to the weights of its regions as possible:
it minimises the sum of ``nodes ** 2 / weight`` over the regions, within their
caps. This method is the Sainte-Lague (Webster) apportionment with bounds. The
``n``-th node of a region costs ``(2 * n - 1) / weight``. A plan is optimal if
it consists of the nodes that cost least. So the planner finds one limit for
the cost by bisection, instead of assigning the nodes one by one.

All arithmetic is exact: it uses integers, and fractions for the last few
nodes.
"""

import fractions
import types
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.spec import NO_CAP, Region

#: The reasons why there is no plan. Users see these texts, which are quoted
#: from "S1: CLUSTER_SCALE_IN" in the region placement policy's specification.
NO_USABLE_REGION = 'No region is found usable.'
NO_FEASIBLE_PLAN = 'There is no feasible plan to handle all nodes.'


class _Bin(NamedTuple):
    """A region, with bounds for its number of nodes after the change.

    :param now: the number of nodes before the change.
    :param useless: how many of them are of no use.
    """

    name: str
    weight: int
    lower: int
    upper: int
    now: int = 0
    useless: int = 0

    def loses_useless(self, kept: int) -> bool:
        """Tell whether a node of no use leaves, the last of all who leave."""
        return 0 < self.now - kept <= self.useless


def plan_growth(
    regions: Sequence[Region], current: Mapping[str, int], count: int
) -> Decision:
    """Plan where to create nodes (scenarios S2 and S4 of the specification).

    If the next node costs the same in several regions, the region with the
    largest weight gets the node. If the weights are also equal, the region
    whose name sorts first gets the node. Regions of weight 0 get nodes only if
    all regions with a weight are full. No node is removed: a region above its
    cap keeps its nodes.

    :param regions: the usable regions of the spec.
    :param current: region name -> its current number of nodes; names that are
        not in ``regions`` are ignored.
    :param count: how many nodes to add, at least 0.
    :returns: the plan, or the reason why there is none.
    """
    if not regions:
        return Decision(refusal=NO_USABLE_REGION)
    bins = []
    for region in regions:
        now = current.get(region.name, 0)
        room = count
        if region.cap != NO_CAP:
            room = max(0, min(count, region.cap - now))
        bins.append(_Bin(region.name, region.weight, now, now + room))
    return _plan(_by_weight(bins), current, count)


def plan_shrinkage(
    regions: Sequence[Region],
    current: Mapping[str, int],
    count: int,
    useless: Mapping[str, int] = types.MappingProxyType({}),
) -> Decision:
    """Plan where to delete nodes (scenario S1 of the specification).

    Nodes in regions that the spec does not name leave first, then nodes above
    a cap, then nodes in regions of weight 0. All other nodes leave in the
    reverse of the order in which :func:`plan_growth` adds nodes. But if
    several regions are equally good, a region that still has a node of no use
    loses that node.

    :param regions: the usable regions of the spec.
    :param current: region name -> its current number of nodes, without nodes
        that must stay.
    :param count: how many nodes to remove, at least 0.
    :param useless: region name -> how many of its nodes are of no use. In
        each region, these nodes leave first.
    :returns: the plan, or the reason why there is none.
    """
    if not regions:
        return Decision(refusal=NO_USABLE_REGION)
    bins, above_caps = [], []
    for region in regions:
        name, weight = region.name, region.weight
        now = current.get(name, 0)
        bad = useless.get(name, 0)
        kept = now if region.cap == NO_CAP else min(now, region.cap)
        bins.append(_Bin(name, weight, 0, kept, now, bad))
        above_caps.append(_Bin(name, weight, kept, now, now, bad))
    unnamed = []
    for name in current.keys() - {region.name for region in regions}:
        now = current[name]
        unnamed.append(_Bin(name, 0, 0, now, now, useless.get(name, 0)))
    tiers = [*_by_weight(bins), *_by_weight(above_caps), unnamed]
    return _plan(tiers, current, sum(current.values()) - count)


def _by_weight(bins: Sequence[_Bin]) -> list[list[_Bin]]:
    return [[b for b in bins if b.weight], [b for b in bins if not b.weight]]


def _plan(
    tiers: Sequence[Sequence[_Bin]], current: Mapping[str, int], extra: int
) -> Decision:
    """Distribute nodes, and return by how many each region changes.

    :param tiers: lists of regions. The regions of a list get nodes only if the
        regions of the lists before it are full.
    :param extra: how many nodes to add to the lower bounds.
    """
    rooms = []
    for tier in tiers:
        rooms.append(sum(b.upper - b.lower for b in tier))
    if not 0 <= extra <= sum(rooms):
        return Decision(refusal=NO_FEASIBLE_PLAN)
    # When a cluster shrinks, a region is in two tiers: up to its cap, and
    # above its cap. The lower bound in the first of the two tiers counts.
    after: dict[str, int] = {}
    for tier in reversed(tiers):
        after.update((b.name, b.lower) for b in tier)
    for tier, room in zip(tiers, rooms, strict=True):
        share = min(extra, room)
        if share:
            after |= _apportion(tier, share)
        extra -= share
    plan = {}
    for name in sorted(after):
        change = abs(after[name] - current.get(name, 0))
        if change:
            plan[name] = change
    return Decision(plan)


def _apportion(bins: Sequence[_Bin], extra: int) -> dict[str, int]:
    """Add the nodes that cost least to the lower bounds.

    :param extra: how many nodes to add.
    :returns: region name -> number of nodes.
    """
    target = extra + sum(b.lower for b in bins)
    weights = [b.weight or 1 for b in bins]
    # With this scale, nodes_within(limit + 1) has in each region at most one
    # node more than nodes_within(limit).
    scale = max(weights)

    def nodes_within(limit: int) -> list[int]:
        """Return for each region how many nodes cost at most limit / scale.

        Each number is at least the lower bound of the region, and at most its
        upper bound.
        """
        counts = []
        for b, weight in zip(bins, weights, strict=True):
            number = (limit * weight + scale) // (2 * scale)
            counts.append(min(max(number, b.lower), b.upper))
        return counts

    low, high = 0, 2 * scale * max(b.upper for b in bins)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(nodes_within(middle)) <= target:
            low = middle
        else:
            high = middle - 1
    counts = nodes_within(low)
    # A limit higher by 1 would add too many nodes in total, but at most one
    # node to each region. So one node is added to each of the regions in which
    # the next node costs least.
    cheapest = []
    for i, b in enumerate(bins):
        if counts[i] < b.upper:
            cost = fractions.Fraction(2 * counts[i] + 1, weights[i])
            order = cost, b.loses_useless(counts[i]), -weights[i], b.name
            cheapest.append((*order, i))
    cheapest.sort()
    for *_, i in cheapest[: target - sum(counts)]:
        counts[i] += 1
    return {b.name: n for b, n in zip(bins, counts, strict=True)}
