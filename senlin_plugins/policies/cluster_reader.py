# SPDX-License-Identifier: Apache-2.0

"""Convert Senlin's clusters and nodes to the classes of ``planning``."""

import collections
import copy
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from senlin.common import consts, scaleutils
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from senlin_plugins.planning import requirements, sizing
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    Node,
    counted_region,
    fixed_region,
    placement,
    recorded_region,
)
from senlin_plugins.planning.values import WrongValue
from senlin_plugins.profiles import region_aware

LOG = logging.getLogger(__name__)


def read_change(action: Any, cluster: Any) -> Change:
    """Return how many nodes an action adds or removes.

    :param action: the action. If it is a resize, its data may change, because
        Senlin's parser writes the result there.
    :raises WrongValue: if the number of nodes is invalid.
    """
    size = len(cluster.nodes)
    if action.action == consts.CLUSTER_RECOVER:
        return sizing.recovering(action.inputs, size, cluster.desired_capacity)
    if action.action == consts.CLUSTER_RESIZE:
        change = sizing.resizing(action.data)
        change = change or _parse_resize(action, cluster, size)
    else:
        change = sizing.scaling(action.action, action.inputs, action.data)
    if change.growing:
        _check_size(action, cluster, size + change.count)
    return change


def read_nodes(nodes: Sequence[Any]) -> list[Node]:
    """Convert Senlin's nodes to :class:`Node`."""
    find_region = _region_finder(nodes)
    return [
        Node(
            id=node.id,
            region=find_region(node),
            zone=placement(node).get('zone'),
            status=node.status,
            tainted=bool(node.tainted),
            position=node.index,
            created_at=node.created_at,
            profile_created_at=node.profile_created_at,
            # The lot is no secret: it only decides which nodes leave.
            lot=random.random(),  # noqa: S311
        )
        for node in nodes
    ]


def read_unrecorded(cluster: Any) -> list[tuple[Any, str]]:
    """Return the nodes without a recorded region.

    :returns: (node, region) for each node. The region is the one in which
        plans count the node; empty if nothing names a region.
    """
    nodes = [node for node in cluster.nodes if not recorded_region(node)]
    find_region = _region_finder(nodes)
    return [(node, find_region(node)) for node in nodes]


def count_nodes(nodes: Sequence[Any]) -> dict[str, int]:
    """Return region name -> number of nodes.

    :param nodes: the nodes, or their rows.
    """
    return collections.Counter(map(_region_finder(nodes), nodes))


def excluded_by_ties(names: Collection[str], profile: Any) -> set[str]:
    """Return the regions in which a profile cannot create nodes.

    :param names: the regions in question.
    :param profile: a region-aware profile.
    """
    ties = profile.ties()
    region = region_aware.region_of(None, profile)
    if ties:
        LOG.warning(
            "New nodes of profile '%s' can only be in region '%s', because "
            'the profile contains an id from this region: %s.',
            profile.name,
            region,
            ties[0],
        )
    return requirements.excluded_by_ties(names, ties, region)


def _region_finder(nodes: Iterable[Any]) -> Callable[[Any], str]:
    """Return a function from a node to the region in which it counts.

    Only the profiles of nodes without a recorded region are read, all in one
    query.
    """
    ids = {node.profile_id for node in nodes if not recorded_region(node)}
    default = cfg.CONF.default_region_name
    fixed_regions = {}
    if ids:
        table = models.Profile
        with db_api.session_for_read() as session:
            rows = session.query(table.id, table.context)
            for profile_id, context in rows.filter(table.id.in_(ids)):
                fixed_regions[profile_id] = fixed_region(context)

    def find_region(node: Any) -> str:
        return counted_region(
            node, fixed_regions.get(node.profile_id), default
        )

    return find_region


def _parse_resize(action: Any, cluster: Any, size: int) -> Change:
    """Return how many nodes a resize adds or removes, by Senlin's parser.

    :raises WrongValue: if the parser refuses the inputs of the action.
    """
    # If the current size is 0, the parser uses the desired capacity instead.
    # So set the desired capacity to the current size.
    sized = copy.copy(cluster)
    sized.desired_capacity = size
    result, reason = scaleutils.parse_resize_params(action, sized, size)
    if result != action.RES_OK:
        raise WrongValue(reason)
    return sizing.resizing(action.data) or Change(growing=True, count=0)


def _check_size(action: Any, cluster: Any, size: int) -> None:
    """Refuse more nodes than a cluster may have, before the plan is made."""
    # Senlin's engine checks the size only after it has called the policies. If
    # a policy has decided how many nodes a resize adds, the engine never
    # checks the size. A webhook may ask for a billion nodes, and the plan
    # would then have an entry for each of these nodes.
    # A resize may set new limits, so the old limits of the cluster do not
    # count here: only the limit in senlin.conf counts.
    resized = action.action == consts.CLUSTER_RESIZE
    problem = scaleutils.check_size_params(
        None if resized else cluster, size, strict=True
    )
    if problem:
        raise WrongValue(problem)
