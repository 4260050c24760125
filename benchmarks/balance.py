# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly the memory of hosts is used by many server groups.

``python -m benchmarks.balance`` simulates soft server groups that start one
after the other (``testing/nova/simulation.py``), with Nova's weighers, without
and with the weighers of this package.
"""

import dataclasses
import operator
from typing import Any

from benchmarks import common
from testing.nova.spread_case import SOFT, Case, Role

SEEDS = 2
PROCESSES = (1, 3, 16)


def groups(count: int, members: int, hosts: int, **fields: Any) -> Case:
    """Return a case with so many groups, on hosts with 64 GiB each."""
    usual = {'memory': (64,) * hosts, 'pause': 100.0}
    return Case(
        count * members, hosts, group=SOFT, groups=count, **(usual | fields)
    )


#: Servers of others take 44 of 64 GiB.
FILLED = (11,) * 8
CASES = {
    '60 groups of 1, 15 hosts': groups(60, 1, 15),
    '25 groups of 3, 15 hosts': groups(25, 3, 15),
    '100 groups of 3, 16 hosts, half of them 69 % full': groups(
        100, 3, 16, filled=FILLED
    ),
    '100 groups of 3, 16 hosts, half of them twice as large': groups(
        100, 3, 16, memory=(64,) * 8 + (128,) * 8, roles=(Role(memory=2),)
    ),
    '60 groups of 1, 15 hosts, all within a minute': groups(
        60, 1, 15, pause=0.5, second=0.0
    ),
}


def measure_case(case: Case, processes: int, seeds: int) -> str:
    """Return the shares that the emptiest and the fullest host have used."""
    cloud = common.nova_cloud()
    from testing.nova import simulation

    shares: list[float] = []
    for seed in range(seeds):
        run = simulation.Simulation(cloud, case, processes, seed)
        run.run()
        shares += map(operator.truediv, run.memory().values(), case.memory)
    return f'{min(shares):.0%} to {max(shares):.0%}'


def measure(quick: bool) -> str:
    """Return the table."""
    names, processes, seeds = [*CASES], PROCESSES, SEEDS
    if quick:
        names, processes, seeds = names[:1], PROCESSES[:1], 1
    rows = []
    for name in names:
        case = CASES[name]
        common.say(name)
        nova_alone = dataclasses.replace(case, multiplier=0.0)
        cells = []
        for count in processes:
            without = measure_case(nova_alone, count, seeds)
            ours = measure_case(case, count, seeds)
            cells.append(f'{without} / {ours}')
        rows.append([name, *cells])
    heads = ['case', *map(str, processes)]
    return (
        '\nMemory that the emptiest and the fullest host have given away, '
        'Nova alone / with the\nweigher, by the number of schedulers; '
        f'the extremes of {seeds} seeds\n{common.table(heads, rows, "case")}'
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'one case, process and seed', measure)
