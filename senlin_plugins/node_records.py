# SPDX-License-Identifier: Apache-2.0

"""Read and write the regions of nodes in Senlin's database."""

from collections.abc import Callable, Sequence
from typing import Any

from senlin.common import context as senlin_context
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import node as node_objects

from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.snapshot import placement


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data, and store the data.

    :raises: ``ResourceNotFound`` if the node is gone.
    """
    node.data = _with_region(node, region)
    context = senlin_context.get_admin_context()
    node_objects.Node.update(context, node.id, {'data': node.data})


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


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def place_node(
    node: Any, cluster_id: str, decide: Callable[[Sequence[Any]], Decision]
) -> Decision:
    """Choose and record the region of a node, in one transaction.

    The transaction is needed because actions on several nodes of a cluster
    can run at the same time: they share the cluster's lock.

    :param node: the engine's node object.
    :param decide: a function from the rows of the cluster's other nodes to a
        decision, which is a plan for one node, or a refusal. It is called
        again after a deadlock in the database.
    :returns: the decision.
    """
    table = models.Node
    with db_api.session_for_write() as session:
        # Until this transaction ends, no other node of the cluster gets a
        # region.
        clusters = session.query(models.Cluster.id).with_for_update()
        clusters.filter_by(id=cluster_id).one_or_none()
        rows = session.query(
            table.id, table.status, table.data, table.profile_id
        )
        other_nodes = rows.filter(
            table.cluster_id == cluster_id, table.id != node.id
        )
        decision = decide(other_nodes.all())
        if not decision.refusal:
            record_region(node, decision.placements[0])
    return decision


def _with_region(node: Any, region: str) -> dict[str, Any]:
    """Return the data of a node with another region."""
    named = {**placement(node), 'region_name': region}
    return {**(node.data or {}), 'placement': named}


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _write(rows: Sequence[dict[str, Any]]) -> None:
    """Write columns of nodes; each mapping also has the node's id."""
    with db_api.session_for_write() as session:
        session.bulk_update_mappings(models.Node, rows)
