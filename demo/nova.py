# SPDX-License-Identifier: Apache-2.0

"""The demo's Nova part: the specification's examples in a real scheduler."""

import collections
import pathlib
from typing import Any

from demo import part
from testing.nova import asking, cases, engine


def run(progress: part.Progress, log: pathlib.Path, given: None) -> part.Part:
    """Run the part.

    :param progress: called before each long step.
    :param log: the file for Nova's and Placement's logs.
    :param given: nothing.
    """
    progress('creating databases, hosts, aggregates and flavors')
    cloud = engine.Cloud(log)
    flavors = _populate(cloud)
    in_tree = cloud.scheduler(engine.IN_TREE)
    ours = cloud.scheduler(engine.OURS)
    steps = [_loading(ours)]
    for case in cases.examples():
        progress(f'booting the flavors of: {case.section}')
        steps.append(_matrix(cloud, case, flavors, ours, in_tree))
    progress('asking the filter for every cell of the tables')
    steps.append(_tables(ours))
    progress('booting with every host to choose from')
    steps.append(_free_choice(cloud))
    progress('booting twelve servers of a stack, spread and packed')
    steps.append(_stacks(cloud))
    return part.Part(f'Nova {engine.nova_version()}', steps)


def _host(case: cases.Example, aggregate: str) -> str:
    """Return the name of the one host in an aggregate of a case."""
    return f'{case.slug}-{aggregate.replace(" ", "-")}'


def _populate(cloud: engine.Cloud) -> dict[tuple[str, str], Any]:
    """Create all hosts and aggregates; return the flavors by case and name."""
    flavors = {}
    for case in cases.examples():
        for name, metadata in case.aggregates.items():
            host = _host(case, name)
            cloud.add_host(host)
            cloud.add_aggregate(f'{case.slug} {name}', [host], metadata)
        for name, extra_specs in case.flavors.items():
            flavors[case.slug, name] = cloud.add_flavor(
                f'{case.slug} {name}', extra_specs
            )
    return flavors


