# SPDX-License-Identifier: Apache-2.0

"""The SQL statements of the weighers."""

import collections
import datetime
from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models

from nova_filters.members.server_records import BUILDING, Server
from nova_filters.spread.teams import MOVES, Turn

_REQUEST, _MAPPING = api_models.RequestSpec, api_models.InstanceMapping
_GROUP, _MEMBER = api_models.InstanceGroup, api_models.InstanceGroupMember
_SERVER, _ACTION = models.Instance, models.InstanceAction
_MIGRATION, _NODE = models.Migration, models.ComputeNode

#: How many requests one statement asks for. With 1,000 ids, PostgreSQL may
#: read the whole table.
READ_AT_ONCE: Final = 200
#: The longest text that is read. A usual one has 5,000 characters; a user can
#: make it longer with hints, and each boot would pay for it.
LONGEST: Final = 50_000
#: The states of migrations that have ended.
_OVER: Final = (
    'cancelled',
    'completed',
    'confirmed',
    'done',
    'error',
    'failed',
    'finished',
    'reverted',
)
#: Whether a server is not being deleted.
_LIVES: Final = (
    sa.func.coalesce(_MAPPING.queued_for_delete, sa.false()) == sa.false()
)


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def project_servers(context: Any, project: str) -> list[Any]:
    """Return the servers of a project.

    :returns: a number that orders the servers, the id of each server, and the
        id of its cell; None if the server is in no cell yet.
    """
    query = sa.select(
        _MAPPING.id, _MAPPING.instance_uuid, _MAPPING.cell_id
    ).where(_MAPPING.project_id == project, _LIVES)
    return list(context.session.execute(query))


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def group_members(context: Any, uuid: str) -> list[Any]:
    """Return the members of a server group, like :func:`project_servers`."""
    query = (
        sa.select(_MEMBER.id, _MAPPING.instance_uuid, _MAPPING.cell_id)
        .join(_MEMBER, _MEMBER.instance_uuid == _MAPPING.instance_uuid)
        .join(_GROUP, _GROUP.id == _MEMBER.group_id)
        .where(_GROUP.uuid == uuid, _LIVES)
    )
    return list(context.session.execute(query))


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def request_changes(context: Any, uuids: Collection[str]) -> dict[str, Any]:
    """Return when stored requests were changed, by the ids of the servers.

    Requests that were never changed are left out. These are nearly all.
    """
    query = sa.select(_REQUEST.instance_uuid, _REQUEST.updated_at).where(
        _REQUEST.instance_uuid.in_(uuids), _REQUEST.updated_at.is_not(None)
    )
    return {uuid: updated for uuid, updated in context.session.execute(query)}


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def request_texts(
    context: Any, uuids: Collection[str], word: str = ''
) -> list[Any]:
    """Return the stored requests of servers, those that are there.

    :param word: only texts with this word are read.
    :returns: the id of each server, the time of the request, the time of its
        latest change, and the text. The third is None if there was no change,
        the fourth if the text is longer than :data:`LONGEST` characters or
        lacks the word.
    """
    wanted = sa.and_(
        sa.func.length(_REQUEST.spec) <= LONGEST,
        _REQUEST.spec.contains(word, autoescape=True),
    )
    query = sa.select(
        _REQUEST.instance_uuid,
        _REQUEST.created_at,
        _REQUEST.updated_at,
        sa.case((wanted, _REQUEST.spec)),
    ).where(_REQUEST.instance_uuid.in_(uuids))
    return list(context.session.execute(query))


@main_db.pick_context_manager_reader  # type: ignore[untyped-decorator]
def servers(context: Any, uuids: Collection[str]) -> dict[str, Server]:
    """Return those of some servers that are in one cell, by id.

    A server that is deleted has no host, and is not booted.

    :param context: the context, which selects the cell.
    """
    query = sa.select(
        _SERVER.uuid,
        _SERVER.host,
        _SERVER.vm_state,
        _SERVER.task_state,
        # While a server moves to another cell, one of its rows is hidden.
        sa.or_(_SERVER.deleted != 0, _SERVER.hidden).label('gone'),
    ).where(_SERVER.uuid.in_(uuids))
    servers = {}
    busy = []
    for row in context.session.execute(query):
        if row.gone:
            servers[row.uuid] = Server(None, None)
            continue
        servers[row.uuid] = Server(row.host, row.vm_state)
        if row.task_state and row.vm_state != BUILDING:
            busy.append(row.uuid)
    if busy:
        for uuid, move in _moves(context, busy).items():
            servers[uuid] = Server(*servers[uuid][:2], *move)
    return servers


