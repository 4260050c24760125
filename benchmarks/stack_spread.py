# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly a stack is spread while its servers start.

``python -m benchmarks.stack_spread`` simulates boots and moves with up to 96
scheduler processes (``testing/nova/simulation.py``), with Nova's weighers and
one host that they all prefer. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import statistics
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks import common

SEEDS = 5
PROCESSES = (1, 3, 16, 96)
#: More than all other weighers together.
MULTIPLIER = -10.0


def cases(simulation: Any) -> dict[str, Any]:
    """Return the cases by name."""
    case = simulation.Case
    zones = (range(5), range(5, 10))
    return {
        '9 on 3 hosts, at once': case(9, 3),
        '50 on 10 hosts, at once': case(50, 10),
        '50 on 10, one each second': case(50, 10, 1.0),
        'each process new, at once': case(50, 10, fresh=True),
        'each process new, 1 s': case(50, 10, 1.0, fresh=True),
        'two zones alternating, 1 s': case(
            50, 10, 1.0, flavors=zones, zones=True
        ),
        'three flavors, 1 s': case(50, 10, 1.0, flavors=(range(10),) * 3),
        'a flavor on 8, one on 4 of them': case(
            48, 8, 1.0, flavors=(range(8), range(4))
        ),
        'hosts fill up, at once': case(50, 10, room=(3, 3, *(8,) * 8)),
        'hosts fill up, 1 s': case(50, 10, 1.0, room=(3, 3, *(8,) * 8)),
        '30 % of boots die, 1 s': case(50, 10, 1.0, dying=0.3),
        '30 % of boots die, 0.05 s': case(50, 10, 0.05, dying=0.3),
        'host_subset_size 3, at once': case(50, 10, subset=3),
        'host_subset_size 3, 1 s': case(50, 10, 1.0, subset=3),
        '24 evacuations, at once': case(24, 9, kind=simulation.EVACUATE),
        '24 unshelves, at once': case(24, 8, kind=simulation.UNSHELVE),
        'racks of 2 and 6 hosts, 24 at once': case(24, 8, racks=(2, 6)),
        'server group of 9 on 3, at once': case(
            9, 3, group='soft-anti-affinity'
        ),
    }


def unevenness(case: Any, counts: Mapping[str, int]) -> int:
    """Return by how many servers the places differ.

    :returns: the largest difference between two racks if there are racks,
        and else between two hosts. Hosts that are full, or that the servers
        leave, do not count.
    """
    found = list(counts.values())
    if case.racks:
        hosts, found = iter(found), []
        for size in case.racks:
            found.append(sum(next(hosts) for _ in range(size)))
    if case.room:
        found = [
            n for n, room in zip(found, case.room, strict=True) if n < room
        ]
    if case.kind == 'evacuate':
        del found[0]
    return max(found) - min(found)


def measure(quick: bool) -> str:
    """Return the table."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine, simulation

    cloud = engine.Cloud()
    # Registers the options.
    cloud.scheduler()
    for name, value in (
        ('stack_affinity_weight_multiplier', MULTIPLIER),
        ('server_group_weight_multiplier', -MULTIPLIER),
    ):
        engine.CONF.set_override(name, value, 'nova_filters')
    chosen = (3,) if quick else PROCESSES
    rows = []
    for name, case in cases(simulation).items():
        common.say(name)
        levels = ['rack', 'host'] if case.racks else ['host']
        engine.CONF.set_override('stack_spread_over', levels, 'nova_filters')
        engine.CONF.set_override(
            'host_subset_size', case.subset, 'filter_scheduler'
        )
        row: list[Any] = [name]
        for processes in chosen:
            if case.fresh and processes != 3:
                row.append('')
                continue
            found = [
                unevenness(
                    case,
                    simulation.Simulation(cloud, case, processes, seed).run(),
                )
                for seed in range(1 if quick else SEEDS)
            ]
            row.append(f'{statistics.mean(found):.1f}')
        rows.append(row)
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        'Most servers in a place less fewest, by the number of scheduler '
        f'processes;\nthe mean of {SEEDS} seeds\n'
    )
    heads = ('case', *(str(one) for one in chosen))
    return head + common.table(heads, rows, 'case')


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova',
            str(__doc__).splitlines()[0],
            'three processes and one seed',
            measure,
        )
    )
