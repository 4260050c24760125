# SPDX-License-Identifier: Apache-2.0

"""What a node's data say of its region, under ``placement``."""

from collections.abc import Callable
from typing import Any

from senlin.common import context as senlin_context
from senlin.objects import node as node_objects


def placement(node: Any) -> dict[str, Any]:
    """Return what a node's data say of its place.

    :param node: a node, from Senlin's engine or from its database, or
        anything without ``data``.
    """
    return (getattr(node, 'data', None) or {}).get('placement') or {}


def recorded_region(node: Any) -> str | None:
    """Return the region that a node's data names.

    :param node: as for :func:`placement`.
    :returns: the name, or ``None`` if none is recorded.
    """
    return placement(node).get('region_name')


def record_region(node: Any, region: str) -> None:
    """Write a region into a node's data and store it.

    :param node: the engine's node object.
    :param region: the region's name.
    """
    named = {**placement(node), 'region_name': region}
    node.data = {**(node.data or {}), 'placement': named}
    node_objects.Node.update(
        senlin_context.get_admin_context(), node.id, {'data': node.data}
    )


def refusal(node: Any) -> dict[str, str] | None:
    """Return how a cloud refused to create a node for lack of room.

    :param node: a node, from Senlin's engine or from its database.
    :returns: ``region``, ``at`` and ``why``; ``None`` if none did.
    """
    return placement(node).get('refused')


def mark(node: Any, **marks: Any) -> None:
    """Write into a node's placement what a policy knows of its region.

    :param node: a node, from Senlin's engine or from its database.
    :param marks: what to write; ``None`` takes it out.
    """
    known = placement(node)
    if all(known.get(name) == value for name, value in marks.items()):
        return

    def add(data: dict[str, Any]) -> dict[str, Any]:
        before = data.get('placement') or {}
        marked = {**before, **marks}
        marked = {k: v for k, v in marked.items() if v is not None}
        return data if marked == before else {**data, 'placement': marked}

    rewrite(node, add)


def rewrite(
    node: Any, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    """Change a node's data as they are now, unless the node is gone.

    Actions of the node may go on when that of the cluster has failed.

    :param node: a node, from Senlin's engine or from its database.
    :param change: from the data to the new data.
    """
    context = senlin_context.get_admin_context()
    row = node_objects.Node.get(context, node.id, project_safe=False)
    if row:
        node.data = change(dict(row.data or {}))
        if node.data != (row.data or {}):
            node_objects.Node.update(context, node.id, {'data': node.data})


def is_out(node: Any) -> bool:
    """Tell whether a policy has found the region of a node dead."""
    return 'out' in placement(node)
