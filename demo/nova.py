# SPDX-License-Identifier: Apache-2.0

"""The demo's Nova part: the specification's examples in a real scheduler."""

import collections
import pathlib
from typing import Any

from demo import part
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


def run(log: pathlib.Path) -> list[part.Part]:
    """Run the part."""
    story = part.Part(
        'nova',
        f'Nova {engine.nova_version()}: the filter',
        'boot requests that end where flavor and aggregate want it',
        ('as Nova does it', 'with the plug-ins'),
    )
    story.progress('creating databases')
    cloud = engine.Cloud(log)
    scheduler = cloud.scheduler(engine.OURS)
    _loading(story, scheduler)
    verdicts = collections.defaultdict(list)
    for case in cases.examples():
        section = case.section.partition(',')[0]
        boots = _matrix(story, cloud, case)
        for cells in boots.values():
            verdicts[section] += cells.values()
    for section, cells in verdicts.items():
        in_tree_right = 0
        ours_right = 0
        for expected, ours, in_tree in cells:
            in_tree_right += in_tree == expected
            ours_right += ours == expected
        story.compare(
            WORDS[section],
            f'{in_tree_right} of {len(cells)}',
            f'{ours_right} of {len(cells)}',
        )
    _free_choice(story, cloud)
    return [story]


def _loading(story: part.Part, scheduler: Any) -> None:
    """Show what nova.conf says and which classes Nova loaded for it."""
    step = story.step(
        'nova.conf names the filter; the scheduler loads it',
        ('[filter_scheduler]', 'value'),
        'In the tables below every cell is a boot request of its own, with '
        'one host to choose from: "boots", or the reason that the '
        "scheduler's log gave. The last column says where the in-tree "
        f'{engine.IN_TREE} lets the flavor boot.',
    )
    conf = engine.CONF.filter_scheduler
    for name in conf.available_filters:
        step.row('available_filters', name)
    step.row('enabled_filters', ','.join(conf.enabled_filters))
    manager = scheduler.host_manager
    step.check(
        'the filter comes from this package',
        'nova_filters.filters.aggregate_instance_type',
        manager.filter_cls_map[engine.OURS].__module__,
    )
    step.check(
        'the filters that run',
        ['ComputeFilter', engine.OURS],
        [type(filter_).__name__ for filter_ in manager.enabled_filters],
    )


def _matrix(
    story: part.Part, cloud: engine.Cloud, case: cases.Example
) -> dict[str, dict[str, list[bool]]]:
    """Boot every flavor of one case in every aggregate, each with one host."""
    aggregates = '; '.join(
        f'{name}: {cases.show(metadata)}'
        for name, metadata in case.aggregates.items()
    )
    step = story.step(
        f'{case.section}: which flavor boots where, and why not',
        ('flavor', *case.aggregates, 'in-tree'),
        f'"{case.quote}" {case.decision}'.strip()
        + f' -- Metadata of {aggregates}.',
    )
    # Each case has the same hosts for its aggregates: Nova asks the database
    # for the servers of every host there is, with every request.
    cloud.clear()
    for number in range(len(cloud.hosts), len(case.aggregates)):
        cloud.add_host(f'host-{number + 1}')
    hosts = dict(zip(case.aggregates, cloud.hosts, strict=False))
    for name, metadata in case.aggregates.items():
        cloud.add_aggregate(name, [hosts[name]], metadata)
    ours = cloud.scheduler(engine.OURS)
    in_tree = cloud.scheduler(engine.IN_TREE)
    for name, extra_specs in case.flavors.items():
        flavor = cloud.add_flavor(name, extra_specs)
        expected_aggregates = case.boots_in(name)
        request = cloud.request(flavor, list(hosts.values()))
        in_tree_hosts = cloud.filtered(in_tree, request)
        our_aggregates = []
        in_tree_aggregates = []
        boots = {}
        row = []
        for aggregate, host in hosts.items():
            boot = cloud.boot(ours, cloud.request(flavor, [host]))
            if boot.host:
                our_aggregates.append(aggregate)
                row.append('boots')
            else:
                # One host was looked at, and the column names its aggregate.
                reason = boot.reasons.removeprefix('1 ')
                row.append(reason.removeprefix(f'aggregate {aggregate!r} '))
            if host in in_tree_hosts:
                in_tree_aggregates.append(aggregate)
            boots[aggregate] = [
                aggregate in expected_aggregates,
                bool(boot.host),
                host in in_tree_hosts,
            ]
        if len(in_tree_hosts) == len(hosts):
            row.append('all')
        else:
            row.append(', '.join(in_tree_aggregates))
        label = f'{name}: {cases.show(extra_specs)}'
        step.row(label, *row)
        step.boots[label] = boots
        step.check(
            f'{case.section}: where "{name}" boots',
            expected_aggregates,
            sorted(our_aggregates),
        )
    return step.boots


def _free_choice(story: part.Part, cloud: engine.Cloud) -> None:
    """Boot with every host of the cloud to choose from, and with none."""
    cloud.clear()
    hosts = ('licensed-1', 'licensed-2', 'gpu-1')
    for host in hosts:
        cloud.add_host(host)
    metadata = {'os': 'windows', 'force_metadata_check': 'True'}
    cloud.add_aggregate('licensed', ['licensed-1', 'licensed-2'], metadata)
    aggregate = cloud.add_aggregate('gpu', ['gpu-1'], {'gpu': 'a100'})
    scheduler = cloud.scheduler(engine.OURS)
    step = story.step(
        'Boot requests against the whole cloud, and what the log says',
        ('request', 'host', "the scheduler's INFO line"),
        f'aggregate licensed: {cases.show(metadata)}. Aggregate gpu: '
        'gpu=a100; before the last request the operator changes it to '
        'gpu=h100.',
    )

    def boot(
        what: str, flavor: Any, expected_host: str | None, *choice: str
    ) -> None:
        """Ask for a server, on some hosts or on any."""
        request = cloud.request(flavor, choice or None)
        answer = cloud.boot(scheduler, request)
        step.row(what, answer.host or 'NoValidHost', answer.reasons or 'boots')
        step.check(what, expected_host, answer.host)

    a100 = cloud.add_flavor('gpu.a100', {'gpu': 'a100'})
    h100 = cloud.add_flavor('gpu.h100', {'gpu': 'h100'})
    linux = cloud.add_flavor('linux', {'os': 'linux'})
    boot('gpu=a100', a100, 'gpu-1')
    boot('gpu=h100', h100, None)
    boot('os=linux, three hosts only', linux, None, *hosts)
    aggregate.update_metadata({'gpu': 'h100'})
    scheduler.update_aggregates(None, [aggregate])
    boot('gpu=h100, a moment later', h100, 'gpu-1')
