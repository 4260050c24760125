# SPDX-License-Identifier: Apache-2.0

"""Read and write the row of a cluster, with the notes about its regions.

:class:`~senlin_plugins.planning.region_state.Notes` describes these notes. All
code that changes the notes calls :func:`update_notes`. This function
reads and writes the row in one transaction that locks the row. So actions on
nodes, health checks and the deletion of servers left behind do not overwrite
each other's notes. No code calls a cloud in this transaction.

Senlin itself writes all data of a cluster in CLUSTER_UPDATE, in CLUSTER_DELETE
and when a policy is attached or detached. No other action then runs on the
cluster. But health checks, and deletions of servers left behind, hold no lock
on the cluster. So Senlin may overwrite the notes of such a check or deletion.
That does no harm, because the next check finds and notes the same again.
Senlin never overwrites a new note about a server left behind: only actions
write such a note, and actions hold a lock on the cluster.
"""

import dataclasses
import datetime
import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import sqlalchemy
from senlin.common import context as senlin_context
from senlin.common import exception as exc
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.profiles import base as profile_base

from senlin_plugins.planning import region_state
from senlin_plugins.planning.region_state import Notes
from senlin_plugins.regions import health

#: Dialect of SQLAlchemy -> the SQL expression for the time in UTC.
_CLOCKS: Final = {
    'mysql': 'UTC_TIMESTAMP()',
    'postgresql': "timezone('utc', now())",
}
#: The same expression for every other dialect, such as SQLite.
_CLOCK: Final = 'CURRENT_TIMESTAMP'


class Update(NamedTuple):
    """The notes about the regions of a cluster, before and after a change.

    :param before: the notes before the change.
    :param after: the notes after the change.
    :param now: the time of the change.
    """

    before: Notes
    after: Notes
    now: str


def update_notes(cluster: Any, edit: Callable[[Notes, str], Notes]) -> Update:
    """Change the notes about the regions of a cluster.

    :param cluster: the engine's cluster object, or its row. This function
        updates the ``data`` of this object.
    :param edit: a function from the notes and the time to the new notes. It
        is called again after a deadlock in the database.
    """

    @db_api.retry_on_deadlock  # type: ignore[untyped-decorator]
    def run() -> Update:
        with db_api.session_for_write() as session:
            rows = session.query(models.Cluster, _clock(session))
            rows = rows.filter(models.Cluster.id == cluster.id)
            row, time = rows.with_for_update().one_or_none() or (None, None)
            now = read_clock(time)
            data = dict((row and row.data) or {})
            before = region_state.read(data)
            after = edit(before, now)
            cluster.data = after.write(data)
            if row and cluster.data != data:
                row.data = cluster.data
            return Update(before, after, now)

    update: Update = run()
    return update


def _clock(session: Any) -> Any:
    """Return an SQL column with the current time of the database, in UTC.

    The clocks of two engines may differ, so all engines ask the database.
    """
    dialect = session.get_bind().dialect.name
    return sqlalchemy.literal_column(_CLOCKS.get(dialect, _CLOCK)).label('now')


def read_clock(time: Any) -> str:
    """Return a time of the database in the format of the notes.

    :param time: the time, in UTC; ``None`` if the cluster is gone.
    """
    if time is None:
        return health.now()
    if isinstance(time, str):
        # SQLite returns the time as text.
        time = datetime.datetime.fromisoformat(time)
    return region_state.show_time(time.replace(tzinfo=datetime.UTC))


@dataclasses.dataclass(frozen=True)
class Member:
    """The columns of a node's row that an action on a node needs."""

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
    """The parts of a cluster that an action on a node needs.

    Senlin's own cluster object has the same attributes, but it also loads all
    policies and all nodes.
    """

    id: str
    user: str
    project: str
    profile_id: str
    data: Any
    metadata: Any
    status: str
    min_size: int
    #: The time at which the row was read.
    now: str

    @functools.cached_property
    def nodes(self) -> list[Member]:
        """The nodes of the cluster, read at the first use."""
        return read_members(self.id)

    @functools.cached_property
    def rt(self) -> dict[str, Any]:
        """The profile, under the same key as in Senlin's cluster object."""
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


def load(cluster_id: str) -> Row:
    """Return the row of a cluster.

    :raises: ``ResourceNotFound`` if the cluster is gone.
    """
    row = find(cluster_id)
    if not row:
        raise exc.ResourceNotFound(type='cluster', id=cluster_id)
    return row


def find(cluster_id: str) -> Row | None:
    """Return the row of a cluster, or None if the cluster is gone."""
    table = models.Cluster
    with db_api.session_for_read() as session:
        rows = session.query(
            table.id,
            table.user,
            table.project,
            table.profile_id,
            table.data,
            table.meta_data,
            table.status,
            table.min_size,
            _clock(session),
        )
        row = rows.filter(table.id == cluster_id).one_or_none()
    if not row:
        return None
    return Row(
        id=row.id,
        user=row.user,
        project=row.project,
        profile_id=row.profile_id,
        data=row.data,
        metadata=row.meta_data,
        status=row.status,
        min_size=row.min_size,
        now=read_clock(row.now),
    )
