# SPDX-License-Identifier: Apache-2.0

"""What nova-compute, nova-conductor and nova-api do with a server.

Import :mod:`testing.nova.engine` first: it chooses Nova's concurrency.
"""

import types
from typing import Any, Final

from nova import exception, objects
from nova.compute import manager

from testing.nova import engine, spread_case

#: The state of a migration that has ended, and of its server.
_ENDS: Final = {
    spread_case.LIVE_MIGRATION: ('completed', 'active'),
    spread_case.RESIZE: ('finished', 'resized'),
}


def violates_policy(cloud: engine.Cloud, request: Any, host: str) -> bool:
    """Tell whether nova-compute refuses a server because of its group.

    This is the late check of Nova: nova-compute has claimed the server, and
    counts the members of the group on its host.

    :param request: Nova's RequestSpec.
    """
    # A ComputeManager would need a hypervisor. The check reads these two.
    service = types.SimpleNamespace(
        host=host, _get_nodename=lambda instance: host
    )
    with cloud.in_cell() as context:
        instance = objects.Instance(context, uuid=request.instance_uuid)
        try:
            manager.ComputeManager._validate_instance_group_policy(
                service, context, instance, request.scheduler_hints
            )
        except exception.GroupAffinityViolation:
            return True
    return False


def start_migration(
    cloud: engine.Cloud,
    request: Any,
    origin: str,
    destination: str,
    kind: str,
    status: str = 'migrating',
) -> None:
    """Write down where a server goes, once the destination has claimed it.

    :param kind: as Nova writes it: a resize, a live migration or others.
    """
    with cloud.in_cell() as context:
        objects.Migration(
            context,
            instance_uuid=request.instance_uuid,
            source_compute=origin,
            dest_compute=destination,
            status=status,
            migration_type=kind,
        ).create()


def finish_migration(
    cloud: engine.Cloud, request: Any, destination: str, kind: str
) -> None:
    """Write down that a server has arrived.

    :param kind: a resize or a live migration.
    """
    status, vm_state = _ENDS[kind]
    cloud.migrations(request, status=status)
    cloud.update(request, host=destination, vm_state=vm_state, task_state=None)
