# SPDX-License-Identifier: Apache-2.0

"""Let two planners scale the same cluster: this package's and Senlin's own.

``python -m benchmarks.scaling_sequence`` goes through a sequence of scalings,
each on the distribution that the planner itself has brought about, and shows
both beside the shares that the weights call for. It needs Senlin, and prints
what ``doc/source/benchmarks.rst`` draws.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchmarks import common, in_tree
from senlin_plugins.planning.plan import Snapshot, plan_change
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import NO_CAP, Region

#: The policy of ``doc/source/senlin.rst``, with and without its cap.
WEIGHTS = {'RegionOne': 100, 'RegionTwo': 250, 'RegionThree': 150}
POLICIES = {
    'without caps': {},
    'RegionTwo capped at 4': {'RegionTwo': 4},
}

#: The size that each request asks for. One that is refused leaves the cluster
#: as it is, and the next one asks for what is missing then.
SIZES = (*range(1, 9), 10, 13, 11, 15, 20, 12, 15, 14, 13, 12, 11, 17)
#: The target counts fractions of a node; the in-tree planner may find no plan
#: ("refused"); off: so many nodes are in a wrong region.
HEADS = ('size', 'target', 'ours', 'in-tree', 'off: ours', 'off: in-tree')

#: Region name -> nodes.
Nodes = Mapping[str, int]


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


def misplaced(distribution: Nodes, target: Mapping[str, float]) -> float:
    """Return how many nodes are in a wrong region."""
    differences = [abs(distribution[name] - target[name]) for name in WEIGHTS]
    return sum(differences) / 2


def run(caps: Nodes) -> Iterator[tuple[Any, ...]]:
    """Scale a cluster with both planners; yield a row for each request."""
    regions = [
        Region(name, weight, caps.get(name, NO_CAP))
        for name, weight in WEIGHTS.items()
    ]
    planners = plan_change, in_tree.planner()
    distributions = [dict.fromkeys(WEIGHTS, 0) for _ in planners]
    for size in SIZES:
        refused = [False, False]
        for number, planner in enumerate(planners):
            missing = size - sum(distributions[number].values())
            if missing:
                change = Change(missing > 0, abs(missing))
                snapshot = Snapshot(change, regions, distributions[number])
                decision = planner(snapshot)
                refused[number] = bool(decision.refusal)
                after = snapshot.after(decision.plan).current
                distributions[number] = {n: after.get(n, 0) for n in WEIGHTS}
        if refused[0]:
            raise common.BenchmarkError(f'no plan for {size} nodes')
        target = shares(caps, size)
        ours, in_tree_nodes = distributions
        in_tree_text = _joined(in_tree_nodes.values())
        if refused[1]:
            in_tree_text += ' refused'
        yield (
            size,
            _joined(f'{nodes:.1f}' for nodes in target.values()),
            _joined(ours.values()),
            in_tree_text,
            f'{misplaced(ours, target):.1f}',
            f'{misplaced(in_tree_nodes, target):.1f}',
        )


if __name__ == '__main__':
    tables = (
        f'{", ".join(WEIGHTS)}; {title}\n{common.table(HEADS, run(caps))}'
        for title, caps in POLICIES.items()
    )
    print(*tables, sep='\n\n')
