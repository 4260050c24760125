# SPDX-License-Identifier: Apache-2.0

"""Write the rows of nodes, such as the region under ``placement``."""

from collections.abc import Sequence
from typing import Any

from senlin.common import context as senlin_context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import node as node_objects

from senlin_plugins.planning.region_state import Left
from senlin_plugins.planning.snapshot import placement, recorded_region


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data and store it."""
    node.data = _with_region(node, region)
    update(node, data=node.data)


def record_regions(places: Sequence[tuple[Any, str]]) -> None:
    """Write the regions of many nodes, in one statement.

    :param places: nodes of a cluster that is locked, and their regions.
    """
    for node, region in places:
        node.data = _with_region(node, region)
    if places:
        rows = [{'id': node.id, 'data': node.data} for node, _ in places]
        _write(rows)


def _with_region(node: Any, region: str) -> dict[str, Any]:
    """Return the data of a node with its region."""
    named = {**placement(node), 'region_name': region}
    return {**(node.data or {}), 'placement': named}


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _write(rows: Sequence[dict[str, Any]]) -> None:
    """Write columns of nodes; each mapping also has the node's id."""
    with db_api.session_for_write() as session:
        session.bulk_update_mappings(models.Node, rows)


def move(node: Any, region: str) -> None:
    """Store that a node is in another region, without a server.

    One statement writes both. If the engine is killed afterwards, the node is
    in its new region without a server. The object in memory keeps the id of
    the old server, so that Senlin sees that the node was recreated.
    """
    kept = {k: v for k, v in node.data.items() if k != 'internal_ports'}
    node.data = {**kept, 'placement': {'region_name': region}}
    update(node, data=node.data, physical_id=None)


def what_it_leaves(node: Any, now: str) -> Left:
    """Return an entry for the server that a node leaves behind.

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
    """Remove the mark of a recovery that did not happen.

    :param node: the engine's node object, which does not have the mark.
    """
    context = senlin_context.get_admin_context()
    row = node_objects.Node.get(context, node.id, project_safe=False)
    if row and 'recovery' in (row.data or {}):
        data = {k: v for k, v in row.data.items() if k != 'recovery'}
        update(node, data=data)


def update(node: Any, **values: Any) -> None:
    """Write columns of a node's row.

    :param node: the engine's node object, which does not change.
    :param values: column -> value.
    :raises: ``ResourceNotFound`` if the node is gone.
    """
    context = senlin_context.get_admin_context()
    node_objects.Node.update(context, node.id, values)
