# SPDX-License-Identifier: Apache-2.0

"""The stacks that the benchmark of the spread simulates."""

from typing import Any

from testing.nova import spread_case

Case, Role = spread_case.Case, spread_case.Role
SOFT, STRICT = spread_case.SOFT, spread_case.STRICT
SSD = {f'{spread_case.SCOPE}disk': 'ssd'}
FAST = {f'{spread_case.SCOPE}net': 'fast'}
NEW = {f'{spread_case.SCOPE}cpu': 'new'}
DEDICATED = Role(extra_specs={'hw:cpu_policy': 'dedicated'})
SHARED = Role(extra_specs={'hw:cpu_policy': 'shared'})
#: The filter that keeps flavors in aggregates, and the one of the spread.
AGGREGATES, LIMIT = ('AggregateInstanceTypeFilter',), ('TeamSpreadFilter',)
FEW, MANY = range(3), range(3, 10)
ALL = range(4)

#: Roles that can all use the same four hosts.
IMAGES = (
    Role(image='a', properties={'os_type': 'linux'}),
    Role(image='b', properties={'hw_qemu_guest_agent': 'yes'}),
    Role(image='c'),
)
HINTS = tuple(Role(hints={'role': f'r{number}'}) for number in range(21))
IN_AGGREGATES: dict[str, Any] = {
    'roles': (Role(ALL, SSD), Role(ALL, FAST), Role(ALL, NEW)),
    'apart': spread_case.AGGREGATES,
}
#: Roles that cannot use the same hosts, and what keeps them there. The
#: numbers of servers are such that each role can be even.
BY_AGGREGATES = Case(
    42,
    10,
    1.0,
    roles=(Role(FEW, SSD), Role(MANY, FAST)),
    apart=spread_case.AGGREGATES,
    filters=AGGREGATES,
)
SOME_OF_THEM = Case(
    48,
    8,
    1.0,
    roles=(Role(range(8), SSD), Role(range(4), FAST)),
    apart=spread_case.AGGREGATES,
    filters=AGGREGATES,
)
BY_TRAITS = Case(
    42,
    10,
    1.0,
    roles=(
        Role(FEW, {'trait:CUSTOM_SSD': 'required'}),
        Role(MANY, {'trait:CUSTOM_FAST': 'required'}),
    ),
    apart=spread_case.PLACEMENT,
)
BY_IMAGES = Case(
    42,
    10,
    1.0,
    roles=(Role(FEW, image='isolated'), Role(MANY, image='usual')),
    apart=spread_case.ISOLATED_IMAGES,
    filters=('IsolatedHostsFilter',),
)
BY_HINTS = Case(
    42,
    10,
    1.0,
    roles=(Role(FEW), Role(MANY)),
    apart=spread_case.DIFFERENT_HOST,
    filters=('DifferentHostFilter',),
)
#: Groups that nova-compute checks again, and groups of several kinds.
STRICT_GROUP: dict[str, Any] = {
    'group': STRICT,
    'filters': ('ServerGroupAntiAffinityFilter',),
}
TWO_KINDS: dict[str, Any] = {
    'group': SOFT,
    'roles': (DEDICATED,) * 5 + (SHARED,) * 4,
}
LIMITED_GROUP: dict[str, Any] = {
    'group': SOFT,
    'filters': LIMIT,
    'max_skew': 1,
}

