# SPDX-License-Identifier: Apache-2.0

"""How good the plans of two planners are, on the same small random cases.

Each case is solved a third time by trying every plan that the caps allow:
that tells which plans are the best ones, and whether there is any.
"""

import dataclasses
import fractions
import random
from collections.abc import Callable, Iterator, Mapping

from senlin_plugins.apportionment import NO_CAP, Region

#: Regions, nodes now, how many more (or fewer, when negative) -> the nodes
#: to add or to remove in each region, or ``None`` when refused.
Planner = Callable[
    [list[Region], Mapping[str, int], int], Mapping[str, int] | None
]


@dataclasses.dataclass(frozen=True)
class Case:
    """One request.

    :param regions: the regions of the spec, with weights above 0.
    :param current: region name -> nodes that are there now.
    :param change: how many nodes to add, or to remove when negative.
    """

    regions: list[Region]
    current: dict[str, int]
    change: int


@dataclasses.dataclass
class Score:
    """What a planner made of the cases of one direction.

    :param feasible: cases for which a plan exists.
    :param optimal: of these, those that got one of the best plans.
    :param refused: of these, those that were refused.
    :param infeasible: cases without any plan.
    :param invented: of these, those that got one all the same.
    """

    feasible: int = 0
    optimal: int = 0
    refused: int = 0
    infeasible: int = 0
    invented: int = 0


def draw(rng: random.Random) -> Case:
    """Draw a case: up to four regions, half of them with a cap.

    :param rng: the source of chance.
    :returns: a case that grows or shrinks a cluster by 1 to 6 nodes.
    """
    names = 'abcd'[: rng.randint(1, 4)]
    regions = [
        Region(
            name,
            rng.choice((50, 100, 100, 150, 200, 300)),
            rng.choice((NO_CAP, rng.randint(1, 8))),
        )
        for name in names
    ]
    current = {name: rng.randint(0, 5) for name in names}
    return Case(regions, current, rng.randint(1, 6) * rng.choice((1, -1)))


def plans(case: Case) -> Iterator[dict[str, int]]:
    """Yield every plan that the caps and the nodes that are there allow.

    :param case: the request.
    :returns: region name -> how many to add or to remove, without zeros.
    """
    growing = case.change > 0

    def extend(i: int, left: int) -> Iterator[dict[str, int]]:
        if i == len(case.regions):
            if not left:
                yield {}
            return
        region = case.regions[i]
        now = case.current[region.name]
        room = left
        if not growing:
            room = min(left, now)
        elif region.cap != NO_CAP:
            room = min(left, max(0, region.cap - now))
        for n in range(room + 1):
            for rest in extend(i + 1, left - n):
                yield {region.name: n, **rest} if n else rest

    return extend(0, abs(case.change))


def cost(case: Case, plan: Mapping[str, int]) -> fractions.Fraction:
    """Return the sum of nodes squared over weight after a plan.

    :param case: the request.
    :param plan: region name -> how many to add or to remove.
    :returns: the smaller, the closer to the weights.
    """
    sign = 1 if case.change > 0 else -1
    return sum(
        (
            fractions.Fraction(
                (case.current[r.name] + sign * plan.get(r.name, 0)) ** 2,
                r.weight,
            )
            for r in case.regions
        ),
        start=fractions.Fraction(0),
    )


def compare(
    planners: Mapping[str, Planner], cases: int, seed: int
) -> dict[tuple[str, str], Score]:
    """Give the same cases to all planners.

    :param planners: name -> planner.
    :param cases: how many cases.
    :param seed: which cases.
    :returns: (direction, planner's name) -> score.
    """
    rng = random.Random(seed)
    scores: dict[tuple[str, str], Score] = {}
    for _ in range(cases):
        case = draw(rng)
        direction = 'scale out' if case.change > 0 else 'scale in'
        possible = {
            tuple(sorted(plan.items())): cost(case, plan)
            for plan in plans(case)
        }
        best = min(possible.values(), default=None)
        for name, planner in planners.items():
            score = scores.setdefault((direction, name), Score())
            plan = planner(case.regions, case.current, case.change)
            if best is None:
                score.infeasible += 1
                score.invented += plan is not None
                continue
            score.feasible += 1
            if plan is None:
                score.refused += 1
            else:
                key = tuple(sorted(plan.items()))
                score.optimal += possible.get(key) == best
    return scores
