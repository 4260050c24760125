# SPDX-License-Identifier: Apache-2.0

"""Let two planners scale the same cluster: this package's and Senlin's own.

``python -m benchmarks.scaling_sequence`` goes through a sequence of scalings,
each on the distribution that the planner itself has brought about, and shows
both beside the shares that the weights call for. It needs Senlin; with
``--json`` it writes what ``doc/source/charts.rst`` draws.
"""

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks import common, in_tree
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot

#: The policy of ``doc/source/senlin.rst``, with and without its cap.
WEIGHTS = {'RegionOne': 100, 'RegionTwo': 250, 'RegionThree': 150}
POLICIES = {
    'without caps': {},
    'RegionTwo capped at 4': {'RegionTwo': 4},
}

#: The size that each request asks for. One that is refused leaves the cluster
#: as it is, and the next one asks for what is missing then.
SIZES = (*range(1, 9), 10, 13, 11, 15, 20, 12, 15, 14, 13, 12, 11, 17)
QUICK_SIZES = SIZES[:8]

#: Region name -> nodes.
Nodes = Mapping[str, int]


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
    ours: Nodes
    in_tree: Nodes
    refused: bool

    def cells(self) -> tuple[Any, ...]:
        """Return a row of the table."""
        off = (
            # A node that is in the wrong region counts once.
            sum(abs(n[name] - self.target[name]) for name in WEIGHTS) / 2
            for n in (self.ours, self.in_tree)
        )
        return (
            self.size,
            _joined(f'{part:.1f}' for part in self.target.values()),
            _joined(self.ours.values()),
            _joined(self.in_tree.values()) + ' refused' * self.refused,
            *(f'{nodes:.1f}' for nodes in off),
        )


def _joined(numbers: Iterable[Any]) -> str:
    """Return the numbers of the regions as one text."""
    return ' : '.join(map(str, numbers))


def shares(caps: Nodes, total: int) -> dict[str, float]:
    """Divide nodes by weight; what the only cap holds back goes to the others.

    :returns: region name -> nodes, which need not be whole.
    """
    weights = sum(WEIGHTS.values())
    for name, cap in caps.items():
        if WEIGHTS[name] * total > cap * weights:
            weights, total = weights - WEIGHTS[name], total - cap
            break
    else:
        caps = {}
    return {
        name: float(caps.get(name, weight * total / weights))
        for name, weight in WEIGHTS.items()
    }


def run(caps: Nodes, sizes: Sequence[int]) -> list[Step]:
    """Scale a cluster with both planners."""
    regions = [
        Region(name, weight, caps.get(name, NO_CAP))
        for name, weight in WEIGHTS.items()
    ]
    planners: tuple[Callable[[Snapshot], Decision], ...]
    planners = place, in_tree.planner()
    nodes: list[Nodes] = [dict.fromkeys(WEIGHTS, 0) for _ in planners]
    steps = []
    for size in sizes:
        refused = [False, False]
        for number, plan in enumerate(planners):
            if missing := size - sum(nodes[number].values()):
                change = Change(missing > 0, abs(missing))
                snapshot = Snapshot(change, regions, nodes[number])
                decision = plan(snapshot)
                refused[number] = bool(decision.refusal)
                after = snapshot.after(decision.plan).current
                nodes[number] = {n: after.get(n, 0) for n in WEIGHTS}
        if refused[0]:
            raise common.BenchmarkError(f'no plan for {size} nodes')
        steps.append(Step(size, shares(caps, size), *nodes, refused[1]))
    return steps


def compare(quick: bool) -> tuple[str, Any]:
    """Run everything."""
    sizes = QUICK_SIZES if quick else SIZES
    sequences = {title: run(caps, sizes) for title, caps in POLICIES.items()}
    heads = ('size', 'target', 'ours', 'in-tree', 'off: ours', 'off: in-tree')
    tables = (
        f'{", ".join(WEIGHTS)}; {title}\n'
        + common.table(heads, [step.cells() for step in steps])
        for title, steps in sequences.items()
    )
    return '\n\n'.join(tables), {
        title: [dataclasses.asdict(step) for step in steps]
        for title, steps in sequences.items()
    }


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
