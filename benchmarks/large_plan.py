# SPDX-License-Identifier: Apache-2.0

"""Time the plans for a large cluster, and fail if they take too long.

``python -m benchmarks.large_plan`` needs no service.
"""

import datetime
import random

from benchmarks import common
from senlin_plugins.planning.plan import Snapshot, distribution, plan_change
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region

NODES = 100_000
REGIONS = 100
SEED = 20_261_127
#: Seconds of processor time that a plan may take.
LIMIT = 0.2
#: The best of so many runs counts.
REPEATS = 10


def make_cluster(rng: random.Random) -> tuple[list[Region], list[Node]]:
    """Return regions with random weights, and nodes in random regions."""
    regions = [
        Region(f'region-{number:03}', rng.randint(1, 1_000))
        for number in range(REGIONS)
    ]
    begin = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
    nodes = []
    for number in range(NODES):
        age = datetime.timedelta(seconds=rng.randrange(10**6))
        nodes.append(
            Node(
                id=f'{number:06}',
                region=rng.choice(regions).name,
                # One in a hundred is of no use any more.
                status='ACTIVE' if number % 100 else 'ERROR',
                position=number,
                created_at=begin + age,
                lot=rng.random(),
            )
        )
    return regions, nodes


def main() -> None:
    """Time a plan for each way, and print the times.

    :raises BenchmarkError: if a plan takes longer than :data:`LIMIT`.
    """
    regions, nodes = make_cluster(random.Random(SEED))

    def plan(growing: bool) -> None:
        change = Change(growing, NODES // 2)
        current = distribution(nodes)
        plan_change(Snapshot(change, regions, current, nodes=nodes))

    for growing, way in ((True, 'out'), (False, 'in')):
        best = min(
            common.seconds(lambda growing=growing: plan(growing))
            for _ in range(REPEATS)
        )
        print(f'scale {way} by {NODES // 2}: {best:.3f} s')
        if best > LIMIT:
            raise common.BenchmarkError(f'this is more than {LIMIT} s')


if __name__ == '__main__':
    main()
