# SPDX-License-Identifier: Apache-2.0

"""Measure how evenly a stack is spread while its servers start.

``python -m benchmarks.stack_spread`` simulates boots and moves with up to 96
scheduler processes (``testing/nova/simulation.py``), with Nova's weighers and
one host that they all prefer. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows. ``--against FOLDER`` measures the plug-ins
of another checkout, too, and prints both.
"""

import dataclasses
import importlib
import multiprocessing
import pathlib
import statistics
import sys
from collections.abc import Mapping, Sequence
from concurrent import futures
from typing import Any, NamedTuple

from benchmarks import common

SEEDS = 5
PROCESSES = (1, 3, 16, 96)
#: What ``--against`` takes from the other checkout.
PACKAGES = ('os_placement_plugins', 'nova_filters')
#: The seconds between one request and the next, and their names.
GAPS = {'at once': 0.0, '1 s': 1.0}
#: The filter that keeps flavors in aggregates.
FILTER = 'AggregateInstanceTypeFilter'
#: The cases of roles that TeamSpreadFilter limits, too.
LIMITED = (
    '21 on 4, a hint for each server, at once',
    '21 on 4, a hint for each server, 1 s',
    '21 on 4, three flavors, same aggregates, at once',
    '21 on 4, three flavors, same aggregates, 1 s',
)
#: More than all other weighers together.
MULTIPLIER = -10.0


class Plan(NamedTuple):
    """What to measure.

    :param words: only the cases whose names contain these words.
    """

    processes: Sequence[int]
    seeds: int
    words: str


#: The measurements of each row, by its name and by the number of processes.
Rows = dict[str, dict[int, list[int]]]


def cases(simulation: Any) -> dict[str, Any]:
    """Return the cases by name."""
    return {
        **alike(simulation),
        **same_hosts(simulation),
        **different_hosts(simulation),
        **limited(simulation),
        **failing_builds(simulation),
    }


def alike(simulation: Any) -> dict[str, Any]:
    """Return the cases in which the servers have no roles."""
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


def same_hosts(simulation: Any) -> dict[str, Any]:
    """Return the cases of roles that can all use the same hosts."""
    role, scope = simulation.Role, simulation.SCOPE
    hosts = range(4)
    roles: dict[str, tuple[Any, ...]] = {
        'three images': (
            role(image='a', properties={'os_type': 'linux'}),
            role(image='b', properties={'hw_qemu_guest_agent': 'yes'}),
            role(image='c'),
        ),
        'a hint for each server': tuple(
            role(hints={'role': f'r{number}'}) for number in range(21)
        ),
        'three sizes of flavors': (
            role(memory_mb=64),
            role(memory_mb=128),
            role(memory_mb=256),
        ),
        'three flavors, same aggregates': (
            role(hosts, {f'{scope}disk': 'ssd'}),
            role(hosts, {f'{scope}net': 'fast'}),
            role(hosts, {f'{scope}cpu': 'new'}),
        ),
        'three flavors, hw:cpu_policy': (
            role(extra_specs={'hw:cpu_policy': 'dedicated'}),
            role(extra_specs={'hw:cpu_policy': 'shared'}),
            role(),
        ),
    }
    cases = {}
    for name, members in roles.items():
        apart = ''
        filters: tuple[str, ...] = ()
        if any(member.hosts for member in members):
            apart = simulation.AGGREGATES
            filters = (FILTER,)
        for servers in 21, 3:
            for when, gap in GAPS.items():
                title = f'{servers} on {len(hosts)}, {name}, {when}'
                cases[title] = simulation.Case(
                    servers,
                    len(hosts),
                    gap,
                    roles=members,
                    apart=apart,
                    filters=filters,
                )
    return cases


