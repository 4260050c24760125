# SPDX-License-Identifier: Apache-2.0

"""Time a request with StackAffinityWeigher, beside Nova's weighers alone.

``python -m benchmarks.stack_affinity`` stores 50,000 servers of stacks in
Nova's API database (SQLite in memory) and spreads them over the hosts of one
request. It needs Nova, and prints what ``doc/source/benchmarks.rst`` shows.
"""

import copy
import statistics
import sys
import tracemalloc
from collections.abc import Sequence
from typing import Any

from oslo_utils import uuidutils

from benchmarks import common

INSTANCES = 50_000
MEMBERS = 20
HOSTS = (10, 100, 1000)
ROUNDS = 25
#: What the weigher reads with one request.
AT_ONCE = 10_000


def hints(stack: int) -> dict[str, Any]:
    """Return the hints of a server of a stack."""
    return {'heat_root_stack_id': [f'stack-{stack}']}


def store(cloud: Any) -> list[str]:
    """Store the requests of all servers, and return their ids."""
    import sqlalchemy as sa
    from nova.db.api import api, models

    table = models.RequestSpec
    cloud.request(cloud.add_flavor('small', {}), None, hints(-1))
    uuids = [uuidutils.generate_uuid() for _ in range(INSTANCES)]
    with api.get_engine().begin() as connection:
        text = connection.scalar(sa.select(table.spec))
        connection.execute(
            table.__table__.insert(),
            [
                {
                    'instance_uuid': uuid,
                    'spec': text.replace('stack--1', f'stack-{n // MEMBERS}'),
                }
                for n, uuid in enumerate(uuids)
            ],
        )
    return uuids


def weigh(
    handler: Any, weighers: Sequence[Any], hosts: Any, request: Any, stack: int
) -> float:
    """Return the seconds that weighing takes for a new server of a stack."""
    request = request.obj_clone()
    request.scheduler_hints = hints(stack)
    request.instance_uuid = uuidutils.generate_uuid()
    return common.seconds(
        lambda: handler.get_weighed_objects(weighers, hosts, request)
    )


def measure(quick: bool) -> tuple[str, Any]:
    """Return the table, and its rows."""
    # Chooses Nova's concurrency, so it comes first.
    from testing.nova import engine

    cloud = engine.Cloud()
    cloud.add_host('host')
    uuids = store(cloud)
    rows = []
    for count in HOSTS[: 1 if quick else None]:
        common.say(f'{count} hosts')
        manager = cloud.scheduler(engine.OURS).host_manager
        *nova, ours = manager.weighers
        request = cloud.request(cloud.add_flavor(f'for-{count}', {}))
        (real,) = manager.get_host_states_by_uuids(
            cloud.context, None, request
        )
        hosts = [copy.copy(real) for _ in range(count)]
        for n, host in enumerate(hosts):
            host.uuid = uuidutils.generate_uuid()
            host.instances = dict.fromkeys(uuids[n::count])
        tracemalloc.start()
        for _ in range(INSTANCES // AT_ONCE):
            weigh(manager.weight_handler, [ours], hosts, request, 0)
        size = tracemalloc.get_traced_memory()[0] / 2**20
        tracemalloc.stop()
        alone, both = (
            statistics.median(
                weigh(manager.weight_handler, weighers, hosts, request, stack)
                for stack in range(1, 1 + ROUNDS)
            )
            for weighers in (nova, manager.weighers)
        )
        times = (1000 * alone, 1000 * both, both / alone)
        rows.append([count, *(f'{n:.1f}' for n in times), f'{size:.0f}'])
    head = (
        f'{common.machine(f"Nova {engine.nova_version()}")}\n\n'
        f'{INSTANCES:,} instances in stacks of {MEMBERS}. Milliseconds of '
        'processor time for the weighing\nof one request, the median; MiB: '
        'what the weigher remembers\n'
    )
    heads = ('hosts', 'Nova alone', 'with it', 'ratio', 'MiB')
    return head + common.table(heads, rows), rows


if __name__ == '__main__':
    sys.exit(
        common.command(
            'Nova', str(__doc__).splitlines()[0], 'stop at ten hosts', measure
        )
    )
