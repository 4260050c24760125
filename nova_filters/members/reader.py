# SPDX-License-Identifier: Apache-2.0

"""Read the members of stacks and server groups from Nova's databases."""

import collections
import datetime
import functools
import operator
import zlib
from collections.abc import (
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, NamedTuple

import nova.conf
from nova import context as nova_context
from nova import objects

from nova_filters.members import rows
from nova_filters.members.cells import read_cells
from nova_filters.members.loads import Loads
from nova_filters.members.server_records import (
    BUILDING,
    Server,
    StoredRequest,
    read_request,
)
from nova_filters.spread import teams
from os_placement_plugins import signature, stack_hints

CONF = nova.conf.CONF

#: The largest number of stored requests that are kept in memory, with some 500
#: bytes each. Those of a larger project are kept alone.
LIMIT: Final = 50_000
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
    """A database does not show that the server boots or moves.

    It may lack other members, too.
    """


class Kept(NamedTuple):
    """A stored request that is kept in memory.

    :param created: when Nova wrote the row.
    :param changed: when Nova changed the row; None if it never did.
    """

    created: datetime.datetime
    changed: datetime.datetime | None
    request: StoredRequest


#: What a request says whose text names no stack, or is too long.
_NO_TEXT: Final = StoredRequest(None, '')
#: A server that no database of a cell shows yet.
_BOOTED: Final = Server(None, BUILDING)


class Reader:
    """Read the members of teams, for one scheduler process.

    Only the texts of all requests of a project tell which servers a stack has.
    So the reader keeps what it has read of them.
    """

    def __init__(self) -> None:
        self.loads = Loads()
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        enabled = CONF.filter_scheduler.enabled_filters
        self._images = not {*enabled}.isdisjoint(_IMAGE_FILTERS)
        #: The requests of the servers in each project.
        self._kept: dict[str, dict[str, Kept]] = {}

    def read_members(
        self, team: teams.Team, server: str
    ) -> teams.StoredMembers:
        """Return the members of a team, as a server sees them.

        :param server: the id of the server, which boots or moves.
        :raises OwnRowMissing: if a database does not show that.
        :raises Exception: if the API database cannot be read.
        """
        context = nova_context.get_admin_context()
        servers = _list_servers(context, team)
        kept: dict[str, Kept] = {}
        unknown: set[str] = set()
        if team[0] == teams.STACK:
            uuids = [uuid for _, uuid, _ in servers]
            kept = self._read_project(context, team[-1], uuids, server)
            # Without its request, any server may be a member.
            unknown = {uuid for uuid in uuids if uuid not in kept}
            servers = _select_stack(servers, kept, team[1], server)
        unread: list[str] = []
        # Read the cells last. If a server gets into a cell between the two
        # reads, it is still pending.
        cells = {uuid: cell for _, uuid, cell in servers}
        hosts, choosing = _divide(_read_servers(context, cells, unread))
        for uuid in unknown:
            if hosts.pop(uuid, None) or choosing.pop(uuid, None):
                unread.append(f'server {uuid}')
        first = [uuid for uuid in cells if uuid not in unknown][:FIRST]
        self._read_requests(context, kept, sorted({*choosing, *first}))
        pending = {}
        for number, uuid, _ in servers:
            if uuid in choosing and uuid in kept:
                pending[uuid] = _pending_member(
                    uuid, number, choosing[uuid], kept[uuid]
                )
        if server not in pending:
            raise OwnRowMissing
        unread += [f'server {uuid}' for uuid in choosing.keys() - pending]
        if not pending[server].action:
            # The members after a server that is booted have left its place
            # free. They do not count, even if they have their hosts already.
            uuids = [*cells]
            for uuid in uuids[uuids.index(server) :]:
                hosts.pop(uuid, None)
        kinds = [kept[uuid].request.kind for uuid in first if uuid in kept]
        return teams.StoredMembers(
            hosts,
            [*pending.values()],
            tuple(dict.fromkeys(kinds)),
            tuple(unread),
        )

    def _read_project(
        self, context: Any, project: str, uuids: Sequence[str], server: str
    ) -> dict[str, Kept]:
        """Return the stored requests of all servers of a project.

        Of requests that name no stack, the texts are not read.

        :param uuids: the servers of the project; the others are forgotten.
        """
        # Threads that read the same project at once share this dictionary.
        kept = self._kept.setdefault(project, {})
        new = [uuid for uuid in uuids if uuid not in kept]
        for part in _parts(new, server):
            # Another thread may have read them meanwhile.
            missing = [uuid for uuid in part if uuid not in kept]
            if missing:
                kept |= self._read_texts(
                    context, missing, stack_hints.ROOT_STACK_ID
                )
        present = {uuid: kept[uuid] for uuid in uuids if uuid in kept}
        self._kept[project] = present
        # Forget the projects that were first read longest ago.
        count = sum(map(len, [*self._kept.values()]))
        for old in [*self._kept]:
            if count > LIMIT and old != project:
                count -= len(self._kept.pop(old, ()))
        return present

    def _read_requests(
        self, context: Any, kept: dict[str, Kept], uuids: Sequence[str]
    ) -> None:
        """Read the stored requests of servers as they are now."""
        outdated = [uuid for uuid in uuids if uuid not in kept]
        for part in _parts([uuid for uuid in uuids if uuid in kept]):
            changes = rows.request_changes(context, part)
            for uuid in part:
                if kept[uuid].changed != changes.get(uuid):
                    outdated.append(uuid)
        for part in _parts(outdated):
            kept |= self._read_texts(context, part)

    def _read_texts(
        self, context: Any, uuids: Collection[str], word: str = ''
    ) -> dict[str, Kept]:
        """Return the stored requests that are there and can be read.

        :param word: only texts with this word are read.
        """
        kept = {}
        for uuid, created, changed, text in rows.request_texts(
            context, uuids, word
        ):
            request = _NO_TEXT
            if text is not None:
                try:
                    request = read_request(text, self._keys, self._images)
                except ValueError:
                    continue
            kept[uuid] = Kept(created, changed, request)
        return kept


def _list_servers(context: Any, team: teams.Team) -> list[Any]:
    """Return the servers of a stack's project, or of a server group.

    The first members come first. nova-api writes the rows that name the
    members after their requests. So the numbers of these rows order the
    members: whoever has a smaller one can be seen.
    """
    if team[0] == teams.STACK:
        servers = rows.project_servers(context, team[-1])
    else:
        servers = rows.group_members(context, team[-1])
    return sorted(servers, key=operator.itemgetter(0))


def _select_stack(
    servers: list[Any],
    kept: Mapping[str, Kept],
    root_stack_id: str,
    server: str,
) -> list[Any]:
    """Return those of a project's servers that are or may be in a stack.

    :param server: a server of the stack, whose text may be too long.
    """
    return [
        row
        for row in servers
        if row[1] == server
        or row[1] not in kept
        or kept[row[1]].request.root_stack_id == root_stack_id
    ]


def _divide(
    states: Mapping[str, Server],
) -> tuple[dict[str, str], dict[str, Server]]:
    """Return the hosts of servers, and those whose hosts are being chosen."""
    hosts = {}
    choosing = {}
    for uuid, state in states.items():
        host = state.current_host()
        if host:
            hosts[uuid] = host
        elif state.is_pending():
            choosing[uuid] = state
    return hosts, choosing


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


def _read_servers(
    context: Any, cells: Cells, unread: list[str]
) -> dict[str, Server]:
    """Return servers as their cells know them; those in no cell are booted.

    :param unread: cells are added that do not answer, and why.
    """
    servers = {}
    by_number = collections.defaultdict(list)
    for uuid, number in cells.items():
        if number is None:
            servers[uuid] = _BOOTED
        else:
            by_number[number].append(uuid)
    mappings = [
        mapping
        for mapping in objects.CellMappingList.get_all(context)
        if mapping.id in by_number
        and not mapping.is_cell0()
        # Its database may be gone. Nova does not ask it, either.
        and not mapping.disabled
    ]
    by_cell = {mapping.uuid: by_number[mapping.id] for mapping in mappings}
    read = functools.partial(_read_cell, by_cell=by_cell)
    for answer in read_cells(context, mappings, read, unread).values():
        servers |= answer
    return servers


def _read_cell(
    context: Any, by_cell: Mapping[str, Collection[str]]
) -> dict[str, Server]:
    """Return the servers of the context's cell, by id."""
    uuids = by_cell[context.cell_uuid]
    # nova-conductor names the cell of a server after it has written the row.
    # So if the cell does not show the row, its database is behind.
    servers = dict.fromkeys(uuids, _BOOTED)
    servers |= rows.servers(context, uuids)
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
