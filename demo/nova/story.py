# SPDX-License-Identifier: Apache-2.0

"""The demo's Nova part: the specification's examples in a real scheduler."""

import collections
import pathlib
from typing import Any

from demo import report
from testing.nova import cases, engine, states


def _host(case: cases.Example, aggregate: str) -> str:
    """Return the name of the one host in an aggregate of a case."""
    return f'{case.slug}-{aggregate.replace(" ", "-")}'


def _populate(cloud: engine.Cloud) -> dict[tuple[str, str], Any]:
    """Create every case's hosts, aggregates and flavors.

    :returns: Nova's Flavors, by case and name.
    """
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


def _loading(scheduler: Any) -> report.Step:
    """Show what nova.conf says and which classes Nova loaded for it."""
    host_manager = scheduler.host_manager
    loaded = host_manager.filter_cls_map[engine.OURS].__module__
    running = [type(f).__name__ for f in host_manager.enabled_filters]
    weighers = {
        type(w).__name__: type(w).__module__ for w in host_manager.weighers
    }
    conf = engine.CONF.filter_scheduler
    return report.Step(
        title='nova.conf names the filter; the scheduler loads it',
        columns=('[filter_scheduler]', 'value'),
        rows=(
            *(('available_filters', name) for name in conf.available_filters),
            ('enabled_filters', ','.join(conf.enabled_filters)),
            *(('weight_classes', name) for name in conf.weight_classes),
        ),
        checks=(
            report.Check(
                'the filter comes from this package',
                'nova_filters.filters.aggregate_instance_type',
                loaded,
            ),
            report.Check(
                'the filters that run', ['ComputeFilter', engine.OURS], running
            ),
            report.Check(
                'the weigher comes from this package',
                'nova_filters.weighers.stack_affinity',
                weighers.get('StackAffinityWeigher'),
            ),
        ),
        note=(
            'In the tables below every cell is a boot request of its own, '
            'with one host to choose from: "boots", or the reason that the '
            "scheduler's log gave. The last column says where the in-tree "
            f'{engine.IN_TREE} lets the flavor boot.'
        ),
    )


def _matrix(
    cloud: engine.Cloud,
    case: cases.Example,
    flavors: dict[tuple[str, str], Any],
    ours: Any,
    in_tree: Any,
) -> report.Step:
    """Ask both schedulers for every flavor and aggregate of one case."""
    rows, checks = [], []
    for name, extra_specs in case.flavors.items():
        flavor = flavors[case.slug, name]
        cells, found = [], []
        for aggregate in case.aggregates:
            # A boot request of its own, with one host to choose from.
            only = [_host(case, aggregate)]
            boot = cloud.boot(ours, cloud.request(flavor, only))
            cells.append(_cell(case, aggregate, boot))
            if boot.host is not None:
                found.append(aggregate)
        number = name.removeprefix('flavor').strip()
        label = f'{number} {cases.show(extra_specs)}'.strip()
        hosts = {_host(case, name): name for name in case.aggregates}
        left = cloud.filtered(in_tree, cloud.request(flavor, list(hosts)))
        in_tree_names = [hosts[host] for host in left]
        rows.append((label, *cells, _names(case, in_tree_names)))
        checks.append(
            report.Check(
                f'{case.section}: where "{name}" boots',
                case.boots_in(name),
                sorted(found),
            )
        )
    metadata = '; '.join(
        f'{name}: {cases.show(metadata)}'
        for name, metadata in case.aggregates.items()
    )
    return report.Step(
        title=f'{case.section}: which flavor boots where, and why not',
        columns=('flavor', *case.aggregates, 'in-tree'),
        rows=tuple(rows),
        checks=tuple(checks),
        note=f'"{case.quote}" {case.decision}'.strip()
        + f' -- Metadata of {metadata}.',
    )


def _tables(scheduler: Any) -> report.Step:
    """Ask the loaded filter for the cases of the documentation's tables."""
    manager = scheduler.host_manager
    filters = [
        f for f in manager.enabled_filters if type(f).__name__ == engine.OURS
    ]
    option, group = 'exempt_metadata_keys', 'nova_filters'

    def passes(case: cases.Case) -> bool:
        """Ask for one host and one flavor."""
        engine.CONF.set_override(option, list(case.exempt), group=group)
        host = states.host_state('host', states.aggregates(*case.aggregates))
        return bool(
            manager.filter_handler.get_filtered_objects(
                filters, [host], states.request(case.flavor)
            )
        )

    rows, checks = [], []
    for cell in cases.cells():
        found = [passes(case) for case in cell.cases]
        counted = collections.Counter(found)
        rows.append(
            (
                cell.table,
                cell.row,
                cell.column,
                counted[True],
                counted[False],
            )
        )
        checks.append(
            report.Check(
                f'{cell.table}, {cell.row}, {cell.column}',
                [case.wanted is None for case in cell.cases],
                found,
            )
        )
    engine.CONF.clear_override(option, group=group)
    return report.Step(
        title='The tables of the documentation, cell by cell',
        columns=('table', 'row', 'column', 'pass', 'refused'),
        rows=tuple(rows),
        checks=tuple(checks),
        note=(
            'Flavors and hosts without a database, through the filter that '
            'the scheduler loaded; the numbers count the cases.'
        ),
    )


