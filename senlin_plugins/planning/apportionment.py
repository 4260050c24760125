# SPDX-License-Identifier: Apache-2.0

"""Plan how many nodes each region gains or loses.

A plan brings the cluster as close to the weights of its regions as possible:
it minimises the sum of ``nodes ** 2 / weight`` over the regions, within their
caps. This method is the Sainte-Lague (Webster) apportionment with bounds. The
``n``-th node of a region costs ``(2 * n - 1) / weight``. A cluster grows by
the nodes that cost least, and loses the nodes that cost most. So a change by
several nodes is the same as several changes by one node.

All arithmetic is exact.
"""

import collections
import fractions
import heapq
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.spec import NO_CAP, Region

#: The reasons why there is no plan. Users see these texts, which are quoted
#: from "S1: CLUSTER_SCALE_IN" in the region placement policy's specification.
NO_USABLE_REGION = 'No region is found usable.'
NO_FEASIBLE_PLAN = 'There is no feasible plan to handle all nodes.'


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
    by_name = {region.name: region for region in regions}

    def rank(name: str, gained: int) -> tuple[Any, ...] | None:
        region = by_name[name]
        number = current.get(name, 0) + gained + 1
        if region.cap != NO_CAP and number > region.cap:
            return None
        return not region.weight, _cost(region, number), -region.weight, name

    if not regions:
        return Decision(refusal=NO_USABLE_REGION)
    return _choose(by_name, rank, count)


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
    by_name = {name: Region(name, weight=0) for name in current}
    by_name.update((region.name, region) for region in regions)
    named = {region.name for region in regions}
    last_name_first = sorted(by_name, reverse=True)
    positions = {name: i for i, name in enumerate(last_name_first)}

    def rank(name: str, lost: int) -> tuple[Any, ...] | None:
        region = by_name[name]
        number = current.get(name, 0) - lost
        if not number:
            return None
        above_cap = region.cap != NO_CAP and number > region.cap
        is_useful = lost >= useless.get(name, 0)
        return (
            name in named,
            not above_cap,
            bool(region.weight),
            -_cost(region, number),
            is_useful,
            region.weight,
            positions[name],
        )

    if not regions:
        return Decision(refusal=NO_USABLE_REGION)
    return _choose(by_name, rank, count)


def _cost(region: Region, number: int) -> fractions.Fraction:
    """Return the cost of the node of a region with this number, from 1."""
    return fractions.Fraction(2 * number - 1, region.weight or 1)


def _choose(
    names: Iterable[str],
    rank: Callable[[str, int], tuple[Any, ...] | None],
    count: int,
) -> Decision:
    """Choose regions one by one, one for each node.

    :param rank: takes the name of a region, and how often it was chosen. The
        region with the smallest rank is chosen next. ``None`` means that it
        cannot be chosen any more.
    :param count: how many nodes come or go.
    """
    chosen: collections.Counter[str] = collections.Counter()
    queue: list[tuple[tuple[Any, ...], str]] = []

    def offer(name: str) -> None:
        next_rank = rank(name, chosen[name])
        if next_rank is not None:
            heapq.heappush(queue, (next_rank, name))

    for name in names:
        offer(name)
    for _ in range(count):
        if not queue:
            return Decision(refusal=NO_FEASIBLE_PLAN)
        _, name = heapq.heappop(queue)
        chosen[name] += 1
        offer(name)
    return Decision({name: chosen[name] for name in sorted(+chosen)})
