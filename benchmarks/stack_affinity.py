# SPDX-License-Identifier: Apache-2.0

"""Time a request with the weighers of the spread, beside Nova's alone.

``python -m benchmarks.stack_affinity`` stores the servers of a project in
Nova's databases (SQLite in memory), a part of them in flight, and weighs the
hosts of one request: of a stack, and of a server group with nine members.
"""

import copy
import dataclasses
import statistics
from typing import Any

from oslo_utils import uuidutils

from benchmarks import common

#: The members of the server group, with the server that is requested.
GROUP = 9
ROUNDS = 7
HEADS = (
    'hosts',
    'servers',
    'of the stack',
    'in flight',
    'Nova alone',
    'stack, first time',
    'stack',
    'group',
)


@dataclasses.dataclass(frozen=True)
class Case:
    """What there is when the request comes.

    :param servers: how many servers the project has.
    :param members: how many of them the request's stack has.
    :param flying: how many more members are in flight.
    """

    hosts: int
    servers: int
    members: int
    flying: int


CASES = (
    Case(100, 1_000, 20, 10),
    Case(1_000, 1_000, 1_000, 100),
    Case(5_000, 10_000, 20, 0),
    Case(5_000, 5_000, 5_000, 100),
)


def store_stack(cloud: Any, hosts: list[str], case: Case) -> Any:
    """Store the servers of a project, and return the next one's request."""
    import sqlalchemy as sa
    from nova.db.api import api, models
    from nova.db.main import models as main_models

    flavor = cloud.add_flavor(f'for-{case}', {})
    project = uuidutils.generate_uuid(dashed=False)
    hints = {'heat_root_stack_id': 'stack-0'}
    first = cloud.request(flavor, None, hints, project).instance_uuid
    spec = models.RequestSpec
    specs, mappings, instances = [], [], []
    with api.get_engine().begin() as connection:
        text = connection.scalar(
            sa.select(spec.spec).where(spec.instance_uuid == first)
        )
        for number in range(case.servers + case.flying):
            # The other stacks have twenty servers each.
            stack = 'stack-0'
            if case.members <= number < case.servers:
                stack = f'stack-{number // 20}'
            uuid = uuidutils.generate_uuid()
            owned = {'project_id': project, 'cell_id': None}
            if number < case.servers:
                owned['cell_id'] = cloud.cell.id
                instance = {
                    'uuid': uuid,
                    'project_id': project,
                    'host': hosts[number % len(hosts)],
                    'vm_state': 'active',
                    'deleted': 0,
                }
                instances.append(instance)
            row = {'instance_uuid': uuid}
            specs.append({**row, 'spec': text.replace('stack-0', stack)})
            mappings.append({**row, **owned, 'queued_for_delete': False})
        connection.execute(sa.insert(spec), specs)
        connection.execute(sa.insert(models.InstanceMapping), mappings)
    with cloud.cell_database().begin() as connection:
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


def time_case(cloud: Any, case: Case) -> list[Any]:
    """Return a row of the table."""
    manager = cloud.scheduler().host_manager
    nova = [
        weigher
        for weigher in manager.weighers
        if not type(weigher).__module__.startswith('nova_filters')
    ]
    hosts = [f'host-{number}' for number in range(case.hosts)]
    stack = store_stack(cloud, hosts, case)
    group = store_group(cloud, hosts, stack)
    # A real host for each name would take minutes.
    (real,) = manager.get_host_states_by_uuids(cloud.context, None, stack)
    states = [copy.copy(real) for _ in hosts]
    for state, name in zip(states, hosts, strict=True):
        state.host, state.uuid = name, uuidutils.generate_uuid()

    def weigh(weighers: Any, request: Any) -> float:
        handler = manager.weight_handler
        return 1000 * common.seconds(
            lambda: handler.get_weighed_objects(weighers, states, request)
        )

    first = weigh(manager.weighers, stack)
    medians = [
        statistics.median(weigh(weighers, request) for _ in range(ROUNDS))
        for weighers, request in (
            (nova, stack),
            (manager.weighers, stack),
            (manager.weighers, group),
        )
    ]
    times = [medians[0], first, *medians[1:]]
    cloud.clear()
    return [*dataclasses.astuple(case), *(f'{taken:.1f}' for taken in times)]


def measure(quick: bool) -> str:
    """Return the table."""
    cloud = common.nova_cloud()
    from testing.nova import engine

    cloud.add_host('host')
    # Registers the options.
    cloud.scheduler()
    engine.CONF.set_override(
        'server_group_weight_multiplier', 10.0, 'nova_filters'
    )
    rows = []
    for case in CASES[:1] if quick else CASES:
        common.say(str(case))
        rows.append(time_case(cloud, case))
    return (
        '\nMilliseconds of processor time for the weighing of one request: by '
        "Nova's weighers\nalone; with ours for a server of a stack, the first "
        'time and later; and for one of a group\n' + common.table(HEADS, rows)
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'stop at 100 hosts', measure)
