# SPDX-License-Identifier: Apache-2.0

"""Time a request with StackAffinityWeigher, beside Nova's weighers alone.

``python -m benchmarks.stack_affinity`` stores the servers of a project in
Nova's databases (SQLite in memory), a part of them in flight, and weighs the
hosts of one request. It needs Nova, and prints what
``doc/source/benchmarks.rst`` shows.
"""

import copy
import statistics
import sys
from typing import Any

from oslo_utils import uuidutils

from benchmarks import common

#: Of each case: the hosts, the members in flight, the servers of the project.
CASES = (
    (10, 0, 100),
    (100, 10, 1000),
    (1000, 500, 1000),
    (1000, 0, 10_000),
    (5000, 100, 1000),
)
MEMBERS = 20
ROUNDS = 15


def store(cloud: Any, hosts: list[str], flying: int, count: int) -> Any:
    """Store the servers of a project, and return the last one's request."""
    import sqlalchemy as sa
    from nova.db.api import api, models
    from nova.db.main import api as main_db
    from nova.db.main import models as main_models

    flavor = cloud.add_flavor(f'for-{len(hosts)}-{flying}-{count}', {})
    project = uuidutils.generate_uuid(dashed=False)
    hints = {'heat_root_stack_id': 'stack-0'}
    first = cloud.request(flavor, None, hints, project).instance_uuid
    specs, mappings, instances = [], [], []
    with api.get_engine().begin() as connection:
        spec = models.RequestSpec
        text = connection.scalar(
            sa.select(spec.spec).where(spec.instance_uuid == first)
        )
        for number in range(count + flying):
            uuid = uuidutils.generate_uuid()
            starts = number >= count
            # Those in flight are of the request's stack.
            stack = f'stack-{0 if starts else number // MEMBERS}'
            own = {'instance_uuid': uuid}
            specs.append({**own, 'spec': text.replace('stack-0', stack)})
            mappings.append(
                {
                    **own,
                    'project_id': project,
                    'cell_id': None if starts else cloud.cell.id,
                    'queued_for_delete': False,
                }
            )
            if not starts:
                instances.append(
                    {
                        'uuid': uuid,
                        'project_id': project,
                        'host': hosts[number % len(hosts)],
                        'vm_state': 'active',
                        'deleted': 0,
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


def measure(quick: bool) -> str:
    """Return the table."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine

    cloud = engine.Cloud()
    cloud.add_host('host')
    rows = []
    for hosts, flying, count in CASES[: 1 if quick else None]:
        common.say(f'{hosts} hosts')
        manager = cloud.scheduler(engine.OURS).host_manager
        ours = [
            one
            for one in manager.weighers
            if type(one).__module__.startswith('nova_filters')
        ]
        nova = [one for one in manager.weighers if one not in ours]
        names = [f'host-{n}' for n in range(hosts)]
        request = store(cloud, names, flying, count)
        (real,) = manager.get_host_states_by_uuids(
            cloud.context, None, request
        )
        states = [copy.copy(real) for _ in names]
        for state, name in zip(states, names, strict=True):
            state.host, state.uuid = name, uuidutils.generate_uuid()

        def weigh(
            weighers: Any, manager=manager, states=states, request=request
        ) -> float:
            handler = manager.weight_handler
            return 1000 * common.seconds(
                lambda: handler.get_weighed_objects(weighers, states, request)
            )

        first = weigh(ours)
        alone, both = (
            statistics.median(weigh(weighers) for _ in range(ROUNDS))
            for weighers in (nova, manager.weighers)
        )
        times = (alone, both, both - alone, first)
        rows.append([hosts, flying, count, *(f'{n:.1f}' for n in times)])
        cloud.clear()
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        'Milliseconds of processor time for the weighing of one request, the '
        'median; first:\nthe weigher alone, in a process that knows nothing\n'
    )
    heads = (
        *('hosts', 'in flight', 'servers of the project'),
        *('Nova alone', 'with it', 'more', 'first'),
    )
    return head + common.table(heads, rows)


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova', str(__doc__).splitlines()[0], 'stop at ten hosts', measure
        )
    )
