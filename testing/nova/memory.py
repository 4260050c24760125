# SPDX-License-Identifier: Apache-2.0

"""How much memory a scheduler keeps for servers that exist no more."""

import gc
import tracemalloc
from collections.abc import Mapping
from typing import Any, Final

import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import models as main_models
from oslo_utils import uuidutils

from testing.nova import engine

#: How many servers there are at the same time.
BATCH: Final = 50
#: The hints of the server that is booted while the others exist.
STACK: Final = {'heat_root_stack_id': 'stack'}
#: Stands for the long hint of a server.
_HINT: Final = 'the-hint-of-one-server'


def kept(
    cloud: engine.Cloud, servers: int, hints: Mapping[str, str], length: int
) -> int:
    """Boot and delete servers, and return the bytes that are kept.

    Only the memory of Python's objects counts. The databases do not count,
    although they are in this process, too. A scheduler cannot know that
    servers are gone before its next request. So the last request comes when
    all of them are gone. All requests are of one stack, because the weigher
    reads nothing for others.

    :param cloud: a cloud with hosts and without servers. It has no servers
        in the end, and no flavors or aggregates.
    :param hints: the scheduler hints of each server: :data:`STACK` or none.
    :param length: the length of one more hint, which differs for each server.
    """
    scheduler = cloud.scheduler()
    flavor = cloud.add_flavor('memory', {})
    first = cloud.request(flavor, None, {**hints, 'note': _HINT})
    query = sa.select(api_models.RequestSpec.spec)
    with api_db.get_engine().connect() as connection:
        text = str(connection.scalar(query))
    cloud.clear()

    def boot_and_delete(count: int) -> None:
        """Have servers when a request comes, and remove all their rows."""
        uuids = [uuidutils.generate_uuid() for _ in range(count)]
        _store(cloud, first.project_id, text, uuids, length)
        request = cloud.request(flavor, None, STACK)
        states = cloud.states(scheduler, request)
        scheduler._get_sorted_hosts(request, states, 0)
        cloud.clear()

    # What Nova and the plug-ins keep once for all does not count.
    for _ in range(3):
        boot_and_delete(BATCH)
    boot_and_delete(0)
    tracemalloc.start()
    try:
        before = _allocated()
        for start in range(0, servers, BATCH):
            boot_and_delete(min(BATCH, servers - start))
        boot_and_delete(0)
        return _allocated() - before
    finally:
        tracemalloc.stop()


def _store(
    cloud: engine.Cloud,
    project: str,
    text: str,
    uuids: list[str],
    length: int,
) -> None:
    """Store active servers, as nova-api, conductor and nova-compute do.

    :param text: the stored request, with :data:`_HINT` in it.
    """
    if not uuids:
        return
    requests = [
        {
            'instance_uuid': uuid,
            'spec': text.replace(_HINT, uuid.rjust(length, '.')),
        }
        for uuid in uuids
    ]
    mappings = [
        {
            'instance_uuid': uuid,
            'project_id': project,
            'cell_id': cloud.cell.id,
            'queued_for_delete': False,
        }
        for uuid in uuids
    ]
    instances = [
        {
            'uuid': uuid,
            'project_id': project,
            'host': cloud.hosts[0],
            'vm_state': 'active',
            'deleted': 0,
        }
        for uuid in uuids
    ]
    with api_db.get_engine().begin() as connection:
        connection.execute(sa.insert(api_models.RequestSpec), requests)
        connection.execute(sa.insert(api_models.InstanceMapping), mappings)
    with cloud.cell_database().begin() as connection:
        connection.execute(sa.insert(main_models.Instance), instances)


def _allocated() -> Any:
    """Return how many bytes Python's objects have."""
    gc.collect()
    allocated, _ = tracemalloc.get_traced_memory()
    return allocated