def different_hosts(simulation: Any) -> dict[str, Any]:
    """Return the cases of two roles that cannot use the same hosts.

    In each case, the number of servers is such that each role can be even.
    """
    role, scope = simulation.Role, simulation.SCOPE
    ssd, fast = {f'{scope}disk': 'ssd'}, {f'{scope}net': 'fast'}
    few, many = range(3), range(3, 10)
    three_and_seven = (role(few, ssd), role(many, fast))
    traits = (
        role(few, {'trait:CUSTOM_SSD': 'required'}),
        role(many, {'trait:CUSTOM_FAST': 'required'}),
    )
    images = role(few, image='isolated'), role(many, image='usual')
    hints = role(few), role(many)
    aggregates = simulation.AGGREGATES
    eight, four = role(range(8), ssd), role(range(8, 12), fast)
    four_of_eight, any_host = role(range(4), fast), role(range(8))
    # The roles, what keeps them on their hosts, and the filters for it.
    settings: dict[str, tuple[tuple[Any, ...], str, tuple[str, ...]]] = {
        'aggregates, 3 and 7': (three_and_seven, aggregates, (FILTER,)),
        'aggregates, 8 and 4': ((eight, four), aggregates, (FILTER,)),
        'aggregates, 8 and 4 of them': (
            (eight, four_of_eight),
            aggregates,
            (FILTER,),
        ),
        'aggregates, any of 8 and 4 of them': (
            (any_host, four_of_eight),
            aggregates,
            (FILTER,),
        ),
        'traits, 3 and 7': (traits, simulation.PLACEMENT, ()),
        'isolated images, 3 and 7': (
            images,
            simulation.ISOLATED_IMAGES,
            ('IsolatedHostsFilter',),
        ),
        'different_host, 3 and 7': (
            hints,
            simulation.DIFFERENT_HOST,
            ('DifferentHostFilter',),
        ),
        "aggregates, Nova's filter, 3 and 7": (
            three_and_seven,
            aggregates,
            ('AggregateInstanceExtraSpecsFilter',),
        ),
    }
    cases = {}
    for name, (roles, apart, filters) in settings.items():
        servers = 42 if roles[0].hosts == few else 48
        last = max(member.hosts[-1] for member in roles)
        for when, gap in GAPS.items():
            cases[f'{name}, {when}'] = simulation.Case(
                servers,
                last + 1,
                gap,
                roles=roles,
                apart=apart,
                filters=filters,
            )
    return cases


def limited(simulation: Any) -> dict[str, Any]:
    """Return the cases of roles with ``TeamSpreadFilter``."""
    roles = same_hosts(simulation)
    cases = {}
    for name in LIMITED:
        case = roles[name]
        cases[f'max_skew 1, {name}'] = dataclasses.replace(
            case, filters=(*case.filters, 'TeamSpreadFilter'), max_skew=1
        )
    return cases


def failing_builds(simulation: Any) -> dict[str, Any]:
    """Return the cases in which 20 % of the builds fail once."""
    cases = {}
    filters: tuple[str, ...]
    for name, max_skew, filters in (
        ('the weigher alone', 0, ()),
        ('max_skew 1', 1, ('TeamSpreadFilter',)),
    ):
        for when, gap in GAPS.items():
            cases[f'20 % of builds fail once, {name}, {when}'] = (
                simulation.Case(
                    24,
                    6,
                    gap,
                    filters=filters,
                    max_skew=max_skew,
                    failing=0.2,
                )
            )
    return cases


def unevenness(case: Any, counts: Mapping[str, int]) -> int:
    """Return by how many servers the places differ.

    :returns: the largest difference between two racks if there are racks,
        and else between two hosts. Hosts that are full, or that the servers
        leave, do not count.
    """
    servers = list(counts.values())
    if case.racks:
        hosts = iter(servers)
        servers = []
        for size in case.racks:
            servers.append(sum(next(hosts) for _ in range(size)))
    if case.room:
        servers = [
            count
            for count, room in zip(servers, case.room, strict=True)
            if count < room
        ]
    if case.kind == 'evacuate':
        del servers[0]
    return max(servers) - min(servers)


def results(name: str, case: Any, run: Any) -> dict[str, int]:
    """Run a case once.

    :param run: the simulation of the case.
    :returns: what to print, by the names of the rows.
    """
    counts = run.run()
    if case.failing:
        return {
            name: unevenness(case, counts),
            f'  servers in ERROR, {name}': len(run.errors),
        }
    hosts = {role.hosts for role in case.roles}
    if len(hosts) < 2:
        return {name: unevenness(case, counts)}
    values = list(counts.values())
    rows = {}
    for role in case.roles:
        servers = [values[number] for number in role.hosts]
        row = f'{name}: hosts {role.hosts[0]} to {role.hosts[-1]}'
        rows[row] = max(servers) - min(servers)
    return rows


