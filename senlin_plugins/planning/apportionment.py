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

import collections
import dataclasses
import fractions
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from senlin_plugins.planning.decision import Decision

#: The reasons why there is no plan. Users see these texts, which are quoted
#: from "S1: CLUSTER_SCALE_IN" in the region placement policy's specification.
NO_USABLE_REGION = 'No region is found usable.'
NO_FEASIBLE_PLAN = 'There is no feasible plan to handle all nodes.'

DEFAULT_WEIGHT = 100
#: A region with this cap takes any number of nodes.
NO_CAP = -1
#: The largest weight and cap. With much larger numbers, the bisection takes
#: seconds, and no other green thread of the engine runs meanwhile.
LARGEST = 10**6


@dataclasses.dataclass(frozen=True)
class Region:
    """One region of a policy's spec.

    :param name: the region's name, as Keystone knows it.
    :param weight: the share of the cluster's nodes that this region should
        hold, relative to the weights of the other regions. With 0, the region
        gets nodes only if all regions with a weight are full.
    :param cap: the largest number of nodes to which the region may grow; -1
        for no cap.
    """

    name: str
    weight: int = DEFAULT_WEIGHT
    cap: int = NO_CAP


class _Bin(NamedTuple):
    """A region, with bounds for its number of nodes after the change."""

    name: str
    weight: int
    lower: int
    upper: int


def find_problem(regions: Sequence[Region]) -> str:
    """Say what is wrong with the regions of a spec.

    :param regions: the regions as the user wrote them.
    :returns: one sentence with the field, the value and the accepted values;
        an empty string if nothing is wrong.
    """
    if not regions:
        return "'regions' is empty: name at least one region."
    counts = collections.Counter(region.name for region in regions)
    for region in regions:
        if not region.name:
            return "'name' of a region is empty: give the region's name."
        if counts[region.name] > 1:
            return (
                f"'name' of a region is '{region.name}' "
                f'{counts[region.name]} times: name each region once.'
            )
        for key, lowest in (('weight', 0), ('cap', NO_CAP)):
            value = getattr(region, key)
            if lowest <= value <= LARGEST:
                continue
            limits = f'from 0 to {LARGEST}'
            if key == 'cap':
                limits += ', or -1 for no cap'
            shown = str(value)[:20]
            return (
                f"'{key}' of region '{region.name}' is '{shown}': it must be "
                f'{limits}.'
            )
    return ''


def grow(
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


def shrink(
    regions: Sequence[Region], current: Mapping[str, int], count: int
) -> Decision:
    """Plan where to delete nodes (scenario S1 of the specification).

    Nodes in regions that the spec does not name leave first, then nodes above
    a cap, then nodes in regions of weight 0. All other nodes leave in the
    reverse of the order in which :func:`grow` adds nodes.

    :param regions: the usable regions of the spec.
    :param current: region name -> its current number of nodes, without nodes
        that must stay.
    :param count: how many nodes to remove, at least 0.
    :returns: the plan, or the reason why there is none.
    """
    if not regions:
        return Decision(refusal=NO_USABLE_REGION)
    bins, above_caps = [], []
    for name, weight, cap in map(dataclasses.astuple, regions):
        now = current.get(name, 0)
        kept = now if cap == NO_CAP else min(now, cap)
        bins.append(_Bin(name, weight, 0, kept))
        above_caps.append(_Bin(name, weight, kept, now))
    strays = current.keys() - {region.name for region in regions}
    unnamed = [_Bin(name, 0, 0, current[name]) for name in strays]
    tiers = [*_by_weight(bins), *_by_weight(above_caps), unnamed]
    return _plan(tiers, current, sum(current.values()) - count)


def _by_weight(bins: Sequence[_Bin]) -> list[list[_Bin]]:
    """Return the regions with a weight above 0, and those with weight 0."""
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
    cheapest = sorted(
        (fractions.Fraction(2 * counts[i] + 1, weights[i]), -weights[i], b, i)
        for i, b in enumerate(bins)
        if counts[i] < b.upper
    )
    for *_, i in cheapest[: target - sum(counts)]:
        counts[i] += 1
    return {b.name: n for b, n in zip(bins, counts, strict=True)}
