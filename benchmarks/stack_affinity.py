# SPDX-License-Identifier: Apache-2.0

"""Measure a request with the weighers of the spread, beside Nova's alone.

``python -m benchmarks.stack_affinity`` stores the servers of a project in
Nova's databases, on a MariaDB server of its own, and weighs the hosts of one
request: of a stack, and of a server group with nine members.
"""

import copy
import dataclasses
import datetime
import logging
import statistics
from concurrent import futures
from typing import Any

from oslo_utils import timeutils, uuidutils

from benchmarks import common
from testing import mariadb

#: The members of the server group, with the server that is requested.
GROUP = 9
ROUNDS = 7
#: With it, a stored request is as long as those of real servers.
PADDING = 'x' * 2_800
#: The one host whose HostState is read from the databases.
REAL = 'host'
#: The servers were launched this long ago.
MONTH = datetime.timedelta(days=30)
#: How many threads weigh at the same time, to count the connections.
THREADS = 64
HEADS = (
    'hosts',
    'servers',
    'of the stack',
    'pending',
    'Nova alone',
    'stack, first time',
    'stack',
    'group',
    'first kB',
    'stack kB',
    'group kB',
    'connections',
)


@dataclasses.dataclass(frozen=True)
class Case:
    """What there is when the request comes.

    :param servers: how many servers the project has.
    :param members: how many of them the request's stack has.
    :param pending: how many more members are pending.
    """

    hosts: int
    servers: int
    members: int
    pending: int


CASES = (
    Case(100, 100, 20, 10),
    Case(100, 1_000, 20, 10),
    Case(100, 1_000, 20, 200),
    Case(100, 1_000, 20, 1_000),
    Case(1_000, 1_000, 20, 200),
    Case(1_000, 1_000, 20, 1_000),
    Case(1_000, 10_000, 20, 10),
    Case(5_000, 10_000, 20, 10),
    Case(5_000, 5_000, 5_000, 100),
)


def store_stack(cloud: Any, hosts: list[str], case: Case) -> Any:
    """Store the servers of a project, and return the next one's request."""
    import sqlalchemy as sa
    from nova.db.api import api, models
    from nova.db.main import models as main_models

    flavor = cloud.add_flavor(f'for-{case}', {})
    project = uuidutils.generate_uuid(dashed=False)
    hints = {'heat_root_stack_id': 'stack-0', 'padding': PADDING}
    first = cloud.request(flavor, None, hints, project).instance_uuid
    spec = models.RequestSpec
    specs, mappings, instances = [], [], []
    with api.get_engine().begin() as connection:
        text = connection.scalar(
            sa.select(spec.spec).where(spec.instance_uuid == first)
        )
        for number in range(case.servers + case.pending):
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
                    'memory_mb': flavor.memory_mb,
                    'launched_at': timeutils.utcnow() - MONTH,
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


def store_nodes(cloud: Any, hosts: list[str]) -> None:
    """Store the compute nodes of hosts, instead of those stored before."""
    import sqlalchemy as sa
    from nova.db.main import models

    node = models.ComputeNode
    unused = ('vcpus_used', 'memory_mb_used', 'local_gb_used')
    values = dict.fromkeys(('vcpus', 'memory_mb', 'local_gb'), 1024 * 1024)
    values |= dict.fromkeys((*unused, 'hypervisor_version', 'deleted'), 0)
    rows = [
        {
            'uuid': uuidutils.generate_uuid(),
            'host': host,
            'hypervisor_hostname': host,
            'hypervisor_type': 'QEMU',
            'cpu_info': '',
            **values,
        }
        for host in hosts
    ]
    with cloud.cell_database().begin() as connection:
        connection.execute(sa.delete(node).where(node.host != REAL))
        if rows:
            connection.execute(sa.insert(node), rows)


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


