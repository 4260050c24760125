# SPDX-License-Identifier: Apache-2.0

"""Lock and change the rows of nodes."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from senlin.common import consts
from senlin.common import context as senlin_context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import node as node_objects

from os_placement_plugins import logger
from senlin_plugins.planning.node_region import INIT, NO_REGION

LOG = logger.get_logger(__name__)


@contextlib.contextmanager
def locked_members(cluster_id: str, node_id: str) -> Iterator[Sequence[Any]]:
    """Yield the rows of a cluster's other nodes, in a transaction.

    Actions on several nodes of a cluster can run at the same time: they share
    the cluster's lock. Until this transaction ends, no other node of the
    cluster gets a region.

    :param node_id: the node that is left out.
    """
    table = models.Node
    with db_api.session_for_write() as session:
        clusters = session.query(models.Cluster.id).with_for_update()
        clusters.filter_by(id=cluster_id).one_or_none()
        rows = session.query(
            table.id, table.status, table.data, table.profile_id
        )
        yield rows.filter(
            table.cluster_id == cluster_id, table.id != node_id
        ).all()


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data, and store the data.

    :param node: the engine's node object.
    :raises: ``ResourceNotFound`` if the node is gone.
    """
    node.data = _data_with_region(node, region)
    context = senlin_context.get_admin_context()
    node_objects.Node.update(context, node.id, {'data': node.data})


def record_regions(rows: Sequence[Any], regions: Mapping[str, str]) -> None:
    """Write the regions of nodes into their data, in one statement.

    :param rows: the nodes of a cluster. The caller's action must hold the lock
        on the cluster.
    :param regions: node id -> region. ``NO_REGION`` is not stored: only the
        node in memory gets it, because Senlin's own deletion policy fails if a
        node has no region.
    """
    values = []
    for node in rows:
        region = regions.get(node.id)
        if not region:
            continue
        node.data = _data_with_region(node, region)
        if region != NO_REGION:
            values.append({'id': node.id, 'data': node.data})
    if values:
        _update_nodes(values)


def _data_with_region(node: Any, region: str) -> dict[str, Any]:
    data = node.data or {}
    placement = {**(data.get('placement') or {}), 'region_name': region}
    return {**data, 'placement': placement}


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _update_nodes(values: Sequence[dict[str, Any]]) -> None:
    with db_api.session_for_write() as session:
        session.bulk_update_mappings(models.Node, values)


def expel_node(node: Any, reason: str) -> None:
    """Remove a node from its cluster, because no region takes the node."""
    # Senlin also removes a node like this if the cluster exceeds max_size.
    values = {
        'cluster_id': '',
        'status': consts.NS_ERROR,
        'status_reason': reason,
    }
    context = senlin_context.get_admin_context()
    try:
        row = node_objects.Node.get(context, node.id, project_safe=False)
        if row and row.status == INIT:
            node_objects.Node.update(context, node.id, values)
    except Exception:
        # A policy must not raise an exception. For example, the node may be
        # gone, or the database may be down.
        LOG.exception('Node %s could not leave its cluster.', node.id)
