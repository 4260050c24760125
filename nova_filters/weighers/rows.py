# SPDX-License-Identifier: Apache-2.0

"""The SQL statements of the weighers and of ``TeamSpreadFilter``."""

from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa
from nova.db.api import api as api_db
from nova.db.api import models as api_models
from nova.db.main import api as main_db
from nova.db.main import models

from nova_filters.stacks import members

_REQUEST, _MAPPING = api_models.RequestSpec, api_models.InstanceMapping
_SERVER, _ACTION = models.Instance, models.InstanceAction
_MIGRATION = models.Migration

#: How many requests one statement asks for. SQLite accepts at most 32,766
#: parameters. With about 36,000 values or more, MySQL reads the whole table.
READ_AT_ONCE: Final = 10_000
#: How many of the cloud's newest instance mappings are read. To read all
#: mappings takes too long: the mappings of deleted servers may stay for years.
NEWEST: Final = 10_000
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


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def without_cell(context: Any, projects: Collection[str]) -> dict[str, str]:
    """Return the servers that are in no cell yet.

    :returns: the project of each server, by the id of the server.
    """
    newest = sa.select(sa.func.max(_MAPPING.id)).scalar_subquery()
    query = sa.select(_MAPPING.instance_uuid, _MAPPING.project_id).where(
        _MAPPING.project_id.in_(projects),
        _MAPPING.id > newest - NEWEST,
        _MAPPING.cell_id.is_(None),
        sa.func.coalesce(_MAPPING.queued_for_delete, sa.false()) == sa.false(),
    )
    return dict(context.session.execute(query).all())


@api_db.context_manager.reader  # type: ignore[untyped-decorator]
def requests(
    context: Any, uuids: Collection[str], words: Collection[str]
) -> list[Any]:
    """Return the server, id, time and text of stored requests.

    :param words: texts. Only requests with one of these texts are read.
    """
    query = sa.select(
        _REQUEST.instance_uuid,
        _REQUEST.id,
        _REQUEST.created_at,
        _REQUEST.spec,
    ).where(
        _REQUEST.instance_uuid.in_(uuids),
        sa.or_(*(_REQUEST.spec.contains(w, autoescape=True) for w in words)),
    )
    return list(context.session.execute(query))


@main_db.pick_context_manager_reader  # type: ignore[untyped-decorator]
def servers(
    context: Any, projects: Collection[str]
) -> dict[str, members.Server]:
    """Return the servers of projects in one cell, by id.

    :param context: the context, which selects the cell.
    """
    query = sa.select(
        _SERVER.uuid,
        _SERVER.project_id,
        _SERVER.host,
        _SERVER.vm_state,
        _SERVER.task_state,
    ).where(
        _SERVER.project_id.in_(projects),
        _SERVER.deleted == 0,
        # While a server moves to another cell, one of its rows is hidden.
        sa.func.coalesce(_SERVER.hidden, sa.false()) == sa.false(),
    )
    rows = context.session.execute(query).all()
    busy = [
        row.uuid
        for row in rows
        if row.task_state and row.vm_state != 'building'
    ]
    moves = {}
    if busy:
        moves = _moves(context, busy)
    return {
        row.uuid: members.Server(
            row.project_id, row.host, row.vm_state, *moves.get(row.uuid, ())
        )
        for row in rows
    }


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
    return {
        uuid: (action, members.Turn(True, number, time), host)
        for uuid, action, number, time, host in context.session.execute(query)
        if action in members.MOVES
    }
