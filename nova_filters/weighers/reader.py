# SPDX-License-Identifier: Apache-2.0

"""Read the members of stacks and server groups from Nova's databases."""

import functools
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import nova.conf
from nova import context as nova_context
from nova import objects

from nova_filters.spread import order, requests
from nova_filters.weighers import rows
from os_placement_plugins import signature, stack_hints

CONF = nova.conf.CONF

#: The largest number of servers whose stacks are kept in memory. Above this
#: number, the reader forgets the projects whose latest question is the oldest.
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


class Reader:
    """Read the members of teams, for one scheduler process.

    The reader remembers in which stack a server is. This never changes, and
    only the texts of all stored requests of a project tell it.
    """

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        enabled = CONF.filter_scheduler.enabled_filters
        self._aggregates = 'AggregateInstanceTypeFilter' in enabled
        self._images = not {*enabled}.isdisjoint(_IMAGE_FILTERS)
        #: The stack of each server, by project. The project with the latest
        #: question comes last.
        self._stacks: dict[str, dict[str, order.Team | None]] = {}
        self._reading = threading.Lock()

    def read_members(
        self, team: order.Team, server: str, project: str
    ) -> order.Sight:
        """Return the members of a team that count for a server.

        :raises Exception: if the API database cannot be read.
        """
        context = nova_context.get_admin_context()
        unread: list[str] = []
        if team[0] == order.STACK:
            members = self._of_stack(context, team, project, unread)
        else:
            members = rows.group_members(context, team[1])
        # The first members come first. nova-api writes the rows that name the
        # members after their requests. So the numbers of these rows order the
        # members: whoever has a smaller one can be seen.
        members.sort()
        cells = {uuid: cell for _, uuid, cell in members}
        numbers = {uuid: number for number, uuid, _ in members}
        # Read the cells last. If a server gets into a cell between the two
        # reads, it is still in flight.
        servers = _servers(context, cells, unread)
        hosts = {}
        flying = {}
        for uuid, member in servers.items():
            goal = member.goal()
            if goal:
                hosts[uuid] = goal
            elif member.in_flight():
                flying[uuid] = member
        if server in flying and flying[server].turn is None:
            # The members after a server that is booted have left its place
            # free. They do not count, even if they have their hosts already.
            uuids = [*cells]
            for uuid in uuids[uuids.index(server) :]:
                hosts.pop(uuid, None)
        first = [*cells][:FIRST]
        kinds = {}
        in_flight = []
        for uuid, time, text in _requests(context, {*flying, *first}):
            kinds[uuid] = requests.read_kind(
                text, self._aggregates, self._images
            )
            if uuid in flying:
                member = flying[uuid]
                turn = member.turn or order.Turn(
                    order.BOOTS, numbers[uuid], time
                )
                in_flight.append(
                    order.Member(
                        uuid, turn, kinds[uuid], member.host, member.action
                    )
                )
        sight = order.see_members(server, hosts, in_flight)
        needs = [kinds[uuid].needs for uuid in first if uuid in kinds]
        return sight._replace(
            needs=tuple(dict.fromkeys(needs)), unread=tuple(unread)
        )

    def _of_stack(
        self,
        context: Any,
        team: order.Team,
        project: str,
        unread: list[str],
    ) -> list[Any]:
        """Return the number, id and cell of each member of a stack.

        :param unread: servers are added whose request cannot be read. They may
            be members.
        """
        servers = rows.project_servers(context, project)
        stacks: dict[str, order.Team | None] = {}
        new: dict[str, order.Team | None] = {}
        # Threads that ask for the same project read its texts once.
        with self._reading:
            remembered = self._stacks.pop(project, {})
            for _, uuid, _ in servers:
                if uuid in remembered:
                    stacks[uuid] = remembered[uuid]
                else:
                    new[uuid] = None
            for uuid, _, text in _requests(
                context, [*new], stack_hints.ROOT_STACK_ID
            ):
                try:
                    new[uuid] = requests.read_stack(text, self._keys)
                except ValueError:
                    # Do not remember it.
                    del new[uuid]
                    # Without the stack's id, the server is no member.
                    if team[1] in text:
                        unread.append(f'server {uuid}')
            stacks |= new
            self._stacks[project] = stacks
            self._forget()
        return [server for server in servers if stacks.get(server[1]) == team]

    def _forget(self) -> None:
        """Forget projects while too many servers are remembered."""
        total = sum(map(len, self._stacks.values()))
        while total > LIMIT and len(self._stacks) > 1:
            oldest = next(iter(self._stacks))
            total -= len(self._stacks.pop(oldest))


def _servers(
    context: Any, cells: Cells, unread: list[str]
) -> dict[str, order.Server]:
    """Return servers as their cells know them; those in no cell are booted.

    :param unread: cells are added that do not answer, and why.
    """
    in_cells = [uuid for uuid, cell in cells.items() if cell is not None]
    servers = {
        uuid: order.Server(None, order.BUILDING)
        for uuid in cells.keys() - in_cells
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


def _requests(
    context: Any, uuids: Collection[str], word: str = ''
) -> Iterator[Any]:
    """Yield stored requests in parts; see :func:`rows.requests`."""
    servers = [*uuids]
    for start in range(0, len(servers), rows.READ_AT_ONCE):
        part = servers[start : start + rows.READ_AT_ONCE]
        yield from rows.requests(context, part, word)


@functools.cache
def shared() -> Reader:
    """Return the reader that all plug-ins of this process share."""
    return Reader()
