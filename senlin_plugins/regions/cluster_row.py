# SPDX-License-Identifier: Apache-2.0

"""The row of a cluster, where all that is known of its regions stands.

The rule for writers: whoever changes what is known calls :func:`change`. It
reads the row and writes it in one transaction that locks the row, so that
actions on nodes, which share the lock of their cluster, health checks and the
clearing of what is left behind lose nothing of each other. Nobody talks to a
cloud in it. Senlin itself writes all data of a cluster that it has loaded in
CLUSTER_UPDATE, in CLUSTER_DELETE and when a policy is attached or detached:
at the beginning of an action that nothing else shares. What a health check or
the clearing writes in that moment may be lost, and is found out again. Only
actions note what is left behind, and their locks keep them apart.
"""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import cluster_policy as binding_objects
from senlin.policies import base as policy_base
from senlin.profiles import base as profile_base

from senlin_plugins.planning import region_state
from senlin_plugins.planning.region_state import Known


def change(
    cluster: Any, edit: Callable[[Known], Known]
) -> tuple[Known, Known]:
    """Change what is known of the regions of a cluster.

    :param cluster: the engine's cluster object; its data become those of the
        row.
    :param edit: from what is known to what is known then. It is called again
        if the database asks for another try.
    :returns: what was known before, and now.
    """

    @db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
    def run() -> tuple[Known, Known]:
        with db_api.session_for_write() as session:
            rows = session.query(models.Cluster).with_for_update()
            row = rows.filter_by(id=cluster.id).one_or_none()
            data = dict((row and row.data) or {})
            before = region_state.read(data)
            after = edit(before)
            cluster.data = after.write(data)
            if row and cluster.data != data:
                row.data = cluster.data
            return before, after

    found: tuple[Known, Known] = run()
    return found


@dataclasses.dataclass(frozen=True)
class Member:
    """What the row of a node says; an action on a node needs no more."""

    id: str
    name: str
    status: str
    data: Any
    physical_id: str | None
    profile_id: str
    index: int
    tainted: bool | None
    created_at: Any
    profile_created_at: None = None


@dataclasses.dataclass
class Row:
    """What an action on a node needs of its cluster.

    Senlin's object loads all policies, and all that is known of each node.
    """

    id: str
    user: str
    project: str
    profile_id: str
    data: Any
    metadata: Any

    @functools.cached_property
    def nodes(self) -> list[Member]:
        """The nodes."""
        return read_members(self.id)

    @functools.cached_property
    def rt(self) -> dict[str, Any]:
        """The profile, where Senlin's object has it."""
        return {
            'profile': profile_base.Profile.load(
                senlin_context.get_admin_context(),
                profile_id=self.profile_id,
                project_safe=False,
            )
        }


def read_members(cluster_id: str) -> list[Member]:
    """Return the nodes of a cluster as they are now."""
    table = models.Node
    fields = dataclasses.fields(Member)[:-1]
    columns = [getattr(table, field.name) for field in fields]
    with db_api.session_for_read() as session:
        rows = session.query(*columns).filter_by(cluster_id=cluster_id)
        return [Member(*row) for row in rows]


def find(node: Any) -> tuple[Any, Row] | None:
    """Return the policy that watches the region of a node, and its cluster.

    :returns: the policy of version 1.1 that is enabled for the node's cluster
        and the row of that cluster; ``None`` if there is none.
    """
    context = senlin_context.get_admin_context()
    if not node.cluster_id:
        return None
    for binding in binding_objects.ClusterPolicy.get_all(
        context, node.cluster_id, filters={'enabled': True}
    ):
        policy = policy_base.Policy.load(
            context, binding.policy_id, project_safe=False
        )
        if hasattr(policy, 'watch'):
            row = _find_row(node.cluster_id)
            return (policy, row) if row else None
    return None


def load(cluster_id: str) -> Row:
    """Return a cluster.

    :raises: ``ResourceNotFound`` if it is gone.
    """
    row = _find_row(cluster_id)
    if not row:
        raise exc.ResourceNotFound(type='cluster', id=cluster_id)
    return row


def _find_row(cluster_id: str) -> Row | None:
    """Return a cluster, if it is there."""
    table = models.Cluster
    with db_api.session_for_read() as session:
        rows = session.query(
            table.id,
            table.user,
            table.project,
            table.profile_id,
            table.data,
            table.meta_data,
        )
        found = rows.filter_by(id=cluster_id).one_or_none()
    return Row(*found) if found else None
