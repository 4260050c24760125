# SPDX-License-Identifier: Apache-2.0

"""The filter: the specification's examples in a real scheduler."""

import collections
import pathlib
from collections.abc import Iterator

from demo import story
from testing.nova import cases, engine

#: What the sections of the specification are about.
WORDS = {
    'Description': 'one of several values, any value, none',
    'Use case 1': 'a flavor needs the key, with any value',
    'Use case 2': 'a flavor takes one value, or no key',
    'Use case 3': 'a flavor keeps off hosts with the key',
    'Use case 4': 'hosts are kept for flavors with the key',
    'Use case 5': 'kept hosts: any value, or none',
    'Use case 6': 'kept hosts: only flavors without the key',
    'Use case 7': 'keys of Nova itself, such as hw:',
}


def run(log: pathlib.Path) -> str:
    """Return the table."""
    cloud = engine.Cloud(log)
    questions: collections.Counter[str] = collections.Counter()
    right_in_tree: collections.Counter[str] = collections.Counter()
    right_ours: collections.Counter[str] = collections.Counter()
    for example in cases.examples():
        section, _, _ = example.section.partition(',')
        for wanted, in_tree, ours in _boot(cloud, example):
            questions[section] += 1
            right_in_tree[section] += in_tree == wanted
            right_ours[section] += ours == wanted
    rows = []
    for section, number in questions.items():
        rows.append(
            (
                WORDS[section],
                f'{right_in_tree[section]} of {number}',
                f'{right_ours[section]} of {number}',
            )
        )
    return (
        f'Nova {engine.nova_version()}: hosts that a filter lets pass or '
        'refuses as the specification wants it.\n\n'
        'The filter is on with this nova.conf:\n\n'
        '[filter_scheduler]\n'
        'available_filters = nova.scheduler.filters.all_filters\n'
        'available_filters = nova_filters.all_filters\n'
        f'enabled_filters = ComputeFilter,{engine.OURS}\n\n'
        + story.table(('', "Nova's own filter", 'this filter'), rows)
    )


def _boot(
    cloud: engine.Cloud, example: cases.Example
) -> Iterator[tuple[bool, bool, bool]]:
    """Ask for a server of each flavor on a host of each aggregate.

    :returns: whether the specification wants it there, and whether Nova's own
        filter and this package's filter let it pass.
    """
    # Each example has the same hosts: Nova asks the database for the servers
    # of every host there is, with every request.
    cloud.clear()
    for number in range(len(cloud.hosts), len(example.aggregates)):
        cloud.add_host(f'host-{number + 1}')
    hosts = dict(zip(example.aggregates, cloud.hosts, strict=False))
    for name, metadata in example.aggregates.items():
        cloud.add_aggregate(name, [hosts[name]], metadata)
    in_tree = cloud.scheduler(engine.IN_TREE)
    ours = cloud.scheduler(engine.OURS)
    for name, extra_specs in example.flavors.items():
        flavor = cloud.add_flavor(name, extra_specs)
        request = cloud.request(flavor, [*hosts.values()])
        in_tree_hosts = cloud.filtered(in_tree, request)
        our_hosts = cloud.filtered(ours, request)
        wanted_aggregates = example.boots_in(name)
        for aggregate, host in hosts.items():
            yield (
                aggregate in wanted_aggregates,
                host in in_tree_hosts,
                host in our_hosts,
            )
