# SPDX-License-Identifier: Apache-2.0

"""How many more servers Placement has room for, from its own answers.

An upper bound: NUMA, PCI devices and nested providers may leave less room.
"""

import collections
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from os_placement_plugins.quoting import LISTED

_HOSTS = 'nova_flavor_hosts', 'Hosts that take the flavor and are up.'
_SERVERS = (
    'nova_flavor_free_servers',
    'Servers of the flavor that fit, at most, if all else stays.',
)


class Room(NamedTuple):
    """What is left for one flavor; the fields are the command's columns.

    :param hosts: how many hosts pass and are up.
    :param servers: how many more servers fit there; None if Placement
        refuses the question.
    :param full: how many of the hosts have no room.
    :param scarce: the resource classes of which most hosts have least.
    :param unjudged: the extra specs that may leave less room.
    """

    flavor: str
    hosts: int
    servers: int | None
    full: int
    scarce: list[str]
    unjudged: list[str]


def rooms(answer: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Return how many servers fit, by resource class, by root provider.

    :param answer: that of ``GET /allocation_candidates``, which has
        accounted for reserved amounts, ratios, what is used and unit limits.
    """
    summaries = answer['provider_summaries']
    free: dict[str, dict[str, dict[str, int]]] = {}
    need: collections.Counter[str] = collections.Counter()
    for candidate in answer['allocation_requests']:
        # All candidates need the same.
        need.clear()
        left: dict[str, dict[str, int]] = collections.defaultdict(dict)
        for provider, allocation in candidate['allocations'].items():
            own = summaries[provider]['resources']
            for name, amount in allocation['resources'].items():
                need[name] += amount
                units = own[name]['capacity'] - own[name]['used']
                left[name][provider] = units
        # One of them is the host; another may share its disks.
        roots = {
            summaries[provider]['root_provider_uuid']
            for provider in candidate['allocations']
        }
        for root in roots:
            known = free.setdefault(root, collections.defaultdict(dict))
            for name in need:
                known[name] |= left[name]
    return {
        root: {
            name: sum(units.values()) // need[name]
            for name, units in own.items()
        }
        for root, own in free.items()
    }


def count(
    flavor: str,
    hosts: Collection[str],
    nodes: Mapping[str, str],
    found: Mapping[str, Mapping[str, int]],
    lacking: Mapping[str, Collection[str]],
    unjudged: Iterable[str],
) -> Room:
    """Return what is left for one flavor.

    :param hosts: the hosts that pass and are up.
    :param nodes: the hosts by the IDs of their nodes.
    :param found: the result of :func:`rooms`.
    :param lacking: by resource class, the nodes that have some room for it.
    """
    servers, full = 0, 0
    scarce: collections.Counter[str] = collections.Counter()
    for node, host in nodes.items():
        if host not in hosts:
            continue
        own = found.get(node, {})
        number = min(own.values(), default=0)
        servers += number
        full += not own
        scarce.update(name for name in own if own[name] == number)
        if not own:
            scarce.update(n for n, some in lacking.items() if node not in some)
    names = [name for name, _ in scarce.most_common(LISTED)]
    return Room(flavor, len(hosts), servers, full, names, [*unjudged])


def exposition(found: Collection[Room]) -> str:
    """Return numbers in Prometheus' text format."""
    lines = []
    for (name, text), numbers in (
        (_HOSTS, {room.flavor: room.hosts for room in found}),
        (_SERVERS, {room.flavor: room.servers for room in found}),
    ):
        lines += [f'# HELP {name} {text}', f'# TYPE {name} gauge']
        for flavor, number in numbers.items():
            label = flavor.replace('\\', r'\\').replace('"', r'\"')
            label = label.replace('\n', r'\n')
            if number is not None:
                lines.append(f'{name}{{flavor="{label}"}} {number}')
    return '\n'.join([*lines, ''])
