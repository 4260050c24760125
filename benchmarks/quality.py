# SPDX-License-Identifier: Apache-2.0

"""How good the plans of two planners are, on the same small random cases.

Each case is solved a third time by trying every plan that the caps allow:
that tells which plans are the best ones, and whether there is any.
"""

import dataclasses
import random
from collections.abc import Callable, Mapping

from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot
from testing.senlin import optimum

#: A cluster, and how many nodes come or go -> what is planned.
Planner = Callable[[Snapshot], Decision]


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


def draw(rng: random.Random) -> Snapshot:
    """Draw a case: up to four regions, half of them with a cap.

    :returns: a cluster that is to grow or to shrink by 1 to 6 nodes.
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
    count = rng.randint(1, 6)
    return Snapshot(Change(rng.choice((True, False)), count), regions, current)


def compare(
    planners: Mapping[str, Planner], cases: int, seed: int
) -> dict[tuple[str, str], Score]:
    """Give the same cases to all planners.

    :param planners: name -> planner.
    :returns: (direction, planner's name) -> score.
    """
    rng = random.Random(seed)
    scores: dict[tuple[str, str], Score] = {}
    for _ in range(cases):
        snapshot = draw(rng)
        change = snapshot.change
        best = optimum.best(
            snapshot.regions,
            snapshot.current,
            change.count if change.growing else -change.count,
        )
        for name, planner in planners.items():
            direction = 'scale out' if change.growing else 'scale in'
            score = scores.setdefault((direction, name), Score())
            decision = planner(snapshot)
            found = not decision.refusal
            if best:
                score.feasible += 1
                score.refused += not found
                after = snapshot.after(decision.plan).current
                score.optimal += found and after in best
            else:
                score.infeasible += 1
                score.invented += found
    return scores
