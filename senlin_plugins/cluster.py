# SPDX-License-Identifier: Apache-2.0

"""Read a cluster of Senlin, and write a decision into its rows and actions."""

import contextlib
import copy
import random
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, scaleutils
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import cluster as cluster_objects
from senlin.objects import node as node_objects
from senlin.policies import base

from senlin_plugins.planning import node_region, sizing, spec
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.node_region import INIT, NO_REGION
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.values import WrongValue

LOG = logging.getLogger(__name__)

#: The fields of an action's data that say how many nodes come or go.
FIELDS: Final = {True: 'creation', False: 'deletion'}


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


def read_regions(rows: Sequence[Any]) -> list[str]:
    """Return the region in which each node counts.

    Only the profiles of nodes without a recorded region are read, all in one
    query.

    :param rows: nodes of Senlin's engine or database.
    """
    profile_ids = node_region.unrecorded_profiles(rows)
    contexts: dict[str, Any] = {}
    if profile_ids:
        table = models.Profile
        with db_api.session_for_read() as session:
            query = session.query(table.id, table.context)
            for profile_id, context in query.filter(table.id.in_(profile_ids)):
                contexts[profile_id] = context
    default = cfg.CONF.default_region_name
    return node_region.counted_regions(rows, contexts, default)


def read_nodes(rows: Sequence[Any]) -> list[Node]:
    """Convert the nodes of a cluster to :class:`Node`."""
    nodes = []
    for row, region in zip(rows, read_regions(rows), strict=True):
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


def write_decision(action: Any, decision: Decision) -> None:
    """Write a plan in the format of the region policy's specification.

    :param action: the action, whose data this function changes. The data of
        nodes of the cluster may change, too.
    :param decision: the decision of the region placement policy.
    """
    if decision.regions:
        record_regions(action.entity.nodes, decision.regions)
    if not decision.plan:
        return
    field = FIELDS[not decision.candidates]
    written = dict(action.data.get(field) or {})
    written['count'] = sum(decision.plan.values())
    written['regions'] = dict(decision.plan)
    action.data[field] = written
    if decision.candidates:
        # If the cluster has a deletion policy, of this package or of Senlin,
        # the policy later replaces these candidates. It keeps the number of
        # nodes for each region, and chooses the nodes by its own criterion.
        written['candidates'] = list(decision.candidates)
    elif action.action not in (consts.NODE_CREATE, consts.NODE_RECOVER):
        _merge_placements(action, decision.plan)


def _merge_placements(action: Any, plan: Mapping[str, int]) -> None:
    """Add a region to each placement; keep what other policies decided."""
    placement = action.data.get('placement') or {}
    placements = list(placement.get('placements') or ())
    regions: list[str] = []
    for name, count in plan.items():
        regions.extend([name] * count)
    missing = len(regions) - len(placements)
    placements.extend({} for _ in range(missing))
    action.data['placement'] = {
        **placement,
        'count': len(regions),
        'placements': [
            {**place, 'region_name': region}
            for place, region in zip(placements, regions, strict=False)
        ],
    }


def write_count(action: Any, change: Change) -> None:
    """Write the change of a resize that the policy leaves to the engine.

    The engine would parse the inputs again, and take the desired capacity for
    the size of an empty cluster.
    """
    if action.action == consts.CLUSTER_RESIZE:
        action.data.setdefault(FIELDS[change.growing], {'count': change.count})


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


def describe_error(policy_name: str, action: Any, error: Exception) -> str:
    """Return the reason of a refusal, and log an unexpected error."""
    if isinstance(error, WrongValue):
        return str(error)
    LOG.error(
        "Policy '%s' failed on %s %s.",
        policy_name,
        action.action,
        action.id,
        exc_info=error,
    )
    return f'The policy check failed: {error or type(error).__name__}'


def allow_action(action: Any) -> None:
    """Let an action go on, and show the decision through the API."""
    action.data['status'] = base.CHECK_OK
    action.store(action.context)


def refuse_action(policy_name: str, action: Any, reason: str) -> None:
    """Refuse a whole action; never raise an exception.

    :param reason: the reason, which the user sees.
    """
    LOG.debug(
        "Policy '%s' refuses %s %s: %s",
        policy_name,
        action.action,
        action.id,
        reason,
    )
    action.data.update({'status': base.CHECK_ERROR, 'reason': reason})
    try:
        action.store(action.context)
    except Exception:
        LOG.exception(
            'The reason could not be stored in action %s.', action.id
        )
