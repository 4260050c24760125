# SPDX-License-Identifier: Apache-2.0

"""Read the members of stacks and server groups from Nova's databases."""

import functools
import threading
from collections.abc import Mapping, Sequence, Set
from concurrent import futures
from typing import Any, Final, NamedTuple

import nova.conf
from nova import context as nova_context
from nova import objects

from nova_filters.stacks import members
from nova_filters.weighers import rows
from os_placement_plugins import signature

CONF = nova.conf.CONF

#: The largest number of stored requests to keep in memory. Above this number,
#: the reader forgets the projects whose latest question is the oldest.
LIMIT: Final = 100_000


class Question(NamedTuple):
    """A question to the reader: the members that count for a server.

    :param server: the id of the server that is to be placed.
    :param cells: the uuids of the cells of the candidates.
    :param everywhere: whether to read all enabled cells.
    """

    team: members.Team
    server: str
    project: str
    cells: frozenset[str]
    everywhere: bool


Answer = futures.Future[members.Sight]


class Read(NamedTuple):
    """The result of one read: the data of all servers of some projects.

    :param requests: the requests of servers; None if a server is in no team.
    :param positions: the positions of servers.
    :param silent: the cells that do not answer, and why.
    :param in_cells: the servers that are in a cell.
    """

    requests: dict[str, members.Request | None]
    positions: dict[str, members.Position]
    silent: list[str]
    in_cells: Set[str]


class Reader:
    """Answer the questions of all threads of one scheduler process.

    One read of the databases answers all waiting questions. The read begins
    after these questions arrived. So each question waits for at most two
    reads: the read that is running, and the read that answers the question.
    """

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        groups = CONF.nova_filters.server_group_weight_multiplier > 0
        self._words = members.WORDS[: 1 + groups]
        enabled = CONF.filter_scheduler.enabled_filters
        isolated_images: list[str] = []
        if 'IsolatedHostsFilter' in enabled:
            isolated_images = CONF.filter_scheduler.isolated_images
        self._rules = members.Rules(
            aggregates='AggregateInstanceTypeFilter' in enabled,
            images='AggregateImagePropertiesIsolation' in enabled,
            isolated_images=frozenset(isolated_images),
            groups=groups,
        )
        #: The stored requests, which never change, by project and by server.
        #: The project with the latest question comes last. None stands for the
        #: request of a server in no team.
        self._requests: dict[str, dict[str, members.Request | None]] = {}
        self._reading = threading.Lock()
        self._waiting: list[tuple[Question, Answer]] = []

    def ask(self, question: Question) -> members.Sight:
        """Return the members of a team that count for a server.

        :raises Exception: if the API database cannot be read.
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
        """Read the databases once, and answer all questions."""
        try:
            read = self._read([question for question, _ in batch])
            for question, answer in batch:
                sight = members.see(
                    question.team,
                    question.server,
                    read.requests,
                    read.positions,
                )
                answer.set_result(
                    sight._replace(
                        unread=(*read.silent, *sight.unread),
                        is_in_cell=question.server in read.in_cells,
                    )
                )
        except BaseException as exc:
            # If this thread is killed without giving an answer, the threads
            # with the other questions would wait forever.
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(exc)

    def _read(self, questions: Sequence[Question]) -> Read:
        """Read all servers of the projects that the questions name."""
        context = nova_context.get_admin_context()
        projects = {question.project for question in questions}
        # Read the cells last. If a server gets into a cell between the two
        # reads, it is then found in the cell.
        starting = rows.without_cell(context, projects)
        servers, silent = self._servers(context, projects, questions)
        owners = starting | {
            uuid: server.project for uuid, server in servers.items()
        }
        requests = self._read_requests(context, projects, owners)
        positions = {}
        for uuid in owners:
            request = requests[uuid]
            boot = None
            if request is not None:
                boot = request.turn
            position: members.Position | None = boot
            server = servers.get(uuid)
            if server is not None:
                position = server.position(boot)
            if position:
                positions[uuid] = position
        return Read(requests, positions, silent, servers.keys())

    def _read_requests(
        self, context: Any, projects: Set[str], owners: Mapping[str, str]
    ) -> dict[str, members.Request | None]:
        """Return the stored requests of servers.

        The reader forgets the requests of other servers of these projects.

        :param owners: the project of each server.
        """
        remembered: dict[str, members.Request | None] = {}
        for project in projects:
            remembered |= self._requests.pop(project, {})
        new = [uuid for uuid in owners if uuid not in remembered]
        requests: dict[str, members.Request | None] = dict.fromkeys(new)
        for start in range(0, len(new), rows.READ_AT_ONCE):
            part = new[start : start + rows.READ_AT_ONCE]
            for uuid, number, created, text in rows.requests(
                context, part, self._words
            ):
                requests[uuid] = members.read_request(
                    number, created, text, self._keys, self._rules
                )
        for uuid in owners:
            if uuid in remembered:
                requests[uuid] = remembered[uuid]
        self._remember(projects, owners, requests)
        return requests

    def _remember(
        self,
        projects: Set[str],
        owners: Mapping[str, str],
        requests: Mapping[str, members.Request | None],
    ) -> None:
        """Keep requests for the next read of the same projects."""
        kept: dict[str, dict[str, members.Request | None]] = {
            project: {} for project in projects
        }
        for uuid, request in requests.items():
            # Do not keep an unreadable request: its text may be large.
            if request is None or request.teams is not None:
                kept[owners[uuid]][uuid] = request
        self._requests |= kept
        total = sum(map(len, self._requests.values()))
        while total > LIMIT and len(self._requests) > len(projects):
            oldest = next(iter(self._requests))
            total -= len(self._requests.pop(oldest))

    def _servers(
        self,
        context: Any,
        projects: Set[str],
        questions: Sequence[Question],
    ) -> tuple[dict[str, members.Server], list[str]]:
        """Return the servers in the cells of the questions.

        :returns: the servers by id, and a text for each cell that does not
            answer.
        """
        mappings = {
            mapping.uuid: mapping
            for mapping in objects.CellMappingList.get_all(context)
        }
        cells: set[str] = set()
        everywhere = False
        for question in questions:
            cells.update(question.cells)
            everywhere = everywhere or question.everywhere
        if everywhere:
            for uuid, mapping in mappings.items():
                if not mapping.disabled and not mapping.is_cell0():
                    cells.add(uuid)
        answers = nova_context.scatter_gather_cells(
            context,
            [mappings[cell] for cell in cells if cell in mappings],
            nova_context.CELL_TIMEOUT,
            functools.partial(rows.servers, projects=projects),
        )
        servers: dict[str, members.Server] = {}
        # A candidate's cell without a mapping cannot be read, but may have
        # members.
        silent = [f'cell {cell}' for cell in sorted(cells - mappings.keys())]
        for cell, answer in answers.items():
            if isinstance(answer, Exception):
                silent.append(f'cell {cell} ({type(answer).__name__})')
            elif nova_context.is_cell_failure_sentinel(answer):
                silent.append(f'cell {cell} (no answer)')
            else:
                servers |= answer
        return servers, silent


@functools.cache
def shared() -> Reader:
    """Return the reader that all plug-ins of this process share."""
    return Reader()
