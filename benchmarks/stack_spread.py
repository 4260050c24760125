# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly servers are spread while they start.

``python -m benchmarks.stack_spread`` simulates boots and moves with up to 96
scheduler processes (``testing/nova/simulation.py``), with Nova's weighers and
one host that they all prefer, without and with the weighers of this package.
"""

import dataclasses
import statistics
from collections.abc import Sequence

from benchmarks import common
from testing.nova import spread_case
from testing.nova.spread_case import SOFT, STRICT, Case, Role

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
        24, 6, failed_hosts=(2,)
    ),
    'stack of 24 on 6, 20 % of builds fail once': Case(24, 6, failing=0.2),
    '24 evacuations from 1 of 9, at once': Case(
        24, 9, kind=spread_case.EVACUATE
    ),
    '20 live migrations, a clock 3 s behind': Case(
        20, 6, 0.3, kind=spread_case.LIVE_MIGRATION, clock=3.0
    ),
    'strict group of 9 on 10: servers in ERROR': Case(
        9, 10, group=STRICT, filters=STRICT_FILTER
    ),
}


def measure_case(case: Case, processes: int, seeds: int) -> float:
    """Return the mean of some seeds.

    :returns: the servers in ERROR of a strict group; else by how many servers
        two hosts differ, the most of the hosts of each role.
    """
    cloud = common.nova_cloud()
    from testing.nova import simulation

    numbers = []
    for seed in range(seeds):
        run = simulation.Simulation(cloud, case, processes, seed)
        counts = run.run()
        if case.group == STRICT:
            numbers.append(len(run.errors))
            continue
        hosts = [*counts]
        differences = []
        for role in case.roles:
            names = [hosts[number] for number in role.hosts] or hosts
            differences.append(case.unevenness({n: counts[n] for n in names}))
        numbers.append(max(differences))
    return statistics.mean(numbers)


def measure(quick: bool) -> str:
    """Return the table."""
    processes: Sequence[int] = PROCESSES
    seeds = SEEDS
    if quick:
        processes, seeds = (3,), 1
    rows = []
    for name, case in CASES.items():
        common.say(name)
        nova_alone = dataclasses.replace(case, multiplier=0.0)
        cells = []
        for count in processes:
            without = measure_case(nova_alone, count, seeds)
            ours = measure_case(case, count, seeds)
            cells.append(f'{without:.1f} / {ours:.1f}')
        rows.append([name, *cells])
    heads = ['case', *map(str, processes)]
    return (
        '\nMost servers on a host less fewest, Nova alone / with the weigher, '
        'by the number of\nscheduler processes; the mean of '
        f'{seeds} seeds\n' + common.table(heads, rows, 'case')
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'three processes and one seed', measure)
