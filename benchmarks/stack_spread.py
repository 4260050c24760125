# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly a stack is spread while its servers start.

``python -m benchmarks.stack_spread`` simulates boots and moves with up to 96
scheduler processes (``testing/nova/simulation.py``), with Nova's weighers and
one host that they all prefer. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import itertools
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks import common, spread_cases
from testing.nova import spread_case

SEEDS = 5
PROCESSES = (1, 3, 16, 96)


#: The measurements of each row, by its name and by the number of processes.
Rows = dict[str, dict[int, list[int]]]


def results(name: str, case: spread_case.Case, run: Any) -> dict[str, int]:
    """Run a case once.

    :param run: the simulation of the case.
    :returns: what to print, by the names of the rows.
    """
    counts = run.run()
    errors = {f'  servers in ERROR, {name}': len(run.errors)}
    if case.group == spread_case.STRICT:
        return errors
    if case.failing or (case.group and case.max_skew):
        return {name: case.unevenness(counts), **errors}
    if case.kind == spread_case.RESIZE:
        return {
            name: case.unevenness(counts),
            f'  to a fuller host, {name}': len(run.crowded),
        }
    kinds: list[Sequence[int]] = [role.hosts for role in case.roles]
    if case.strong_hosts:
        kinds = [case.strong_hosts, range(case.hosts)]
    if len({tuple(hosts) for hosts in kinds}) < 2:
        return {name: case.unevenness(counts)}
    values = list(counts.values())
    rows = {}
    for hosts in kinds:
        servers = [values[number] for number in hosts]
        row = f'{name}: hosts {hosts[0]} to {hosts[-1]}'
        rows[row] = max(servers) - min(servers)
    return rows


def measure(quick: bool) -> str:
    """Return the table."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine, simulation

    counts, seeds = ((3,), 1) if quick else (PROCESSES, SEEDS)
    cloud = engine.Cloud()
    rows: Rows = {}
    for name, case in spread_cases.CASES.items():
        common.say(name)
        for processes, seed in itertools.product(counts, range(seeds)):
            if case.fresh and processes != 3:
                continue
            run = simulation.Simulation(cloud, case, processes, seed)
            for row, number in results(name, case, run).items():
                by_processes = rows.setdefault(row, {})
                by_processes.setdefault(processes, []).append(number)
    lines = []
    for row, by_processes in rows.items():
        cells = []
        for processes in counts:
            numbers = by_processes.get(processes)
            cells.append(f'{statistics.mean(numbers):.1f}' if numbers else '')
        lines.append([row, *cells])
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        'Most servers in a place less fewest, by the number of scheduler '
        f'processes;\nthe mean of {seeds} seeds\n'
    )
    return head + common.table(['case', *counts], lines, 'case')


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova',
            str(__doc__).splitlines()[0],
            'three processes and one seed',
            measure,
        )
    )
