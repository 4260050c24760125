# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly servers are spread while they start.

``python -m benchmarks.stack_spread`` simulates boots and moves with up to 96
scheduler processes (``testing/nova/simulation.py``), with Nova's weighers and
one host that they all prefer, without and with the weighers of this package.
"""

import dataclasses
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks import common
from testing.nova import spread_case
from testing.nova.spread_case import SOFT, STRICT, TOGETHER, Case, Role

SEEDS = 5
PROCESSES = (1, 3, 16, 96)
CPUS = (
    Role({'hw:cpu_policy': 'dedicated'}),
    Role({'hw:cpu_policy': 'shared'}),
)
#: Roles whose traits leave them different hosts.
TRAITS = (
    Role({'trait:CUSTOM_SSD': 'required'}, range(3)),
    Role({'trait:CUSTOM_FAST': 'required'}, range(3, 10)),
)
STRICT_FILTER = ('ServerGroupAntiAffinityFilter',)
TOGETHER_FILTER = ('ServerGroupAffinityFilter',)
#: The late check needs upcalls from the cell, which these cases do not have.
NO_UPCALLS = {'late_check': False}
CASES = {
    'stack of 50 on 10 hosts, at once': Case(50, 10),
    'the same, one each second': Case(50, 10, 1.0),
    'the same, answers up to 6 s late': Case(50, 10, 1.0, busy=6.0),
    'soft group of 9 on 3, at once': Case(9, 3, group=SOFT),
    'soft group of 5 and 4 with two flavors, 1 s': Case(
        9, 3, 1.0, group=SOFT, roles=CPUS
    ),
    'stack of 42 on 3 and 7 hosts by traits, 1 s': Case(
        42, 10, 1.0, roles=TRAITS
    ),
    'stack of 24 on 6, 1 host with a failed build': Case(
        24, 6, failed_builds=(0, 0, 1)
    ),
    'stack of 24 on 6, 20 % of builds fail once': Case(24, 6, failing=0.2),
    '24 evacuations from 1 of 9, at once': Case(
        24, 9, kind=spread_case.EVACUATE
    ),
    '20 live migrations, a clock 3 s behind': Case(
        20, 6, 0.3, kind=spread_case.LIVE_MIGRATION, clock=3.0
    ),
    'soft group of 24 on 6, 20 % of builds fail once': Case(
        24, 6, group=SOFT, failing=0.2
    ),
    'the same, one each 5 s': Case(24, 6, 5.0, group=SOFT, failing=0.2),
    'the same, build_failure_weight_multiplier 1': Case(
        24, 6, 5.0, group=SOFT, failing=0.2, failure_weight=1.0
    ),
    'soft group of 12 on 6 with 1 to 6 failed builds': Case(
        12, 6, group=SOFT, failed_builds=(1, 2, 3, 4, 5, 6)
    ),
    'the same, the multiplier is 1': Case(
        12,
        6,
        group=SOFT,
        failed_builds=(1, 2, 3, 4, 5, 6),
        failure_weight=1.0,
    ),
    'soft group of 9 on 3, tracking is off': Case(
        9, 3, group=SOFT, tracking=False
    ),
}


def strict(servers: int, hosts: int, gap: float = 0.0, **fields: Any) -> Case:
    """Return the case of a group with the policy anti-affinity."""
    return Case(
        servers, hosts, gap, group=STRICT, filters=STRICT_FILTER, **fields
    )


def together(**fields: Any) -> Case:
    """Return the case of six groups with the policy affinity."""
    return Case(
        18, 6, group=TOGETHER, groups=6, filters=TOGETHER_FILTER, **fields
    )


#: Cases whose servers may end in ERROR.
HARD = {
    'anti-affinity: 9 on 10': strict(9, 10),
    '9 on 9': strict(9, 9),
    '9 on 9, tracking is off': strict(9, 9, tracking=False),
    '6 on racks of 1 and 5': strict(6, 6, racks=(1, 5)),
    '6 on racks of 3 and 3': strict(6, 6, racks=(3, 3)),
    '8 on racks of 1, 1 and 10, 1 s': strict(8, 12, 1.0, racks=(1, 1, 10)),
    '9 on 12, 5 hosts with a failed build': strict(
        9, 12, failed_builds=(0, 1, 1, 1, 1, 1)
    ),
    '6 on 6, 1 host with a failed build': strict(
        6, 6, failed_builds=(0, 0, 1)
    ),
    '9 on 12, 20 % of builds fail once': strict(9, 12, failing=0.2),
    '9 on 9, 1 to 9 failed builds': strict(
        9, 9, failed_builds=(1, 2, 3, 4, 5, 6, 7, 8, 9)
    ),
    '8 on 8, 1 host with room for one, 1 s': strict(8, 8, 1.0, rooms=(1,)),
    '4 and 5 of two flavors on 12, 5 failed': strict(
        9, 12, roles=CPUS, failed_builds=(1, 1, 1, 1, 1)
    ),
    '3 of 9 on 12 evacuated': strict(
        9, 12, kind=spread_case.EVACUATE, moving=3
    ),
    '6 on 12 resized': strict(6, 12, kind=spread_case.RESIZE),
    'affinity: 6 groups of 3 on 6': together(),
}
#: Cases in which nobody checks the hard policy of a group.
UNCHECKED = {
    'anti-affinity: 9 on 9': strict(9, 9, **NO_UPCALLS),
    '9 on 12, 20 % of builds fail once': strict(
        9, 12, failing=0.2, **NO_UPCALLS
    ),
    '8 on 8, 1 host with room for one, 1 s': strict(
        8, 8, 1.0, rooms=(1,), **NO_UPCALLS
    ),
    '6 on 12 resized': strict(6, 12, kind=spread_case.RESIZE, **NO_UPCALLS),
    '4 on 8 migrated': strict(
        4, 8, kind=spread_case.LIVE_MIGRATION, **NO_UPCALLS
    ),
    'affinity: 6 groups of 3 on 6': together(**NO_UPCALLS),
}
#: Many more hosts than servers.
LARGE = {'anti-affinity: 9 on 300': strict(9, 300)}
#: Cases that show how many servers the fullest host has.
CROWDED = {
    'anti-affinity: 9 on 9': UNCHECKED['anti-affinity: 9 on 9'],
    'soft group of 9 on 300': Case(9, 300, group=SOFT),
}
#: The processes of 16 that run without the weighers.
OLD_PROCESSES = (0, 1, 4, 12, 16)


def unevenness(case: Case, run: Any, counts: Mapping[str, int]) -> int:
    """Return by how many servers two hosts differ.

    :returns: the largest number of the roles, each on its own hosts.
    """
    hosts = [*counts]
    differences = []
    for role in case.roles:
        names = [hosts[number] for number in role.hosts] or hosts
        differences.append(case.unevenness({n: counts[n] for n in names}))
    return max(differences)


def errors(case: Case, run: Any, counts: Mapping[str, int]) -> int:
    """Return how many servers ended in ERROR."""
    return len(run.errors)


def misplaced(case: Case, run: Any, counts: Mapping[str, int]) -> int:
    """Return how many servers break the policy of their group."""
    return sum(run.misplaced().values())


def most_servers(case: Case, run: Any, counts: Mapping[str, int]) -> int:
    """Return how many servers the fullest host has."""
    return max(counts.values())


Measure = Callable[[Case, Any, Mapping[str, int]], int]

#: Cases for a rolling restart, and the number that each row has.
ROLLOUT: dict[str, tuple[Case, Measure]] = {
    'soft group of 9 on 3, most less fewest': (
        Case(9, 3, group=SOFT),
        unevenness,
    ),
    'anti-affinity: 9 on 9, in ERROR': (strict(9, 9), errors),
    'the same, nobody checks, break the policy': (
        strict(9, 9, **NO_UPCALLS),
        misplaced,
    ),
}


def measure_case(
    case: Case, processes: int, seeds: int, number: Measure
) -> float:
    """Return the mean of some seeds.

    :param number: the function that reads the number of one run.
    """
    cloud = common.nova_cloud()
    from testing.nova import simulation

    numbers = []
    for seed in range(seeds):
        run = simulation.Simulation(cloud, case, processes, seed)
        counts = run.run()
        numbers.append(number(case, run, counts))
    return statistics.mean(numbers)


def measure_table(
    title: str, cases: Mapping[str, Case], number: Measure, quick: bool
) -> str:
    """Return a table of cases, by the number of scheduler processes."""
    processes: Sequence[int] = PROCESSES
    seeds = SEEDS
    if quick:
        processes, seeds = (3,), 1
    rows = []
    for name, case in cases.items():
        common.say(name)
        nova_alone = dataclasses.replace(case, multiplier=0.0)
        cells = []
        for count in processes:
            without = measure_case(nova_alone, count, seeds, number)
            ours = measure_case(case, count, seeds, number)
            cells.append(f'{without:.1f} / {ours:.1f}')
        rows.append([name, *cells])
    heads = ['case', *map(str, processes)]
    return f'\n{title}\n{common.table(heads, rows, "case")}'


def measure_rollout(quick: bool) -> str:
    """Return a table by the number of processes without the weighers."""
    seeds = 2 if quick else 4 * SEEDS
    rows = []
    for name, (case, number) in ROLLOUT.items():
        common.say(name)
        cells = []
        for count in OLD_PROCESSES:
            mixed = dataclasses.replace(case, old_processes=count)
            mean = measure_case(mixed, max(OLD_PROCESSES), seeds, number)
            cells.append(f'{mean:.1f}')
        rows.append([name, *cells])
    heads = ['case', *(f'{count} of 16' for count in OLD_PROCESSES)]
    title = (
        'A rolling restart, by the number of processes without the weigher; '
        f'the mean of {seeds} seeds'
    )
    return f'\n{title}\n{common.table(heads, rows, "case")}'


def measure(quick: bool) -> str:
    """Return the tables."""
    seeds = 1 if quick else SEEDS
    return '\n'.join(
        (
            measure_table(
                'Most servers on a host less fewest, Nova alone / with the '
                'weigher, by the number of\nscheduler processes; the mean of '
                f'{seeds} seeds',
                CASES,
                unevenness,
                quick,
            ),
            measure_table('Servers in ERROR', HARD, errors, quick),
            measure_table(
                'Servers that break the policy of their group, if '
                'nova-compute does not check it',
                UNCHECKED,
                misplaced,
                quick,
            ),
            measure_rollout(quick),
            # The cases with many hosts come last: the hosts stay.
            measure_table(
                'Servers on the host that has most. Nobody checks the policy '
                'anti-affinity',
                CROWDED,
                most_servers,
                quick,
            ),
            measure_table('Servers in ERROR', LARGE, errors, quick),
        )
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'three processes and one seed', measure)