@main_db.pick_context_manager_reader  # type: ignore[untyped-decorator]
def loads(context: Any, time: datetime.datetime) -> dict[str, float]:
    """Return the share of its memory that each host of a cell had given away.

    Whoever asks later finds the same, even if servers have ended or moved. But
    servers that were shelved since then are not counted, nor are rows that
    were archived.

    :param context: the context, which selects the cell.
    :param time: only servers that were running at this time count.
    """
    execute = context.session.execute
    memory = _SERVER.memory_mb
    was_running = sa.and_(
        _SERVER.launched_at < time,
        sa.func.coalesce(_SERVER.hidden, sa.false()) == sa.false(),
    )
    runs = sa.select(sa.func.sum(memory)).where(
        _SERVER.host == _NODE.host, _SERVER.deleted == 0, was_running
    )
    # To group many servers by the names of their hosts would be slow.
    nodes = (
        sa.select(
            _NODE.host,
            sa.func.sum(_NODE.memory_mb),
            runs.scalar_subquery(),
        )
        .where(_NODE.deleted == 0)
        .group_by(_NODE.host)
    )
    totals: dict[str, int] = {}
    used: collections.Counter[str] = collections.Counter()
    for host, total, given in execute(nodes):
        totals[host] = int(total)
        used[host] = int(given or 0)
    ended = sa.select(_SERVER.host, memory).where(
        _SERVER.deleted != 0, _SERVER.terminated_at >= time, was_running
    )
    for host, given in execute(ended):
        used[host] += given
    _put_back(context, time, used)
    return {
        host: used[host] / total for host, total in totals.items() if total
    }


def _put_back(
    context: Any, time: datetime.datetime, used: collections.Counter[str]
) -> None:
    """Count servers that have moved since a time where they were before.

    :param used: the memory that each host has given away, which is changed.
    """
    moves = (
        sa.select(
            _SERVER.uuid,
            _MIGRATION.source_compute,
            _SERVER.host,
            _SERVER.memory_mb,
            _SERVER.launched_at,
        )
        .join(_SERVER, _SERVER.uuid == _MIGRATION.instance_uuid)
        .where(
            _MIGRATION.updated_at >= time,
            _SERVER.created_at < time,
            # After any other move, a server is launched again.
            sa.or_(
                _MIGRATION.migration_type == 'live-migration',
                _SERVER.launched_at >= time,
            ),
        )
        .order_by(_MIGRATION.id)
    )
    moved = set()
    for uuid, source, host, given, launched in context.session.execute(moves):
        if uuid not in moved:
            moved.add(uuid)
            used[source] += given
            if launched < time:
                used[host] -= given


def _moves(context: Any, uuids: Collection[str]) -> dict[str, tuple[Any, ...]]:
    """Return the action, turn and destination of each server that moves.

    :param uuids: the ids of servers with a task state.
    """
    latest = sa.select(sa.func.max(_ACTION.id)).where(
        _ACTION.instance_uuid.in_(uuids)
    )
    goal = sa.select(_MIGRATION.dest_compute).where(
        _MIGRATION.instance_uuid == _ACTION.instance_uuid,
        _MIGRATION.deleted == 0,
        _MIGRATION.status.not_in(_OVER),
    )
    newest = goal.order_by(_MIGRATION.id.desc()).limit(1).scalar_subquery()
    query = sa.select(
        _ACTION.instance_uuid,
        _ACTION.action,
        _ACTION.id,
        _ACTION.start_time,
        newest,
    ).where(_ACTION.id.in_(latest.group_by(_ACTION.instance_uuid)))
    cell = context.cell_uuid
    return {
        uuid: (action, Turn(cell, number, time), host)
        for uuid, action, number, time, host in context.session.execute(query)
        if action in MOVES
    }
