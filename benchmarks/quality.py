# SPDX-License-Identifier: Apache-2.0

"""How good the plans of two planners are, on the same small random cases.

Each case is solved a third time by trying every plan that the caps allow:
that tells which plans are the best ones, and whether there is any.
"""

import collections
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.plan import Snapshot
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import NO_CAP, Region
from testing.senlin import optimum

HEADS = (
    'plans',
    'cases with a plan',
    'best plan',
    'wrongly refused',
    'cases without',
    'planned all the same',
)


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
    planners: Mapping[str, Callable[[Snapshot], Decision]],
    cases: int,
    seed: int,
) -> Iterator[tuple[Any, ...]]:
    """Give the same cases to all planners; yield what stands under the heads.

    :param planners: name -> planner.
    """
    rng = random.Random(seed)
    scores: dict[str, collections.Counter[str]] = {}
    for _ in range(cases):
        snapshot = draw(rng)
        if snapshot.change.growing:
            direction = 'scale out'
            nodes = snapshot.change.count
        else:
            direction = 'scale in'
            nodes = -snapshot.change.count
        best = optimum.best(snapshot.regions, snapshot.current, nodes)
        for name, planner in planners.items():
            key = f'{direction}, {name}'
            score = scores.setdefault(key, collections.Counter())
            decision = planner(snapshot)
            if not best:
                score['without'] += 1
                score['invented'] += not decision.refusal
                continue
            score['feasible'] += 1
            after = snapshot.after(decision.plan).current
            score['refused'] += bool(decision.refusal)
            score['best'] += not decision.refusal and after in best
    for what, score in sorted(scores.items()):
        yield (
            what,
            score['feasible'],
            f'{score["best"] / score["feasible"]:.1%}',
            f'{score["refused"] / score["feasible"]:.1%}',
            score['without'],
            score['invented'],
        )
