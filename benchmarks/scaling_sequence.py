# SPDX-License-Identifier: Apache-2.0

"""Let two planners scale the same cluster: this package's and Senlin's own.

``python -m benchmarks.scaling_sequence`` goes through a sequence of scalings,
each on the distribution that the planner itself has brought about, and shows
both beside the shares that the weights call for. It needs Senlin; with
``--json`` it writes what ``doc/source/charts.rst`` draws.
"""

import dataclasses
import fractions
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import common, in_tree
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot

#: The policy of ``doc/source/senlin.rst``, with and without its cap.
FREE = (
    Region('RegionOne', 100),
    Region('RegionTwo', 250),
    Region('RegionThree', 150),
)
CAPPED = tuple(
    dataclasses.replace(r, cap=4 if r.name == 'RegionTwo' else NO_CAP)
    for r in FREE
)
POLICIES = {'without caps': FREE, 'RegionTwo capped at 4': CAPPED}

#: The size that each request asks for. One that is refused leaves the cluster
#: as it is, and the next one asks for what is missing then.
SIZES = (*range(1, 9), 10, 13, 11, 15, 20, 12, 15, 14, 13, 12, 11, 17)
QUICK_SIZES = SIZES[:8]


@dataclasses.dataclass(frozen=True)
class Step:
    """The cluster after one request.

    :param size: how many nodes there should be.
    :param target: region name -> the nodes that its weight calls for then; a
        fraction of a node counts.
    :param ours: region name -> nodes, with this package's planner.
    :param in_tree: the same with the planner that comes with Senlin.
    :param refused: whether the latter found no plan, and nothing changed.
    """

    size: int
    target: Mapping[str, float]
    ours: Mapping[str, int]
    in_tree: Mapping[str, int]
    refused: bool


def shares(regions: Sequence[Region], total: int) -> dict[str, float]:
    """Divide nodes by weight; what a cap holds back goes to the others.

    :param regions: the regions, at least one of them without a cap.
    :returns: region name -> nodes, which need not be whole.
    """
    full: dict[str, float] = {}
    while True:
        free = [region for region in regions if region.name not in full]
        weights = sum(region.weight for region in free)
        left = total - int(sum(full.values()))
        parts = {
            region: fractions.Fraction(region.weight * left, weights)
            for region in free
        }
        over = [
            region
            for region, part in parts.items()
            if region.cap != NO_CAP and part > region.cap
        ]
        if not over:
            full |= {
                region.name: float(part) for region, part in parts.items()
            }
            return {region.name: full[region.name] for region in regions}
        full.update({region.name: region.cap for region in over})


def run(regions: Sequence[Region], sizes: Sequence[int]) -> list[Step]:
    """Scale a cluster with both planners."""
    place_in_tree = in_tree.planner()
    mine: Mapping[str, int] = {}
    theirs: Mapping[str, int] = {}
    steps = []
    for size in sizes:
        mine, found = _resize(regions, mine, size, place)
        if not found:
            raise common.BenchmarkError(f'no plan for {size} nodes')
        theirs, found = _resize(regions, theirs, size, place_in_tree)
        steps.append(
            Step(
                size,
                shares(regions, size),
                _nodes(regions, mine),
                _nodes(regions, theirs),
                not found,
            )
        )
    return steps


def _resize(
    regions: Sequence[Region],
    current: Mapping[str, int],
    size: int,
    plan: Callable[[Snapshot], Decision],
) -> tuple[Mapping[str, int], bool]:
    """Ask a planner for a size.

    :param regions: the policy.
    :param current: the distribution that this planner has left.
    :returns: the distribution afterwards, and whether there was a plan.
    """
    missing = size - sum(current.values())
    if not missing:
        return current, True
    change = Change(missing > 0, abs(missing))
    snapshot = Snapshot(change, regions, current)
    decision = plan(snapshot)
    return snapshot.after(decision.plan).current, not decision.refusal


def _nodes(
    regions: Sequence[Region], current: Mapping[str, int]
) -> dict[str, int]:
    """Return the nodes in each region, in the order of the policy."""
    return {r.name: current.get(r.name, 0) for r in regions}


def distance(nodes: Mapping[str, int], target: Mapping[str, float]) -> float:
    """Return how many nodes are not where their weight calls them.

    :param target: region name -> nodes, which need not be whole.
    :returns: half of the sum of the differences, so that a node that is in
        the wrong region counts once.
    """
    return sum(abs(nodes[name] - target[name]) for name in target) / 2


def report(sequences: Mapping[str, Sequence[Step]]) -> str:
    """Return the report as text."""
    lines = []
    for title, steps in sequences.items():
        table = common.table(
            ('size', 'target', 'ours', 'in-tree', 'off: ours', 'off: in-tree'),
            [
                (
                    step.size,
                    _joined(f'{part:.1f}' for part in step.target.values()),
                    _joined(step.ours.values()),
                    _joined(step.in_tree.values())
                    + (' refused' if step.refused else ''),
                    f'{distance(step.ours, step.target):.1f}',
                    f'{distance(step.in_tree, step.target):.1f}',
                )
                for step in steps
            ],
        )
        lines += [f'{", ".join(steps[0].target)}; {title}', table, '']
    return '\n'.join(lines).rstrip()


def _joined(numbers: Any) -> str:
    """Return the numbers of the regions as one text."""
    return ' : '.join(map(str, numbers))


def compare(quick: bool) -> tuple[str, Any]:
    """Run everything."""
    sequences = {
        title: run(regions, QUICK_SIZES if quick else SIZES)
        for title, regions in POLICIES.items()
    }
    numbers = {
        title: [dataclasses.asdict(step) for step in steps]
        for title, steps in sequences.items()
    }
    return report(sequences), numbers


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Senlin',
            'Scale a cluster with this planner and with the one that comes '
            'with Senlin, and compare where the nodes are. Takes a second.',
            'only while the cluster grows by one node at a time',
            compare,
        )
    )
