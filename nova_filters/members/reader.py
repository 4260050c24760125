# SPDX-License-Identifier: Apache-2.0

"""Read the members of stacks and server groups from Nova's databases."""

import datetime
import functools
import operator
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import nova.conf
from nova import context as nova_context
from nova import objects

from nova_filters.members import rows
from nova_filters.members.server_records import (
    BUILDING,
    Server,
    StoredRequest,
    read_request,
)
from nova_filters.spread import teams
from os_placement_plugins import signature, stack_hints

CONF = nova.conf.CONF

#: The largest number of stored requests that are kept in memory.
LIMIT: Final = 500_000
#: How many of a team's members tell which kinds the team has.
FIRST: Final = 50
#: The filters that give images hosts of their own.
_IMAGE_FILTERS: Final = (
    'AggregateImagePropertiesIsolation',
    'IsolatedHostsFilter',
)

#: The cells of servers, by the ids of the servers. None: in no cell yet.
Cells = Mapping[str, int | None]


class OwnRowMissing(Exception):
    """The database does not show the server that is to be placed."""


class Kept(NamedTuple):
    """A stored request that is kept in memory.

    :param created: when Nova wrote the row.
    :param changed: when Nova changed the row; None if it never did.
    """

    created: datetime.datetime
    changed: datetime.datetime | None
    request: StoredRequest


#: What is kept of a server without a stack. Its text is not read.
_NO_STACK: Final = Kept(datetime.datetime.min, None, StoredRequest(None, ''))


class Reader:
    """Read the members of teams, for one scheduler process.

    The reader keeps what it has read of stored requests. Only the texts of all
    requests of a project tell which servers a stack has, and a burst would
    read the texts of all pending members again for each of them.
    """

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        enabled = CONF.filter_scheduler.enabled_filters
        self._images = not {*enabled}.isdisjoint(_IMAGE_FILTERS)
        #: The requests of the servers in each project and in each group.
        self._kept: dict[str, dict[str, Kept]] = {}

    def read_members(
        self, team: teams.Team, server: str, project: str
    ) -> teams.StoredMembers:
        """Return the members of a team, as a server sees them.

        :raises OwnRowMissing: if the server is not among the members.
        :raises Exception: if the API database cannot be read.
        """
        context = nova_context.get_admin_context()
        unread: list[str] = []
        if team[0] == teams.STACK:
            scope = project
            servers = rows.project_servers(context, project)
        else:
            scope = team[1]
            servers = rows.group_members(context, scope)
        if server not in {uuid for _, uuid, _ in servers}:
            raise OwnRowMissing
        if team[0] == teams.STACK:
            servers = self._select_stack(
                context, team, project, server, servers, unread
            )
        # The first members come first. nova-api writes the rows that name the
        # members after their requests. So the numbers of these rows order the
        # members: whoever has a smaller one can be seen.
        servers.sort(key=operator.itemgetter(0))
        cells = {uuid: cell for _, uuid, cell in servers}
        numbers = {uuid: number for number, uuid, _ in servers}
        # Read the cells last. If a server gets into a cell between the two
        # reads, it is still pending.
        states = _servers(context, cells, unread)
        hosts = {}
        choosing = {}
        for uuid, state in states.items():
            host = state.current_host()
            if host:
                hosts[uuid] = host
            elif state.is_pending():
                choosing[uuid] = state
        if server in choosing and choosing[server].turn is None:
            # The members after a server that is booted have left its place
            # free. They do not count, even if they have their hosts already.
            uuids = [*cells]
            for uuid in uuids[uuids.index(server) :]:
                hosts.pop(uuid, None)
        first = [*cells][:FIRST]
        kept = self._read_requests(
            context, scope, sorted({*choosing, *first}), unread
        )
        if sum(map(len, self._kept.values())) > LIMIT:
            # A whole project, so that its next request reads it from memory.
            self._kept = {scope: self._kept.get(scope, kept)}
        pending = [
            _pending_member(uuid, numbers[uuid], state, kept[uuid])
            for uuid, state in choosing.items()
            if uuid in kept
        ]
        kinds = [kept[uuid].request.kind for uuid in first if uuid in kept]
        return teams.StoredMembers(
            hosts, pending, tuple(dict.fromkeys(kinds)), tuple(unread)
        )

    def _select_stack(
        self,
        context: Any,
        team: teams.Team,
        project: str,
        server: str,
        servers: list[Any],
        unread: list[str],
    ) -> list[Any]:
        """Return the rows of the members of a stack.

        :param servers: the rows of all servers of the project.
        :param unread: servers are added whose request cannot be read. They may
            be members.
        """
        kept = self._kept.setdefault(project, {})
        new = [uuid for _, uuid, _ in servers if uuid not in kept]
        for part in _parts(new, server):
            # Another thread may have read them meanwhile.
            uuids = [uuid for uuid in part if uuid not in kept]
            if uuids:
                kept.update(self._read_stacks(context, uuids, team, unread))
        present = {uuid: kept[uuid] for _, uuid, _ in servers if uuid in kept}
        self._kept[project] = present
        return [
            row
            for row in servers
            if row[1] in present
            and present[row[1]].request.root_stack_id == team[1]
        ]

    def _read_stacks(
        self,
        context: Any,
        uuids: Collection[str],
        team: teams.Team,
        unread: list[str],
    ) -> dict[str, Kept]:
        """Return stored requests, with the text only if it names a stack.

        :param unread: servers are added whose request cannot be read.
        """
        kept = dict.fromkeys(uuids, _NO_STACK)
        for uuid, created, changed, text in rows.request_texts(
            context, uuids, stack_hints.ROOT_STACK_ID
        ):
            # A request that cannot be read is not kept.
            del kept[uuid]
            try:
                request = self._read_text(text)
                kept[uuid] = Kept(created, changed, request)
            except ValueError:
                # Without the stack's id, the server is no member.
                if team[1] in text:
                    unread.append(f'server {uuid}')
        return kept

    def _read_requests(
        self,
        context: Any,
        scope: str,
        uuids: Sequence[str],
        unread: list[str],
    ) -> dict[str, Kept]:
        """Return stored requests as they are now, those that can be read.

        :param scope: the project or the server group of the servers.
        :param unread: servers are added whose request cannot be read.
        """
        kept = self._kept.setdefault(scope, {})
        outdated = [uuid for uuid in uuids if uuid not in kept]
        for part in _parts([uuid for uuid in uuids if uuid in kept]):
            changes = rows.request_changes(context, part)
            for uuid in part:
                if kept[uuid].changed != changes.get(uuid):
                    outdated.append(uuid)
        for part in _parts(outdated):
            for uuid, created, changed, text in rows.request_texts(
                context, part
            ):
                try:
                    request = self._read_text(text)
                    kept[uuid] = Kept(created, changed, request)
                except ValueError:
                    unread.append(f'server {uuid}')
        return {uuid: kept[uuid] for uuid in uuids if uuid in kept}

    def _read_text(self, text: str) -> StoredRequest:
        return read_request(text, self._keys, self._images)


