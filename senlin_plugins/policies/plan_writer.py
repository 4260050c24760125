# SPDX-License-Identifier: Apache-2.0

"""Write the regions of new nodes into an action's data and the nodes' rows."""

from collections.abc import Iterable, Mapping
from typing import Any

from oslo_log import log as logging
from senlin.common import consts
from senlin.common import context as senlin_context
from senlin.objects import node as node_objects

from senlin_plugins import node_records
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.snapshot import INIT, NO_REGION
from senlin_plugins.policies import cluster_reader

LOG = logging.getLogger(__name__)


def write(action: Any, decision: Decision) -> None:
    """Write ``creation`` or ``deletion`` in the format that Senlin reads.

    :param action: the action, whose data this function changes. The data of
        nodes of the cluster may change, too.
    :param decision: the decision of the region placement policy.
    """
    if decision.regions:
        _record_regions(action.entity, decision.regions)
    if not decision.plan:
        return
    field = 'deletion' if decision.candidates else 'creation'
    written = dict(action.data.get(field) or {})
    written['count'] = sum(decision.plan.values())
    written['regions'] = dict(decision.plan)
    action.data[field] = written
    if decision.candidates:
        # Senlin's own deletion policy fails if a node has no recorded region.
        unrecorded = cluster_reader.read_unrecorded(action.entity)
        record_missing_regions(unrecorded)
        for node, region in unrecorded:
            if region == NO_REGION:
                # No region is chosen for this node yet. Set the data in memory
                # only, for Senlin's own deletion policy.
                node.data = {'placement': {'region_name': NO_REGION}}
        # If the cluster has a deletion policy, of this package or of Senlin,
        # the policy later replaces these candidates. It keeps the number of
        # nodes for each region, and chooses the nodes by its own criterion.
        written['candidates'] = list(decision.candidates)
    elif action.action not in (consts.NODE_CREATE, consts.NODE_RECOVER):
        placement = action.data.get('placement') or {}
        action.data['placement'] = _merge(placement, decision.placements)


def _record_regions(cluster: Any, regions: Mapping[str, str]) -> None:
    """Record the regions of nodes whose creation has not begun.

    :param regions: node id -> region.
    """
    places = []
    for node in unplaced(cluster):
        if node.id in regions:
            places.append((node, regions[node.id]))
    node_records.record_regions(places)


def record_missing_regions(unrecorded: Iterable[tuple[Any, str]]) -> None:
    """Record the regions of nodes that have no recorded region.

    :param unrecorded: what :func:`cluster_reader.read_unrecorded` returns.
    """
    places = []
    for node, region in unrecorded:
        if region not in ('', NO_REGION):
            places.append((node, region))
    node_records.record_regions(places)


def unplaced(cluster: Any) -> list[Any]:
    """Return the nodes whose creation has not begun."""
    unrecorded = cluster_reader.read_unrecorded(cluster)
    return [node for node, region in unrecorded if region == NO_REGION]


def expel(node: Any, reason: str) -> None:
    """Remove a node from its cluster, because no region takes the node."""
    # Senlin also removes a node like this if the cluster exceeds max_size.
    status = {'status': consts.NS_ERROR, 'status_reason': reason}
    context = senlin_context.get_admin_context()
    try:
        row = node_objects.Node.get(context, node.id, project_safe=False)
        if row and row.status == INIT:
            values = {'cluster_id': '', **status}
            node_objects.Node.update(context, node.id, values)
    except Exception:
        # A policy must not raise an exception. For example, the node may be
        # gone, or the database may be down.
        LOG.exception('Node %s could not leave its cluster.', node.id)


def _merge(placement: dict[str, Any], regions: list[str]) -> dict[str, Any]:
    """Add a region to each placement; keep what other policies decided."""
    decided = list(placement.get('placements') or ())
    placements = []
    for number, region in enumerate(regions):
        place = decided[number] if number < len(decided) else {}
        placements.append({**place, 'region_name': region})
    return {**placement, 'count': len(regions), 'placements': placements}