def _loading(scheduler: Any) -> part.Step:
    """Show what nova.conf says and which classes Nova loaded for it."""
    step = part.Step(
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
    for name in conf.weight_classes:
        step.row('weight_classes', name)
    manager = scheduler.host_manager
    step.check(
        'the filter comes from this package',
        'nova_filters.filters.aggregate_instance_type',
        manager.filter_cls_map[engine.OURS].__module__,
    )
    step.check(
        'the filters that run',
        ['ComputeFilter', engine.OURS],
        [type(one).__name__ for one in manager.enabled_filters],
    )
    weighers = {type(one).__name__: type(one) for one in manager.weighers}
    step.check(
        'the weigher comes from this package',
        'nova_filters.weighers.stack_affinity',
        getattr(weighers.get('StackAffinityWeigher'), '__module__', None),
    )
    return step


def _matrix(
    cloud: engine.Cloud,
    case: cases.Example,
    flavors: dict[tuple[str, str], Any],
    ours: Any,
    in_tree: Any,
) -> part.Step:
    """Ask both schedulers for every flavor and aggregate of one case."""
    shown = '; '.join(
        f'{name}: {cases.show(metadata)}'
        for name, metadata in case.aggregates.items()
    )
    step = part.Step(
        f'{case.section}: which flavor boots where, and why not',
        ('flavor', *case.aggregates, 'in-tree'),
        f'"{case.quote}" {case.decision}'.strip()
        + f' -- Metadata of {shown}.',
    )
    hosts = {_host(case, name): name for name in case.aggregates}
    for name, extra_specs in case.flavors.items():
        flavor = flavors[case.slug, name]
        boots = {
            aggregate: cloud.boot(ours, cloud.request(flavor, [host]))
            for host, aggregate in hosts.items()
        }
        left = cloud.filtered(in_tree, cloud.request(flavor, list(hosts)))
        beside = ', '.join(hosts[h].removeprefix('aggregate ') for h in left)
        number = name.removeprefix('flavor').strip()
        step.row(
            f'{number} {cases.show(extra_specs)}'.strip(),
            *(_cell(case, where, boot) for where, boot in boots.items()),
            'all' if len(left) == len(hosts) else beside or '-',
        )
        step.check(
            f'{case.section}: where "{name}" boots',
            case.boots_in(name),
            sorted(name for name, boot in boots.items() if boot.host),
        )
    return step


def _cell(case: cases.Example, aggregate: str, boot: engine.Boot) -> str:
    """Return "boots", or the reason as the scheduler's log gave it."""
    if boot.host:
        return 'boots'
    # One host was looked at, and the column names its aggregate.
    own = f'aggregate {case.slug + " " + aggregate!r} '
    said = boot.said.removeprefix('1 ').removeprefix(own)
    return said or 'refused without a reason'


def _tables(scheduler: Any) -> part.Step:
    """Ask the loaded filter for the cases of the documentation's tables."""
    step = part.Step(
        'The tables of the documentation, cell by cell',
        ('table', 'row', 'column', 'pass', 'refused'),
        'Flavors and hosts without a database, through the filter that the '
        'scheduler loaded; the numbers count the cases.',
    )
    for cell in cases.cells():
        found = [asking.passes(scheduler, case) for case in cell.cases]
        where = cell.table, cell.row, cell.column
        step.row(*where, found.count(True), found.count(False))
        wanted = [case.wanted is None for case in cell.cases]
        step.check(', '.join(where), wanted, found)
    return step


def _free_choice(cloud: engine.Cloud) -> part.Step:
    """Boot with every host of the cloud to choose from, and with none."""
    for host in ('licensed-1', 'licensed-2', 'gpu-1'):
        cloud.add_host(host)
    metadata = {'os': 'windows', 'force_metadata_check': 'True'}
    cloud.add_aggregate('licensed', ['licensed-1', 'licensed-2'], metadata)
    aggregate = cloud.add_aggregate('gpu', ['gpu-1'], {'gpu': 'a100'})
    scheduler = cloud.scheduler(engine.OURS)
    step = part.Step(
        'Boot requests against the whole cloud, and what the log says',
        ('request', 'host', "the scheduler's INFO line"),
        f'aggregate licensed: {cases.show(metadata)}. Aggregate gpu: '
        'gpu=a100; before the last request the operator changes it to '
        'gpu=h100.',
    )

    def boot(what: str, flavor: Any, wanted: str | None, *only: str) -> None:
        """Ask for a server, on some hosts or on any."""
        request = cloud.request(flavor, only or None)
        answer = cloud.boot(scheduler, request)
        step.row(what, answer.host or 'NoValidHost', answer.said or 'boots')
        step.check(what, wanted, answer.host)

    a100 = cloud.add_flavor('gpu.a100', {'gpu': 'a100'})
    h100 = cloud.add_flavor('gpu.h100', {'gpu': 'h100'})
    linux = cloud.add_flavor('linux', {'os': 'linux'})
    boot('gpu=a100', a100, 'gpu-1')
    boot('gpu=h100', h100, None)
    three = ('gpu-1', 'licensed-1', 'licensed-2')
    boot('os=linux, three hosts only', linux, None, *three)
    aggregate.update_metadata({'gpu': 'h100'})
    scheduler.update_aggregates(None, [aggregate])
    boot('gpu=h100, a moment later', h100, 'gpu-1')
    return step


def _stacks(cloud: engine.Cloud) -> part.Step:
    """Boot the servers of one stack, spread and packed."""
    hosts = [f'stack-{number}' for number in range(1, 5)]
    for host in hosts:
        cloud.add_host(host)
    flavor = cloud.add_flavor('member', {})
    option, group = 'stack_affinity_weight_multiplier', 'nova_filters'
    step = part.Step(
        'StackAffinityWeigher: twelve servers of one Heat stack',
        ('servers are', option, *hosts),
        'The servers carry the hint heat_root_stack_id; the weigher reads '
        'the hints of running servers from the API database.',
    )
    for number, wanted, what in (
        (-100.0, [3, 3, 3, 3], 'spread'),
        (100.0, [12, 0, 0, 0], 'packed'),
    ):
        engine.CONF.set_override(option, number, group=group)
        scheduler = cloud.scheduler(engine.OURS)
        hints = {'heat_root_stack_id': [f'{what}-root']}
        counts = collections.Counter(dict.fromkeys(hosts, 0))
        for _ in range(12):
            request = cloud.request(flavor, hosts, hints)
            host = str(cloud.boot(scheduler, request).host)
            cloud.place(request, host)
            counts[host] += 1
        step.row(what, number, *(counts[host] for host in hosts))
        step.check(
            f'12 servers of one stack over 4 hosts, {what}',
            wanted,
            sorted(counts.values(), reverse=True),
        )
    engine.CONF.clear_override(option, group=group)
    return step