def _pending_member(
    uuid: str, number: int, state: Server, kept: Kept
) -> teams.Pending:
    """Return a pending member.

    :param number: the number of the row that names the member.
    """
    turn = state.turn
    if turn is None:
        turn = teams.Turn(teams.BOOTS, number, kept.created)
    return teams.Pending(
        uuid, turn, kept.request.kind, state.host, state.action
    )


def _servers(
    context: Any, cells: Cells, unread: list[str]
) -> dict[str, Server]:
    """Return servers as their cells know them; those in no cell are booted.

    :param unread: cells are added that do not answer, and why.
    """
    in_cells = [uuid for uuid, cell in cells.items() if cell is not None]
    servers = {
        uuid: Server(None, BUILDING) for uuid in cells.keys() - in_cells
    }
    numbers = {*cells.values()}
    answers = nova_context.scatter_gather_cells(
        context,
        [
            mapping
            for mapping in objects.CellMappingList.get_all(context)
            if mapping.id in numbers
            and not mapping.is_cell0()
            # Its database may be gone. Nova does not ask it, either.
            and not mapping.disabled
        ],
        nova_context.CELL_TIMEOUT,
        functools.partial(rows.servers, uuids=in_cells),
    )
    for cell, answer in answers.items():
        if isinstance(answer, Exception):
            unread.append(f'cell {cell} ({type(answer).__name__})')
        elif nova_context.is_cell_failure_sentinel(answer):
            unread.append(f'cell {cell} (no answer)')
        else:
            servers |= answer
    return servers


def _parts(uuids: Sequence[str], server: str = '') -> Iterator[Sequence[str]]:
    """Yield the ids of servers in parts, one for each statement.

    :param server: requests for different servers begin at different parts, so
        that threads that read the same project at once share the work.
    """
    starts = [*range(0, len(uuids), rows.READ_AT_ONCE)]
    if starts:
        first = zlib.crc32(server.encode()) % len(starts)
        for start in starts[first:] + starts[:first]:
            yield uuids[start : start + rows.READ_AT_ONCE]


@functools.cache
def shared() -> Reader:
    """Return the reader that all weighers of this process share."""
    return Reader()
