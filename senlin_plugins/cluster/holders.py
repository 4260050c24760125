# SPDX-License-Identifier: Apache-2.0

"""Find the nodes that hold a server or a stack.

A node holds a server or stack if the node's row names this server or stack, by
id or by name. No server or stack is deleted while another node holds it.
Senlin lets two nodes hold the same server, because an adoption stores whatever
id or name the request has. So each adoption and each deletion asks this module
which nodes hold the resource.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oslo_config import cfg
from senlin.common import consts
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models

from senlin_plugins.planning.snapshot import fixed_region, recorded_region


class Resource(NamedTuple):
    """The server or stack of a node.

    :param id: its id.
    :param names: other names of the resource in its region. With Senlin's own
        profiles, a node's row may have such a name instead of the id.
    :param region: the region; ``None`` if it is not known.
    """

    id: str
    names: Sequence[str] = ()
    region: str | None = None


def is_held(resource: Resource, but: str = '') -> bool:
    """Tell whether any node of any cluster and project holds a resource.

    :param but: the id of a node that does not count.
    """
    with db_api.session_for_read() as session:
        return bool(_find_holders(session, resource, but))


def release(node: Any, resource: Resource) -> bool:
    """Remove a resource from a node if other nodes hold it.

    Nodes that are being deleted do not count as holders, because they will not
    delete the resource later. So if several nodes are deleted at the same
    time, the resource is deleted, too.

    :param node: the engine's node object. If other nodes hold the resource,
        this object and the node's row lose the resource and its ports.
    :returns: whether other nodes hold the resource.
    """
    with db_api.session_for_read() as session:
        holders = _find_holders(session, resource, node.id)
        ids = [holder.id for holder in holders]
    # Lock rows only if another node holds the resource, which is rare.
    if not ids or not _release(node, resource, ids):
        return False
    node.physical_id = None
    node.data = _without_ports(node.data)
    return True


@db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
def _release(node: Any, resource: Resource, ids: Sequence[str]) -> bool:
    """Do the work of :func:`release` in one transaction.

    The transaction locks the rows of the nodes, so that none of them changes.

    :param ids: the ids of the other nodes that seem to hold the resource.
    """
    with db_api.session_for_write() as session:
        rows = session.query(models.Node).with_for_update()
        rows.filter(models.Node.id.in_([node.id, *ids])).all()
        holders = _find_holders(session, resource, node.id)
        if all(holder.status == consts.NS_DELETING for holder in holders):
            return False
        row = session.get(models.Node, node.id)
        if row:
            row.physical_id = None
            row.data = _without_ports(row.data)
        return True


def _find_holders(session: Any, resource: Resource, but: str) -> list[Any]:
    """Return the rows of the nodes that hold a resource."""
    table = models.Node
    ids = [resource.id, *resource.names]
    rows = session.query(table).filter(table.physical_id.in_(ids))
    holders = []
    for row in rows.filter(table.id != but):
        has_id = row.physical_id == resource.id
        if has_id or _is_there(row, resource.region):
            holders.append(row)
    return holders


def _is_there(row: Any, region: str | None) -> bool:
    """Tell whether a node is, or may be, in a region."""
    if region is None:
        return True
    context = row.profile.context if row.profile else None
    region_of_node = (
        recorded_region(row)
        or fixed_region(context)
        or cfg.CONF.default_region_name
    )
    return region_of_node in (region, None)


def _without_ports(data: Any) -> dict[str, Any]:
    """Return the data of a node without the ports of its server."""
    return {k: v for k, v in (data or {}).items() if k != 'internal_ports'}