class Meter:
    """What the weighing of a request costs."""

    def __init__(self, server: mariadb.Server, handler: Any) -> None:
        self._server, self._handler = server, handler

    def weigh(self, weighers: Any, states: Any, request: Any) -> float:
        """Return the milliseconds of processor time."""
        return 1000 * common.seconds(
            lambda: self._handler.get_weighed_objects(
                weighers, states, request
            )
        )

    def read(self, weighers: Any, states: Any, request: Any) -> float:
        """Return the kB that the databases send."""
        before = self._server.status('Bytes_sent')
        # The answer to this question is in the next one.
        own = self._server.status('Bytes_sent') - before
        before = self._server.status('Bytes_sent')
        self._handler.get_weighed_objects(weighers, states, request)
        sent = self._server.status('Bytes_sent') - before - own
        return sent / 1000

    def connect(self, weighers: Any, states: Any, request: Any) -> int:
        """Return how many connections many threads open."""
        self._server.query('FLUSH STATUS')
        before = self._server.status('Threads_connected')
        # Nova tells that its threads for cells have to wait.
        logging.getLogger('nova').addHandler(logging.NullHandler())
        with futures.ThreadPoolExecutor(THREADS) as pool:
            for _ in range(THREADS):
                pool.submit(
                    self._handler.get_weighed_objects,
                    weighers,
                    states,
                    request,
                )
        return self._server.status('Max_used_connections') - before


def measure_case(cloud: Any, server: mariadb.Server, case: Case) -> list[Any]:
    manager = cloud.scheduler().host_manager
    ours = manager.weighers
    nova = [
        weigher
        for weigher in ours
        if not type(weigher).__module__.startswith('nova_filters')
    ]
    hosts = [f'host-{number}' for number in range(case.hosts)]
    stack = store_stack(cloud, hosts, case)
    group = store_group(cloud, hosts, stack)
    # A real host for each name would take minutes.
    (real,) = manager.get_host_states_by_uuids(cloud.context, None, stack)
    store_nodes(cloud, hosts)
    states = [copy.copy(real) for _ in hosts]
    for state, name in zip(states, hosts, strict=True):
        state.host, state.uuid = name, uuidutils.generate_uuid()
    meter = Meter(server, manager.weight_handler)
    first = meter.weigh(ours, states, stack)
    medians = [
        statistics.median(
            meter.weigh(weighers, states, request) for _ in range(ROUNDS)
        )
        for weighers, request in ((nova, stack), (ours, stack), (ours, group))
    ]
    reads = [meter.read(ours, states, request) for request in (stack, group)]
    connections = meter.connect(ours, states, stack)
    # Another scheduler, which has read nothing.
    ours = cloud.scheduler().host_manager.weighers
    first_read = meter.read(ours, states, stack)
    numbers = [medians[0], first, *medians[1:], first_read, *reads]
    store_nodes(cloud, [])
    cloud.clear()
    return [
        *dataclasses.astuple(case),
        *(f'{number:.1f}' for number in numbers),
        connections,
    ]


def measure(quick: bool) -> str:
    # It chooses Nova's concurrency.
    from testing.nova import engine

    with mariadb.running() as server:
        cloud = engine.Cloud(
            api=server.add_database('api'), cell=server.add_database('cell')
        )
        cloud.add_host(REAL)
        # Registers the options.
        cloud.scheduler()
        engine.CONF.set_override(
            'server_group_weight_multiplier', 10.0, 'nova_filters'
        )
        engine.CONF.set_override(
            'stack_affinity_weight_multiplier', -10.0, 'nova_filters'
        )
        rows = []
        for case in CASES[:1] if quick else CASES:
            common.say(str(case))
            rows.append(measure_case(cloud, server, case))
    return (
        '\nMilliseconds of processor time for the weighing of one request: by '
        "Nova's weighers\nalone; with ours for a server of a stack, the first "
        'time and later; and for one of a\ngroup. The kB that MariaDB sends '
        f'for it. The connections that {THREADS} threads open.\n'
        + common.table(HEADS, rows)
    )


if __name__ == '__main__':
    common.command('nova', __doc__, 'stop at 100 hosts', measure)
