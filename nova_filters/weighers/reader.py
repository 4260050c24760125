# SPDX-License-Identifier: Apache-2.0

"""Read what a scheduler process must know of stacks and server groups."""

import functools
import threading
from collections.abc import Sequence, Set
from concurrent import futures
from typing import Any, Final, NamedTuple

import nova.conf
from nova import context as nova_context
from nova import objects
from oslo_log import log as logging

from nova_filters.stacks import members
from nova_filters.weighers import rows
from os_placement_plugins import errors, signature

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: With more requests in memory than this, all are read again.
LIMIT: Final = 500_000


class Question(NamedTuple):
    """What a request asks for, with the uuids of its candidates' cells."""

    team: members.Team
    server: str
    project: str
    cells: frozenset[str]


Answer = futures.Future[members.Sight]


class Reader:
    """Answer the requests of one process.

    Requests that wait are answered together, by a read that begins after
    they came. So none waits longer than for two reads.
    """

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        groups = CONF.nova_filters.server_group_weight_multiplier > 0
        self._words = members.WORDS[: 1 + groups]
        #: Stored requests never change. None is in no team.
        self._requests: dict[str, members.Request | None] = {}
        self._cells: dict[str, Any] = {}
        self._reading = threading.Lock()
        self._waiting: list[tuple[Question, Answer]] = []

    def ask(self, question: Question) -> members.Sight:
        """Return what a request sees.

        :raises DatabaseError: if the API database cannot be read.
        """
        answer = Answer()
        self._waiting.append((question, answer))
        with self._reading:
            if not answer.done():
                count = len(self._waiting)
                batch = self._waiting[:count]
                del self._waiting[:count]
                self._answer(batch)
        return answer.result()

    def _answer(self, batch: Sequence[tuple[Question, Answer]]) -> None:
        """Read once for all, and answer each question."""
        try:
            found, silent = self._read([question for question, _ in batch])
            for one, answer in batch:
                sight = members.see(
                    one.team, one.server, self._requests, found
                )
                unread = *silent, *sight.unread
                answer.set_result(sight._replace(unread=unread))
        except BaseException as exc:
            # Nobody waits for ever, even if this thread is killed.
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(exc)

    def _read(
        self, questions: Sequence[Question]
    ) -> tuple[dict[str, members.Position], list[str]]:
        """Return the positions of all servers of some projects.

        :returns: by server; and the cells that do not answer.
        """
        context = nova_context.get_admin_context()
        projects = {one.project for one in questions}
        cells = frozenset[str]().union(*(one.cells for one in questions))
        # The cells come last: they know of what has got there meanwhile.
        starting = rows.without_cell(context, projects)
        servers: dict[str, members.Server | None] = dict.fromkeys(starting)
        answered, silent = self._servers(context, projects, cells)
        servers |= answered
        if len(self._requests) > LIMIT:
            self._requests.clear()
        new = [uuid for uuid in servers if uuid not in self._requests]
        for start in range(0, len(new), rows.READ_AT_ONCE):
            part = new[start : start + rows.READ_AT_ONCE]
            read = rows.requests(context, part, self._words)
            self._requests |= dict.fromkeys(part) | {
                uuid: members.read_request(number, created, text, self._keys)
                for uuid, number, created, text in read
            }
        found = {}
        for uuid, server in servers.items():
            request = self._requests[uuid]
            boot = request.turn if request else None
            if position := server.position(boot) if server else boot:
                found[uuid] = position
        return found, silent

    def _servers(
        self, context: Any, projects: Set[str], cells: Set[str]
    ) -> tuple[dict[str, members.Server], list[str]]:
        """Return what those cells say that answer, and the other cells."""
        if not self._cells.keys() >= cells:
            with errors.of_database():
                known = objects.CellMappingList.get_all(context)
            self._cells = {cell.uuid: cell for cell in known}
        answers = nova_context.scatter_gather_cells(
            context,
            [self._cells[cell] for cell in cells if cell in self._cells],
            nova_context.CELL_TIMEOUT,
            functools.partial(rows.servers, projects=projects),
        )
        found: dict[str, members.Server] = {}
        # A cell that the API database does not list is not known to be empty.
        silent = sorted(cells - self._cells.keys())
        for cell, servers in answers.items():
            if not nova_context.is_cell_failure_sentinel(servers):
                found |= servers
                continue
            silent.append(cell)
            LOG.warning(
                'The members of stacks and server groups in cell %s do not '
                'count in this request: the database of the cell does not '
                'answer. Check this database: %s',
                *(cell, type(servers).__name__),
            )
        return found, silent


@functools.cache
def shared() -> Reader:
    """Return the reader of this process, for all its weighers."""
    return Reader()
