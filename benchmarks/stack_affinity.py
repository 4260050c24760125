# SPDX-License-Identifier: Apache-2.0

"""Time a request with the weighers of the spread, beside Nova's alone.

``python -m benchmarks.stack_affinity`` stores the servers of a project in
Nova's databases (SQLite in memory), a part of them in flight, and weighs the
hosts of one request: of a stack, and of a server group with nine members. Then
TeamSpreadFilter filters them for the stack. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import copy
import statistics
import sys
from typing import Any, NamedTuple

from oslo_utils import uuidutils

from benchmarks import common

#: The members of each stack, if a case does not say otherwise.
MEMBERS = 20
#: The members of the server group, with the server that is requested.
GROUP = 9
ROUNDS = 7


class Case(NamedTuple):
    """What there is when the request comes.

    :param aggregates: how many aggregates there are.
    :param shares: in how many of them each host is.
    :param flying: the members of the request's stack that are in flight.
    :param servers: how many other servers the project has.
    :param members: how many of them each stack has.
    """

    hosts: int
    aggregates: int
    shares: int
    flying: int
    servers: int
    members: int = MEMBERS


CASES = (
    Case(100, 0, 0, 10, 1000),
    Case(1000, 0, 0, 500, 1000),
    Case(5000, 20, 1, 0, 10_000),
    Case(1000, 20, 4, 100, 1000, members=1000),
    Case(5000, 20, 4, 100, 5000, members=5000),
)


def store(cloud: Any, hosts: list[str], case: Case) -> Any:
    """Store the servers of a project, and return the last one's request."""
    import sqlalchemy as sa
    from nova.db.api import api, models
    from nova.db.main import api as main_db
    from nova.db.main import models as main_models

    flavor = cloud.add_flavor(f'for-{case}', {})
    project = uuidutils.generate_uuid(dashed=False)
    hints = {'heat_root_stack_id': 'stack-0'}
    first = cloud.request(flavor, None, hints, project).instance_uuid
    specs, mappings, instances = [], [], []
    with api.get_engine().begin() as connection:
        spec = models.RequestSpec
        text = connection.scalar(
            sa.select(spec.spec).where(spec.instance_uuid == first)
        )
        for number in range(case.servers + case.flying):
            uuid = uuidutils.generate_uuid()
            # Servers in flight are of the request's stack, and in no cell.
            stack = 'stack-0'
            cell_id = None
            if number < case.servers:
                stack = f'stack-{number // case.members}'
                cell_id = cloud.cell.id
                instances.append(
                    {
                        'uuid': uuid,
                        'project_id': project,
                        'host': hosts[number % len(hosts)],
                        'vm_state': 'active',
                        'deleted': 0,
                    }
                )
            specs.append(
                {
                    'instance_uuid': uuid,
                    'spec': text.replace('stack-0', stack),
                }
            )
            mappings.append(
                {
                    'instance_uuid': uuid,
                    'project_id': project,
                    'cell_id': cell_id,
                    'queued_for_delete': False,
                }
            )
        connection.execute(sa.insert(spec), specs)
        connection.execute(sa.insert(models.InstanceMapping), mappings)
    with (
        cloud.in_cell() as context,
        main_db.get_engine(context=context).begin() as connection,
    ):
        connection.execute(sa.insert(main_models.Instance), instances)
    return cloud.request(flavor, None, hints, project)


def store_group(cloud: Any, hosts: list[str], request: Any) -> Any:
    """Store the members of a server group, and return the last one's request.

    :param request: the request of another server in the same project.
    """
    group = cloud.add_group('soft-anti-affinity')
    for number in range(GROUP):
        member = cloud.request(
            request.flavor, None, {}, request.project_id, group=group
        )
        if number < GROUP - 1:
            cloud.place(member, hosts[number])
    return member


def aggregate(states: list[Any], case: Case) -> None:
    """Put hosts into aggregates, as Nova's HostManager does.

    :param states: Nova's HostStates.
    """
    from nova import objects

    groups = [
        objects.Aggregate(
            id=number + 1,
            uuid=uuidutils.generate_uuid(),
            name=f'aggregate-{number}',
            metadata={'rack': f'rack-{number}'},
            hosts=[],
        )
        for number in range(case.aggregates)
    ]
    for number, state in enumerate(states):
        state.aggregates = [
            groups[(number + share) % len(groups)]
            for share in range(case.shares)
        ]
        for group in state.aggregates:
            group.hosts.append(state.host)


def sift(spread_filter: Any, states: list[Any], request: Any) -> float:
    """Return the milliseconds that the filter takes for a request.

    :raises BenchmarkError: if the filter does not choose one of the hosts.
    """
    passed: list[Any] = []
    taken = common.seconds(
        lambda: passed.extend(spread_filter.filter_all(states, request))
    )
    if len(passed) != 1:
        raise common.BenchmarkError(f'{len(passed)} hosts pass the filter')
    return 1000 * taken


def measure(quick: bool) -> str:
    """Return the table."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine

    cloud = engine.Cloud()
    cloud.add_host('host')
    # Registers the options.
    cloud.scheduler()
    engine.CONF.set_override(
        'server_group_weight_multiplier', 10.0, 'nova_filters'
    )
    rows = []
    for case in CASES[:1] if quick else CASES:
        common.say(str(case))
        manager = cloud.scheduler('TeamSpreadFilter').host_manager
        spread_filter = manager.enabled_filters[-1]
        ours = [
            weigher
            for weigher in manager.weighers
            if type(weigher).__module__.startswith('nova_filters')
        ]
        nova = [weigher for weigher in manager.weighers if weigher not in ours]
        names = [f'host-{n}' for n in range(case.hosts)]
        request = store(cloud, names, case)
        member = store_group(cloud, names, request)
        (real,) = manager.get_host_states_by_uuids(
            cloud.context, None, request
        )
        states = [copy.copy(real) for _ in names]
        for state, name in zip(states, names, strict=True):
            state.host, state.uuid = name, uuidutils.generate_uuid()
        aggregate(states, case)

        def weigh(
            weighers: Any, manager=manager, states=states, request=request
        ) -> float:
            handler = manager.weight_handler
            return 1000 * common.seconds(
                lambda: handler.get_weighed_objects(weighers, states, request)
            )

        first = weigh(ours)
        grouped = statistics.median(
            weigh(ours, request=member) for _ in range(ROUNDS)
        )
        alone = statistics.median(weigh(nova) for _ in range(ROUNDS))
        both = statistics.median(
            weigh(manager.weighers) for _ in range(ROUNDS)
        )
        engine.CONF.set_override('max_skew', 1, 'nova_filters')
        filtering = statistics.median(
            sift(spread_filter, states, request) for _ in range(ROUNDS)
        )
        engine.CONF.clear_override('max_skew', 'nova_filters')
        times = (alone, both, both - alone, first, grouped, filtering)
        rows.append([*case, *(f'{n:.1f}' for n in times)])
        cloud.clear()
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        'Milliseconds of processor time for the weighing of one request, the '
        'median; first:\nthe weighers alone, in a process that knows '
        'nothing; group: the weighers alone, for a\nmember of a group; '
        'filter: TeamSpreadFilter with max_skew=1, which lets one host '
        'through\n'
    )
    heads = (
        'hosts',
        'aggregates',
        'of each host',
        'in flight',
        'servers of the project',
        'of each stack',
        'Nova alone',
        'with it',
        'more',
        'first',
        'group',
        'filter',
    )
    return head + common.table(heads, rows)


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova', str(__doc__).splitlines()[0], 'stop at 100 hosts', measure
        )
    )
