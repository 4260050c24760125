# SPDX-License-Identifier: Apache-2.0

"""The best distributions of nodes over regions, by trying all of them.

What the planner decides is measured against this, so none of its code is
used here.
"""

import fractions
import itertools
from collections.abc import Iterable, Mapping, Sequence

from senlin_plugins.planning.spec import NO_CAP, Region

Distribution = dict[str, int]


def best(
    regions: Iterable[Region], current: Mapping[str, int], change: int
) -> list[Distribution]:
    """Find the best distributions that can be reached.

    No region grows past its cap, and none outside the spec grows. None loses
    nodes while the cluster grows, or gains some while it shrinks.

    :param current: region name -> nodes now, for each region of the spec and
        any others that have nodes.
    :param change: how many nodes come, or go when negative.
    :returns: each region name -> nodes afterwards; empty without any plan.
    """
    regions = list(regions)
    caps = {region.name: region.cap for region in regions}
    choices = []
    for name, now in current.items():
        fewest = now if change > 0 else 0
        most = now + max(0, change)
        cap = caps.get(name, now)
        if cap != NO_CAP:
            most = max(now, min(most, cap))
        choices.append(range(fewest, most + 1))
    total = sum(current.values()) + change
    costs = {
        plan: cost(regions, dict(zip(current, plan, strict=True)))
        for plan in itertools.product(*choices)
        if sum(plan) == total
    }
    least = min(costs.values(), default=None)
    return [
        dict(zip(current, plan, strict=True))
        for plan, cost in costs.items()
        if cost == least
    ]


def cost(
    regions: Sequence[Region], after: Mapping[str, int]
) -> tuple[fractions.Fraction | int, ...]:
    """Score a distribution; the smaller, the better.

    Nodes in regions outside the spec weigh most, then those above a cap, then
    those in regions of weight 0; then the sum of nodes squared over weight.
    """
    weights = {region.name: region.weight for region in regions}
    excess = sum(
        max(0, after[region.name] - region.cap)
        for region in regions
        if region.cap != NO_CAP
    )
    strays = [n for name, n in after.items() if name not in weights]
    last = [after[name] for name, weight in weights.items() if not weight]
    squares = (
        fractions.Fraction(after[name] ** 2, weight)
        for name, weight in weights.items()
        if weight
    )
    return (
        sum(strays),
        excess,
        sum(last),
        sum(squares),
        sum(n**2 for n in last),
        sum(n**2 for n in strays),
    )
