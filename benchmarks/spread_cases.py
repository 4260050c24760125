# SPDX-License-Identifier: Apache-2.0

"""The stacks that the benchmark of the spread simulates."""

import dataclasses
from typing import Any

from testing.nova import spread_case

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


def cases() -> dict[str, spread_case.Case]:
    """Return the cases by name."""
    return {
        **alike(),
        **same_hosts(),
        **different_hosts(),
        **limited(),
        **failing_builds(),
        **weighed_against(),
        **moves(),
        **groups(),
        **deletions(),
    }


def alike() -> dict[str, spread_case.Case]:
    """Return the cases in which the servers have no roles."""
    case = spread_case.Case
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
        '9 on 3, schedulers up to 6 s late': spread_case.Case(9, 3, busy=6.0),
        '50 on 10, schedulers up to 6 s late': spread_case.Case(
            50, 10, busy=6.0
        ),
        '50 on 10, one each second, up to 6 s late': spread_case.Case(
            50, 10, 1.0, busy=6.0
        ),
        'hosts fill up, at once': case(50, 10, room=(3, 3, *(8,) * 8)),
        'hosts fill up, 1 s': case(50, 10, 1.0, room=(3, 3, *(8,) * 8)),
        '30 % of boots die, 1 s': case(50, 10, 1.0, dying=0.3),
        '30 % of boots die, 0.05 s': case(50, 10, 0.05, dying=0.3),
        'host_subset_size 3, at once': case(50, 10, subset=3),
        'host_subset_size 3, 1 s': case(50, 10, 1.0, subset=3),
        '24 evacuations, at once': case(24, 9, kind=spread_case.EVACUATE),
        '24 unshelves, at once': case(24, 8, kind=spread_case.UNSHELVE),
        'racks of 2 and 6 hosts, 24 at once': case(24, 8, racks=(2, 6)),
        'server group of 9 on 3, at once': case(
            9, 3, group='soft-anti-affinity'
        ),
    }


def same_hosts() -> dict[str, spread_case.Case]:
    """Return the cases of roles that can all use the same hosts."""
    role, scope = spread_case.Role, spread_case.SCOPE
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
            apart = spread_case.AGGREGATES
            filters = (FILTER,)
        for servers in 21, 3:
            for when, gap in GAPS.items():
                title = f'{servers} on {len(hosts)}, {name}, {when}'
                cases[title] = spread_case.Case(
                    servers,
                    len(hosts),
                    gap,
                    roles=members,
                    apart=apart,
                    filters=filters,
                )
    return cases


