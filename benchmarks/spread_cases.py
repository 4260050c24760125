# SPDX-License-Identifier: Apache-2.0

"""The stacks that the benchmark of the spread simulates."""

import dataclasses
from typing import Any

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
