# SPDX-License-Identifier: Apache-2.0

"""Read the rows of a cluster of Senlin, and what an action does to it."""

import copy
import random
import types
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from senlin.common import consts, scaleutils
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import cluster as cluster_objects
from senlin.objects import node as node_objects

from senlin_plugins.planning import node_region, sizing, spec
from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.values import WrongValue


def read_cluster(cluster_id: str) -> Any:
    """Return the row of a cluster.

    :raises: ``ResourceNotFound`` if there is no such cluster.
    """
    admin = senlin_context.get_admin_context()
    row = cluster_objects.Cluster.get(admin, cluster_id, project_safe=False)
    if not row:
        raise exc.ResourceNotFound(type='cluster', id=cluster_id)
    return row


def describe_rival(cluster: Any, policy_type: str) -> str:
    """Say which policy of a cluster does the same work as a new one.

    Senlin's own check compares types with their versions. So it would allow
    two versions of the deletion policy on one cluster.

    :param cluster: the engine's cluster object.
    :param policy_type: the type of the new policy, with its version.
    :returns: the obstacle and what to do; empty if there is none.
    """
    type_name = policy_type.rpartition('-')[0]
    rivals = type_name, spec.RIVALS[type_name]
    for policy in cluster.policies:
        if policy.type.rpartition('-')[0] in rivals:
            return (
                f"Policy '{policy.name}' of type '{policy.type}' is "
                'attached to the cluster already and does the same work: '
                'detach it first.'
            )
    return ''


def describe_unheard_events(policy: Any) -> str:
    """Say that a health policy would recover no node of this package.

    Senlin listens to events only for two profile types of its own.

    :param policy: a policy of Senlin.
    :returns: what is wrong and what to do; empty if the policy does not
        listen to events.
    """
    for mode in getattr(policy, 'detection_modes', ()):
        if mode.type == consts.LIFECYCLE_EVENTS:
            return (
                f"Health policy '{policy.name}' has the detection mode "
                f"'{consts.LIFECYCLE_EVENTS}', but Senlin does not listen to "
                "events for this package's profiles, so it would recover no "
                f"node: use '{consts.NODE_STATUS_POLLING}'."
            )
    return ''


def read_node_regions(rows: Sequence[Any]) -> list[str]:
    """Return the region in which each node counts.

    Only the profiles of nodes without a recorded region are read, all in one
    query.

    :param rows: nodes of Senlin's engine or database.
    :raises: ``ResourceNotFound`` if the database does not show a profile. It
        is then behind: Senlin keeps each profile that a node uses.
    """
    profile_ids = node_region.unrecorded_profiles(rows)
    contexts: dict[str, Any] = {}
    if profile_ids:
        table = models.Profile
        with db_api.session_for_read() as session:
            query = session.query(table.id, table.context)
            for profile_id, context in query.filter(table.id.in_(profile_ids)):
                contexts[profile_id] = context
    missing = profile_ids - contexts.keys()
    if missing:
        raise exc.ResourceNotFound(type='profile', id=min(missing))
    default = cfg.CONF.default_region_name
    return node_region.counted_regions(rows, contexts, default)


def read_nodes(rows: Sequence[Any]) -> list[Node]:
    """Convert the nodes of a cluster to :class:`Node`."""
    nodes = []
    for row, region in zip(rows, read_node_regions(rows), strict=True):
        placement = (row.data or {}).get('placement') or {}
        nodes.append(
            Node(
                id=row.id,
                region=region,
                zone=placement.get('zone'),
                status=row.status,
                tainted=bool(row.tainted),
                position=row.index,
                created_at=row.created_at,
                profile_created_at=row.profile_created_at,
                # The lot is no secret: it only decides which nodes leave.
                lot=random.random(),  # noqa: S311
                recorded=bool(placement.get('region_name')),
            )
        )
    return nodes


def read_change(action: Any, cluster: Any) -> Change:
    """Return how many nodes an action adds or removes.

    :param action: an action on the cluster.
    :param cluster: the engine's cluster object.
    :raises WrongValue: if the number of nodes is invalid.
    """
    size = len(cluster.nodes)
    if action.action == consts.CLUSTER_RECOVER:
        return sizing.missing_nodes(
            action.inputs, size, cluster.desired_capacity
        )
    if action.action == consts.CLUSTER_RESIZE:
        decided = sizing.parse_decision(action.data)
        return decided or _parse_resize(action, cluster, size)
    return sizing.parse_scaling(action.action, action.inputs, action.data)


def read_limits(cluster: Any, action_name: str) -> Limits:
    """Return the sizes that Senlin's engine allows after an action.

    :param cluster: a cluster of Senlin's engine or database.
    """
    max_nodes = cfg.CONF.max_nodes_per_cluster
    if action_name == consts.CLUSTER_RESIZE:
        # A resize may set new limits, so the old limits do not count.
        return Limits(max_nodes=max_nodes)
    return Limits(cluster.min_size, cluster.max_size, max_nodes)


def count_members(cluster_id: str) -> int:
    """Return the number of nodes in a cluster."""
    admin = senlin_context.get_admin_context()
    return int(node_objects.Node.count_by_cluster(admin, cluster_id))


def _parse_resize(action: Any, cluster: Any, size: int) -> Change:
    # If the current size is 0, the parser uses the desired capacity instead.
    # So set the desired capacity to the current size.
    sized = copy.copy(cluster)
    sized.desired_capacity = size
    # The parser writes its result into the data of an action.
    parsed = types.SimpleNamespace(
        inputs=action.inputs,
        data={},
        RES_OK=action.RES_OK,
        RES_ERROR=action.RES_ERROR,
    )
    result, reason = scaleutils.parse_resize_params(parsed, sized, size)
    if result != action.RES_OK:
        raise WrongValue(reason)
    return sizing.parse_decision(parsed.data) or Change(True, 0)