def _cell(case: cases.Example, aggregate: str, boot: engine.Boot) -> str:
    """Return "boots", or the reason as the scheduler's log gave it."""
    if boot.host is not None:
        return 'boots'
    # One host was looked at, and the column names its aggregate.
    return (
        boot.said.removeprefix('1 ').removeprefix(
            f'aggregate {case.slug + " " + aggregate!r} '
        )
        or 'refused without a reason'
    )


def _names(case: cases.Example, aggregates: list[str]) -> str:
    """Return a short list of a case's aggregates for a cell."""
    if len(aggregates) == len(case.aggregates):
        return 'all'
    return ', '.join(n.removeprefix('aggregate ') for n in aggregates) or '-'


def _free_choice(cloud: engine.Cloud, ours: Any) -> report.Step:
    """Boot with every host of the cloud to choose from, and with none."""
    for number in (1, 2):
        cloud.add_host(f'licensed-{number}')
    metadata = {'os': 'windows', 'force_metadata_check': 'True'}
    cloud.add_aggregate('licensed', ['licensed-1', 'licensed-2'], metadata)
    cloud.add_host('gpu-1')
    aggregate = cloud.add_aggregate('gpu', ['gpu-1'], {'gpu': 'a100'})
    scheduler = cloud.scheduler(engine.OURS)
    rows, checks = [], []

    def boot(flavor: Any, wanted: str | None, only: Any, what: str) -> None:
        answer = cloud.boot(scheduler, cloud.request(flavor, only))
        rows.append(
            (what, answer.host or 'NoValidHost', answer.said or 'boots')
        )
        checks.append(report.Check(what, wanted, answer.host))

    a100 = cloud.add_flavor('gpu.a100', {'gpu': 'a100'})
    h100 = cloud.add_flavor('gpu.h100', {'gpu': 'h100'})
    boot(a100, 'gpu-1', None, 'gpu=a100')
    boot(h100, None, None, 'gpu=h100')
    boot(
        cloud.add_flavor('linux', {'os': 'linux'}),
        None,
        ['gpu-1', 'licensed-1', 'licensed-2'],
        'os=linux, three hosts only',
    )
    aggregate.update_metadata({'gpu': 'h100'})
    scheduler.update_aggregates(None, [aggregate])
    boot(h100, 'gpu-1', None, 'gpu=h100, a moment later')
    return report.Step(
        title='Boot requests against the whole cloud, and what the log says',
        columns=('request', 'host', "the scheduler's INFO line"),
        rows=tuple(rows),
        checks=tuple(checks),
        note='aggregate licensed: '
        + cases.show(metadata)
        + '. Aggregate gpu: gpu=a100; before the last request the operator '
        'changes it to gpu=h100.',
    )


def _stacks(cloud: engine.Cloud) -> report.Step:
    """Boot the servers of one stack, spread and packed."""
    hosts = [f'stack-{number}' for number in range(1, 5)]
    for host in hosts:
        cloud.add_host(host)
    flavor = cloud.add_flavor('member', {})
    option, group = 'stack_affinity_weight_multiplier', 'nova_filters'
    rows, checks = [], []
    for number, wanted, what in (
        (-100.0, [3, 3, 3, 3], 'spread'),
        (100.0, [12, 0, 0, 0], 'packed'),
    ):
        engine.CONF.set_override(option, number, group=group)
        scheduler = cloud.scheduler(engine.OURS)
        counts = collections.Counter(dict.fromkeys(hosts, 0))
        for _ in range(12):
            request = cloud.request(
                flavor, hosts, {'heat_root_stack_id': [f'{what}-root']}
            )
            boot = cloud.boot(scheduler, request)
            cloud.place(request, str(boot.host))
            counts[str(boot.host)] += 1
        rows.append((what, number, *(counts[host] for host in hosts)))
        checks.append(
            report.Check(
                f'12 servers of one stack over 4 hosts, {what}',
                wanted,
                sorted(counts.values(), reverse=True),
            )
        )
    engine.CONF.clear_override(option, group=group)
    return report.Step(
        title='StackAffinityWeigher: twelve servers of one Heat stack',
        columns=('servers are', option, *hosts),
        rows=tuple(rows),
        checks=tuple(checks),
        note=(
            'The servers carry the hint heat_root_stack_id; the weigher '
            'reads the hints of running servers from the API database.'
        ),
    )


def run(
    progress: report.Progress, *, log: pathlib.Path, port: int
) -> report.Part:
    """Run the part.

    :param progress: called before each long step.
    :param log: the file for Nova's and Placement's logs.
    :param port: not used: nothing listens.
    :returns: the part.
    """
    del port
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
    steps.append(_free_choice(cloud, ours))
    progress('booting twelve servers of a stack, spread and packed')
    steps.append(_stacks(cloud))
    return report.Part(
        service=f'Nova {engine.nova_version()}',
        real=(
            'nova.scheduler.manager.SchedulerManager',
            'nova.scheduler.host_manager.HostManager',
            'nova.scheduler.filters.HostFilterHandler',
            'nova.scheduler.client.report.SchedulerReportClient',
            'nova.objects and both Nova database models, on SQLite',
            'the WSGI application of Placement, on SQLite',
        ),
        stubs=(
            'the HTTP hop between Nova and Placement: a requests transport '
            'that calls the WSGI application',
            'Keystone: a fixed token, and Placement in its noauth2 mode',
            'nova-compute: its service and node rows are written once',
        ),
        steps=tuple(steps),
    )
