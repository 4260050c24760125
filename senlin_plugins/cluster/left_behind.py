# SPDX-License-Identifier: Apache-2.0

"""Delete the servers that nodes have left behind, in the background.

If a region is out, Senlin cannot delete servers there. A node that is deleted
or moved then leaves its server behind. The cluster's owner can forget such a
server with ``openstack cluster region forget``. Senlin then never deletes the
server. In this module, a server may also be a Heat stack.
"""

import functools
import time
from collections.abc import Sequence
from typing import Any, Final

import eventlet
from oslo_log import log as logging
from senlin.common import consts
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.objects import node as node_objects

from senlin_plugins.cluster import cluster_row
from senlin_plugins.planning import declaration, region_spec, region_state
from senlin_plugins.planning.region_state import Left
from senlin_plugins.planning.region_view import View
from senlin_plugins.planning.snapshot import recorded_region

LOG = logging.getLogger(__name__)

#: Seconds after which :func:`clear` stops.
LIMIT: Final = 60.0
#: Seconds between two tries to delete the same servers.
PAUSE: Final = 2.0
#: How many servers of a cluster are deleted at the same time, at most.
AT_ONCE: Final = 8

#: The log message about a server that its owner has forgotten.
FORGOTTEN: Final = (
    "Server %s, left behind by node %s in region '%s', is forgotten. It runs "
    'on.'
)

#: The ids of the clusters whose servers a green thread is deleting now.
at_work: set[str] = set()


def listed(cluster: Any) -> list[Left]:
    """Return a cluster's servers left behind, except forgotten ones."""
    forgotten = region_spec.forgotten(cluster.metadata)
    return region_state.read(cluster.data).remaining(forgotten)


def is_forgotten(node: Any) -> bool:
    """Tell whether a cluster's owner has forgotten a node or its server.

    Profiles use this function if no policy watches the node's region. Senlin
    detaches all policies before it deletes a cluster. If a region fails after
    that, the nodes there can be deleted only if the owner forgets them.
    """
    try:
        metadata = cluster_row.load(node.cluster_id).metadata
    except exc.ResourceNotFound:
        return False
    if not region_spec.forgotten(metadata) & {node.id, node.physical_id}:
        return False
    LOG.info(FORGOTTEN, node.physical_id, node.id, recorded_region(node))
    return True


def log_forgotten(cluster: Any) -> None:
    """Log the forgotten servers of a deleted cluster, which still run."""
    remaining = listed(cluster)
    for entry in region_state.read(cluster.data).left:
        if entry not in remaining:
            LOG.info(FORGOTTEN, entry.server, entry.node, entry.region)


def start(cluster: Any, view: View) -> None:
    """Begin to delete, in a green thread, the servers left behind.

    :param cluster: the engine's cluster object, or its row.
    :param view: the states of the regions. Servers in a region that is silent
        or out stay for now.
    """
    dead = {name for name, state in view.states.items() if state.dead}
    ready = [entry for entry in view.left if entry.region not in dead]
    let_go = [entry for entry in view.notes.left if entry not in view.left]
    if (ready or let_go) and cluster.id not in at_work:
        at_work.add(cluster.id)
        eventlet.spawn_n(_run, cluster, ready, let_go)


def _run(cluster: Any, ready: list[Left], let_go: list[Left]) -> None:
    """Delete servers left behind; never raise an exception.

    :param ready: the servers that can be deleted now.
    :param let_go: the forgotten servers, which only leave the cluster's notes.
    """
    try:
        clear(cluster, [*let_go, *ready])
    except Exception:
        LOG.exception(
            'What cluster %s has left behind is not cleared up.', cluster.id
        )
    finally:
        at_work.discard(cluster.id)


def clear(cluster: Any, entries: Sequence[Left]) -> list[Left]:
    """Delete servers left behind, and stop after :data:`LIMIT` seconds.

    :param entries: the servers that may be deleted.
    :returns: the servers that still exist, or may still exist.
    """
    end = time.monotonic() + LIMIT
    rest = list(entries)
    while rest and time.monotonic() < end:
        # Read this again each time: the owner may have declared a region out.
        declared = region_spec.declared(_metadata(cluster))
        ready = [entry for entry in rest if entry.region not in declared]
        if not ready:
            break
        pool = eventlet.GreenPool(AT_ONCE)
        is_gone = functools.partial(_is_gone, cluster, end)
        answers = list(zip(ready, pool.imap(is_gone, ready), strict=True))
        gone = [entry for entry, is_gone in answers if is_gone]
        _note_as_gone(cluster, gone)
        rest = [entry for entry in rest if entry not in gone]
        if rest:
            eventlet.sleep(min(PAUSE, max(0.0, end - time.monotonic())))
    return rest


def _note_as_gone(cluster: Any, gone: Sequence[Left]) -> None:
    """Remove servers from the notes of a cluster."""
    cluster_row.update_notes(cluster, lambda notes, now: notes.clear(gone))


def _metadata(cluster: Any) -> Any:
    """Return the current metadata of a cluster."""
    return cluster_row.load(cluster.id).metadata


def _is_gone(cluster: Any, end: float, entry: Left) -> bool:
    """Delete a server, unless it is forgotten or a node holds it.

    :param end: the time at which the deletion must end.
    :returns: whether the server can be removed from the cluster's notes.
    """
    names = entry.server, entry.node, entry.region
    # The owner may have forgotten the server a moment ago.
    forgotten = region_spec.forgotten(_metadata(cluster))
    if forgotten & {entry.server, entry.node}:
        LOG.info(FORGOTTEN, *names)
        return True
    try:
        with eventlet.Timeout(max(0.0, end - time.monotonic())):
            gone = _discard(cluster, entry)
    except (exc.SenlinException, eventlet.Timeout) as ex:
        LOG.warning(
            "Server %s, left behind by node %s in region '%s', cannot be "
            'deleted yet: %s',
            *names,
            str(ex) or 'no answer in time',
        )
        return False
    if gone:
        LOG.info(
            "Server %s, left behind by node %s in region '%s', is deleted, or "
            'a node has it.',
            *names,
        )
    return gone


def _discard(cluster: Any, entry: Left) -> bool:
    """Delete a server unless a node holds it.

    :returns: whether the server can be removed from the cluster's notes.
    """
    context = senlin_context.get_admin_context()
    node = node_objects.Node.get(context, entry.node, project_safe=False)
    # Keep the server in the notes for now if its node is being deleted, or may
    # just be creating the server.
    leaves = node and node.status == consts.NS_DELETING
    unmade = node and not (node.physical_id or entry.server)
    if leaves or (unmade and recorded_region(node) == entry.region):
        return False
    gone: bool = cluster.rt['profile'].discard(cluster, entry)
    return gone


def describe(
    cluster: Any, left: Sequence[Left], held: Sequence[Left] = ()
) -> str:
    """Say which servers prevent the deletion of a cluster, and what to do.

    :param cluster: the engine's cluster object.
    :param left: the servers that nodes have left behind.
    :param held: the servers that nodes of the cluster would leave behind.
        ``left`` and ``held`` are never both empty.
    """
    entries = [*left, *held]
    first = entries[0]
    commands = declaration.delete(
        cluster,
        ids=[entry.server or entry.node for entry in entries],
        held_regions=sorted({entry.region for entry in held}),
    )
    return (
        f'{len(entries)} server(s) cannot be deleted now, such as '
        f"{first.server or 'that'} of node '{first.name}' in region "
        f"'{first.region}'. Delete the cluster when the region works again. "
        f'If it never will, run: {commands}'
    )