CASES = {
    '50 on 10 hosts, at once': Case(50, 10),
    '50 on 10, one each second': Case(50, 10, 1.0),
    'each process new, 1 s': Case(50, 10, 1.0, fresh=True),
    '50 on 10, one each second, up to 6 s late': Case(50, 10, 1.0, busy=6.0),
    'two zones alternating, 1 s': Case(
        50, 10, 1.0, flavors=(range(5), range(5, 10)), zones=True
    ),
    'three flavors, 1 s': Case(50, 10, 1.0, flavors=(range(10),) * 3),
    'a flavor on 8, one on 4 of them': Case(
        48, 8, 1.0, flavors=(range(8), range(4))
    ),
    'hosts fill up, at once': Case(50, 10, room=(3, 3, *(8,) * 8)),
    '30 % of boots die, 1 s': Case(50, 10, 1.0, dying=0.3),
    '30 % of boots die, 0.05 s': Case(50, 10, 0.05, dying=0.3),
    'host_subset_size 3, at once': Case(50, 10, subset=3),
    '24 evacuations, at once': Case(24, 9, kind=spread_case.EVACUATE),
    '24 unshelves, at once': Case(24, 8, kind=spread_case.UNSHELVE),
    'racks of 2 and 6 hosts, 24 at once': Case(24, 8, racks=(2, 6)),
    'server group of 9 on 3, at once': Case(9, 3, group=SOFT),
    '21 on 4, three images, 1 s': Case(21, 4, 1.0, roles=IMAGES),
    '21 on 4, a hint for each server, 1 s': Case(21, 4, 1.0, roles=HINTS),
    '21 on 4, three flavors, same aggregates, 1 s': Case(
        21, 4, 1.0, filters=AGGREGATES, **IN_AGGREGATES
    ),
    '21 on 4, three flavors, hw:cpu_policy, 1 s': Case(
        21, 4, 1.0, roles=(DEDICATED, SHARED, Role())
    ),
    'aggregates, 3 and 7, 1 s': BY_AGGREGATES,
    'aggregates, 8 and 4 of them, 1 s': SOME_OF_THEM,
    'traits, 3 and 7, 1 s': BY_TRAITS,
    'isolated images, 3 and 7, 1 s': BY_IMAGES,
    'different_host, 3 and 7, 1 s': BY_HINTS,
    'max_skew 1, 21 on 4, three flavors, same aggregates, 1 s': Case(
        21, 4, 1.0, filters=AGGREGATES + LIMIT, max_skew=1, **IN_AGGREGATES
    ),
    '20 % of builds fail once, the weigher alone, at once': Case(
        24, 6, failing=0.2
    ),
    '20 % of builds fail once, max_skew 1, at once': Case(
        24, 6, filters=LIMIT, max_skew=1, failing=0.2
    ),
    '24, 1 of 6 hosts with a failed build, at once': Case(
        24, 6, failed_hosts=(2,)
    ),
    '24, 3 of 6 hosts with a failed build, at once': Case(
        24, 6, failed_hosts=(1, 2, 3)
    ),
    '24 on 6, a stronger weigher on 3, at once': Case(
        24, 6, strong_hosts=(3, 4, 5)
    ),
    '20 live migrations, an API clock 3 s behind': Case(
        20, 6, 0.3, kind=spread_case.LIVE_MIGRATION, clock=3.0
    ),
    'resize of all 6 on 6, at once': Case(
        6, 6, 0.0, group=SOFT, kind=spread_case.RESIZE
    ),
    'resize of all 6 on 6, one every 10 s': Case(
        6, 6, 10.0, group=SOFT, kind=spread_case.RESIZE
    ),
    'anti-affinity, 9 on 10, 1 a host, at once': Case(
        9, 10, max_server_per_host=1, **STRICT_GROUP
    ),
    'anti-affinity, 18 on 10, 2 a host, at once': Case(
        18, 10, max_server_per_host=2, **STRICT_GROUP
    ),
    '5 and 4 in a group on 3, at once': Case(9, 3, **TWO_KINDS),
    '5 and 4 in a group on 3, 1 s': Case(9, 3, 1.0, **TWO_KINDS),
    'max_skew 1, the multiplier 0, a group of 9 on 3': Case(
        9, 3, group_multiplier=0.0, **LIMITED_GROUP
    ),
    'max_skew 1, a group of three kinds, 9 on 3, 1 s': Case(
        9, 3, 1.0, roles=(DEDICATED, SHARED, Role()), **LIMITED_GROUP
    ),
    '28 on 7, every fourth deleted, at once': Case(28, 7, deleted_every=4),
}