def use(folder: str) -> None:
    """Import the plug-ins from a checkout.

    :raises BenchmarkError: if they do not come from there.
    """
    sys.path.insert(0, folder)
    for name in PACKAGES:
        path = importlib.import_module(name).__file__
        if path is None or not pathlib.Path(path).is_relative_to(folder):
            raise common.BenchmarkError(f'{name} comes from {path}')
    sys.path.remove(folder)


def measure_code(folder: str, plan: Plan) -> tuple[str, Rows]:
    """Measure the plug-ins of a checkout, in this process.

    :returns: Nova's version, and the rows.
    """
    use(folder)
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
    rows: Rows = {}
    for name, case in cases(simulation).items():
        if plan.words not in name:
            continue
        common.say(f'{pathlib.Path(folder).name}: {name}')
        levels = ['rack', 'host'] if case.racks else ['host']
        engine.CONF.set_override('stack_spread_over', levels, 'nova_filters')
        engine.CONF.set_override(
            'host_subset_size', case.subset, 'filter_scheduler'
        )
        for processes in plan.processes:
            if case.fresh and processes != 3:
                continue
            for seed in range(plan.seeds):
                run = simulation.Simulation(cloud, case, processes, seed)
                for row, number in results(name, case, run).items():
                    by_processes = rows.setdefault(row, {})
                    by_processes.setdefault(processes, []).append(number)
    return engine.nova_version(), rows


def measure(plan: Plan, against: str | None) -> str:
    """Return the table.

    :param against: another checkout of this repository, if any.
    """
    here = str(pathlib.Path(__file__).parents[1])
    folders = {'': here}
    if against is not None:
        other = str(pathlib.Path(against).resolve())
        folders = {' before': other, ' now': here}
    # A process can hold one cloud, and one version of the plug-ins.
    with futures.ProcessPoolExecutor(
        max_workers=len(folders),
        mp_context=multiprocessing.get_context('spawn'),
        max_tasks_per_child=1,
    ) as pool:
        runs = {
            title: pool.submit(measure_code, folder, plan)
            for title, folder in folders.items()
        }
        answers = {title: run.result() for title, run in runs.items()}
    _, rows_now = answers[next(reversed(answers))]
    if not rows_now:
        raise common.BenchmarkError(f'no case has "{plan.words}" in its name')
    lines = []
    for row in rows_now:
        line = [row]
        for processes in plan.processes:
            for _, rows in answers.values():
                numbers = rows[row].get(processes)
                if numbers:
                    line.append(f'{statistics.mean(numbers):.1f}')
                else:
                    line.append('')
        lines.append(line)
    version, _ = answers[next(iter(answers))]
    seeds = (
        'one seed' if plan.seeds == 1 else f'the mean of {plan.seeds} seeds'
    )
    head = (
        f'{common.machine(f"Nova {version}")}\n\n'
        'Most servers in a place less fewest, by the number of scheduler '
        f'processes;\n{seeds}\n'
    )
    heads = ['case']
    for processes in plan.processes:
        heads += [f'{processes}{title}' for title in answers]
    return head + common.table(heads, lines, 'case')


def main() -> int:
    """Run the benchmark from the command line, and return its exit code."""
    parser = common.parser(
        str(__doc__).splitlines()[0], 'three processes and one seed'
    )
    parser.add_argument(
        '--against',
        metavar='FOLDER',
        help='another checkout, whose plug-ins are measured, too',
    )
    parser.add_argument(
        '--processes',
        metavar='N',
        nargs='+',
        type=int,
        help='the numbers of scheduler processes',
    )
    parser.add_argument(
        '--seeds', metavar='N', type=int, help='how often to run each case'
    )
    parser.add_argument(
        '--case',
        metavar='WORDS',
        default='',
        help='only the cases whose names contain these words',
    )
    args = parser.parse_args()
    processes: Sequence[int] = PROCESSES
    seeds = SEEDS
    if args.quick:
        processes = (3,)
        seeds = 1
    plan = Plan(args.processes or processes, args.seeds or seeds, args.case)
    return common.report('Nova', lambda: measure(plan, args.against))


if __name__ == '__main__':
    sys.exit(main())
