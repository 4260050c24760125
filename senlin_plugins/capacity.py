# SPDX-License-Identifier: Apache-2.0

"""Correct the desired capacity of a cluster after a NODE_CREATE.

Senlin counts the cluster's nodes when it begins to create a node, and stores
this number as the desired capacity afterwards. The number includes nodes that
still wait for their own NODE_CREATE. If a policy later refuses such a node and
removes it from the cluster, the desired capacity is too high.
"""

from typing import Any

from senlin.common import consts
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.engine import cluster as cluster_mod

#: The final statuses of an action.
ENDS = (
    consts.ACTION_SUCCEEDED,
    consts.ACTION_FAILED,
    consts.ACTION_CANCELLED,
)


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def correct_capacity(context: Any, cluster_id: str) -> None:
    """Lower the desired capacity if it counts too many nodes.

    :param context: the context of the action that has created a node.
    """
    with db_api.session_for_write() as session:
        # Lock the row. Otherwise another action could count the nodes before
        # this action has written the desired capacity.
        rows = session.query(models.Cluster).with_for_update()
        row = rows.filter_by(id=cluster_id).one_or_none()
        count = _count_nodes(session, cluster_id)
        if row and row.desired_capacity > count:
            cluster = cluster_mod.Cluster.load(context, cluster_id)
            cluster.eval_status(
                context, consts.NODE_CREATE, desired_capacity=count
            )


def _count_nodes(session: Any, cluster_id: str) -> int:
    """Return the number of nodes that do not wait for their NODE_CREATE."""
    node, action = models.Node, models.Action
    waits = session.query(action.id).filter(
        action.target == node.id,
        action.action == consts.NODE_CREATE,
        action.status.not_in(ENDS),
    )
    nodes = session.query(node.id).filter_by(cluster_id=cluster_id)
    waiting = nodes.filter(node.status == consts.NS_INIT, waits.exists())
    return int(nodes.count() - waiting.count())
