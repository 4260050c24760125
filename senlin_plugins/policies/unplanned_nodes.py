# SPDX-License-Identifier: Apache-2.0

"""Warn of nodes in regions where the policy would not place them."""

from collections.abc import Iterable
from typing import Any

from oslo_log import log as logging
from senlin.objects import node as node_objects

from senlin_plugins.planning.region_view import View
from senlin_plugins.planning.snapshot import Node, distribution
from senlin_plugins.policies import cluster_reader

LOG = logging.getLogger(__name__)


def read_joining(action: Any, cluster: Any) -> list[Node]:
    """Return the nodes that join a cluster.

    :param action: an action by which existing nodes join the cluster.
    """
    replacements = action.inputs.get('candidates') or {}
    ids = action.inputs.get('nodes') or replacements.values()
    rows = [node_objects.Node.get(action.context, id_) for id_ in ids]
    return cluster_reader.read_nodes(cluster, filter(None, rows))


def read_staying(action: Any, nodes: Iterable[Node]) -> list[Node]:
    """Return those nodes of a cluster that no joining node replaces."""
    replacements = action.inputs.get('candidates') or {}
    return [node for node in nodes if node.id not in replacements]


def warn(
    policy_name: str,
    action: Any,
    view: View,
    coming: Iterable[Node],
    nodes: Iterable[Node],
) -> None:
    """Warn if nodes come to a region that then exceeds its cap.

    The cap of a region that the policy does not name counts as 0.

    :param coming: the nodes that the action adds.
    :param nodes: all nodes of the cluster after the action.
    """
    caps = {region.name: region.cap for region in view.override.regions}
    counts = distribution(nodes)
    for name in sorted({node.region for node in coming}):
        cap = caps.get(name, 0)
        if cap in range(counts[name]):
            LOG.warning(
                "%s %s brings a node to region '%s' against policy '%s': "
                'it has %s node(s) then, and the policy allows %s.',
                action.action,
                action.id,
                name,
                policy_name,
                counts[name],
                cap,
            )
