# SPDX-License-Identifier: Apache-2.0

"""Find the policy that watches the regions of a node's cluster."""

from collections.abc import Callable
from typing import Any

from senlin.common import context as senlin_context
from senlin.objects import cluster_policy as binding_objects
from senlin.policies import base as policy_base

from senlin_plugins.cluster import cluster_row
from senlin_plugins.cluster.cluster_row import Row
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.region_state import Notes
from senlin_plugins.planning.region_view import View


class RegionWatcher:
    """A policy that knows which regions of a cluster fail.

    Profiles use only policies that are subclasses of this class, even if other
    policies have the same methods.
    """

    def current(self, cluster: Row, region: str | None) -> View:
        """Return the states of the regions, for an action on a node.

        :param region: the region of the node.
        """
        raise NotImplementedError

    def watch(self, cluster: Row) -> View:
        """Return the states of the regions, for a health check."""
        raise NotImplementedError

    def settle(
        self,
        cluster: Row,
        view: View,
        node: Any,
        take: Callable[[Notes, str, str], Notes],
    ) -> Decision:
        """Choose and record the region of a node, in one transaction."""
        raise NotImplementedError


def find(node: Any) -> tuple[RegionWatcher, Row] | None:
    """Return a pair: the policy that watches a node's region; the cluster.

    :returns: the policy of version 1.1 that is enabled for the node's cluster,
        and the row of the cluster; ``None`` if there is no such policy.
    """
    if not node.cluster_id:
        return None
    context = senlin_context.get_admin_context()
    for binding in binding_objects.ClusterPolicy.get_all(
        context, node.cluster_id, filters={'enabled': True}
    ):
        policy = policy_base.Policy.load(
            context, binding.policy_id, project_safe=False
        )
        if isinstance(policy, RegionWatcher):
            row = cluster_row.find(node.cluster_id)
            if not row:
                return None
            return policy, row
    return None
