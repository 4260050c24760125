# SPDX-License-Identifier: Apache-2.0

"""Write the rows of nodes, such as the region in their data."""

from collections.abc import Sequence
from typing import Any

from senlin.common import context as senlin_context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import node as node_objects

from senlin_plugins.planning.region_state import Left
from senlin_plugins.planning.snapshot import placement, recorded_region


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data, and store the data."""
    node.data = _with_region(node, region)
    update(node, data=node.data)


def record_regions(places: Sequence[tuple[Any, str]]) -> None:
    """Write the regions of many nodes, in one statement.

    :param places: (node, region) pairs. The caller's action must hold the
        lock on the nodes' cluster.
    """
    for node, region in places:
        node.data = _with_region(node, region)
    if places:
        rows = [{'id': node.id, 'data': node.data} for node, _ in places]
        _write(rows)


def _with_region(node: Any, region: str) -> dict[str, Any]:
    """Return the data of a node with another region."""
    named = {**placement(node), 'region_name': region}
    return {**(node.data or {}), 'placement': named}


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _write(rows: Sequence[dict[str, Any]]) -> None:
    """Write columns of nodes; each mapping also has the node's id."""
    with db_api.session_for_write() as session:
        session.bulk_update_mappings(models.Node, rows)


def move(node: Any, region: str) -> None:
    """Store that a node is in another region, without a server.

    One statement writes the region and removes the server's id from the row.
    So even if the engine is killed, the row never has the new region with the
    old server. The object in memory keeps the id of the old server, so that
    Senlin sees that the node was recreated.
    """
    kept = {k: v for k, v in node.data.items() if k != 'internal_ports'}
    node.data = {**kept, 'placement': {'region_name': region}}
    update(node, data=node.data, physical_id=None)


def what_it_leaves(node: Any, now: str) -> Left:
    """Return the note about the server that a node leaves behind.

    :param node: the engine's node object, with a recorded region.
    :param now: the time.
    """
    return Left(
        region=recorded_region(node) or '',
        node=node.id,
        name=node.name,
        server=node.physical_id,
        ports=(node.data or {}).get('internal_ports') or (),
        since=now,
    )


def forget_recovery(node: Any) -> None:
    """Remove the key ``recovery`` from the data in a node's row.

    The key means that a recovery has replaced the node's server.

    :param node: the engine's node object, whose data do not have the key.
    """
    context = senlin_context.get_admin_context()
    row = node_objects.Node.get(context, node.id, project_safe=False)
    if row and 'recovery' in (row.data or {}):
        data = {k: v for k, v in row.data.items() if k != 'recovery'}
        update(node, data=data)


def update(node: Any, **values: Any) -> None:
    """Write columns of a node's row.

    :param node: the engine's node object. The object does not change.
    :param values: column -> value.
    :raises: ``ResourceNotFound`` if the node is gone.
    """
    context = senlin_context.get_admin_context()
    node_objects.Node.update(context, node.id, values)