def different_hosts() -> dict[str, spread_case.Case]:
    """Return the cases of two roles that cannot use the same hosts.

    In each case, the number of servers is such that each role can be even.
    """
    role, scope = spread_case.Role, spread_case.SCOPE
    ssd, fast = {f'{scope}disk': 'ssd'}, {f'{scope}net': 'fast'}
    few, many = range(3), range(3, 10)
    three_and_seven = (role(few, ssd), role(many, fast))
    traits = (
        role(few, {'trait:CUSTOM_SSD': 'required'}),
        role(many, {'trait:CUSTOM_FAST': 'required'}),
    )
    images = role(few, image='isolated'), role(many, image='usual')
    hints = role(few), role(many)
    aggregates = spread_case.AGGREGATES
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
        'traits, 3 and 7': (traits, spread_case.PLACEMENT, ()),
        'isolated images, 3 and 7': (
            images,
            spread_case.ISOLATED_IMAGES,
            ('IsolatedHostsFilter',),
        ),
        'different_host, 3 and 7': (
            hints,
            spread_case.DIFFERENT_HOST,
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
            cases[f'{name}, {when}'] = spread_case.Case(
                servers,
                last + 1,
                gap,
                roles=roles,
                apart=apart,
                filters=filters,
            )
    return cases


def limited() -> dict[str, spread_case.Case]:
    """Return the cases of roles with ``TeamSpreadFilter``."""
    roles = same_hosts()
    cases = {}
    for name in LIMITED:
        case = roles[name]
        cases[f'max_skew 1, {name}'] = dataclasses.replace(
            case, filters=(*case.filters, 'TeamSpreadFilter'), max_skew=1
        )
    return cases


def failing_builds() -> dict[str, spread_case.Case]:
    """Return the cases in which 20 % of the builds fail once."""
    cases = {}
    filters: tuple[str, ...]
    for name, max_skew, filters in (
        ('the weigher alone', 0, ()),
        ('max_skew 1', 1, ('TeamSpreadFilter',)),
    ):
        for when, gap in GAPS.items():
            cases[f'20 % of builds fail once, {name}, {when}'] = (
                spread_case.Case(
                    24,
                    6,
                    gap,
                    filters=filters,
                    max_skew=max_skew,
                    failing=0.2,
                )
            )
    return cases


def weighed_against() -> dict[str, spread_case.Case]:
    """Return the cases in which another weigher is stronger on some hosts."""
    case = spread_case.Case
    strong = (3, 4, 5)
    cases = {}
    for failed_hosts in (2,), (1, 2, 3):
        many = f'{len(failed_hosts)} of 6 hosts with a failed build'
        for servers in 24, 9:
            for when, gap in GAPS.items():
                cases[f'{servers}, {many}, {when}'] = case(
                    servers, 6, gap, failed_hosts=failed_hosts
                )
    cases['3 on 4, 1 host with a failed build, at once'] = case(
        3, 4, failed_hosts=(2,)
    )
    cases['24 on 6, a stronger weigher on 3, at once'] = case(
        24, 6, strong_hosts=strong
    )
    return cases


def moves() -> dict[str, spread_case.Case]:
    """Return the cases in which servers move whose clocks or hosts differ."""
    cases = {}
    for clock in 0, 1, 3:
        name = f'20 live migrations, an API clock {clock} s behind'
        cases[name] = spread_case.Case(
            20,
            6,
            0.3,
            kind=spread_case.LIVE_MIGRATION,
            clock=float(clock),
        )
    for when, gap in ('at once', 0.0), ('one every 10 s', 10.0):
        cases[f'resize of all 6 on 6, {when}'] = spread_case.Case(
            6, 6, gap, group=spread_case.SOFT, kind=spread_case.RESIZE
        )
    return cases


def groups() -> dict[str, spread_case.Case]:
    """Return the cases of strict groups, and of groups that are not alike."""
    case, role = spread_case.Case, spread_case.Role
    soft, strict = spread_case.SOFT, spread_case.STRICT
    late_check = ('ServerGroupAntiAffinityFilter',)
    limit = ('TeamSpreadFilter',)
    cases = {}
    for servers, per_host in (5, 1), (9, 1), (18, 2):
        name = f'anti-affinity, {servers} on 10, {per_host} a host, at once'
        cases[name] = case(
            servers,
            10,
            group=strict,
            filters=late_check,
            max_server_per_host=per_host,
        )
    dedicated = role(extra_specs={'hw:cpu_policy': 'dedicated'})
    shared = role(extra_specs={'hw:cpu_policy': 'shared'})
    for first, second, hosts in (3, 4, 7), (5, 4, 3):
        roles = (dedicated,) * first + (shared,) * second
        for when, gap in GAPS.items():
            name = f'{first} and {second} in a group on {hosts}, {when}'
            cases[name] = case(
                first + second, hosts, gap, group=soft, roles=roles
            )
    cases['max_skew 1, the multiplier 0, a group of 9 on 3'] = case(
        9, 3, group=soft, filters=limit, max_skew=1, group_multiplier=0.0
    )
    for when, gap in GAPS.items():
        cases[f'max_skew 1, a group of three kinds, 9 on 3, {when}'] = case(
            9,
            3,
            gap,
            group=soft,
            filters=limit,
            max_skew=1,
            roles=(dedicated, shared, role()),
        )
    return cases


def deletions() -> dict[str, spread_case.Case]:
    """Return the cases in which users delete servers that still start."""
    return {
        f'28 on 7, every fourth deleted, {when}': spread_case.Case(
            28, 7, gap, deleted_every=4
        )
        for when, gap in GAPS.items()
    }
