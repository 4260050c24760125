# SPDX-License-Identifier: Apache-2.0

"""The members of stacks and server groups: where they are, who is first.

A member is *in flight* while a scheduler chooses its host, and until the host
stands in the cell. Ids in the databases order the members in flight, so every
scheduler process finds the same order.
"""

import collections
import datetime
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from os_placement_plugins import signature, stack_hints

#: ``('stack', id of the root stack, id of the project)``, or, of a server
#: group, ``(policy, uuid)``.
Team = tuple[str, ...]
#: The policies of server groups that are a preference; whether they pack.
POLICIES: Final = {'soft-affinity': True, 'soft-anti-affinity': False}
#: What stands in each stored request of a member of a stack, and of a group.
WORDS: Final = (stack_hints.ROOT_STACK_ID, '"soft-a')
#: A member that is longer in flight than this before another one has failed.
IN_FLIGHT: Final = datetime.timedelta(minutes=10)
#: The actions of Nova that move a server.
UNSHELVE: Final = 'unshelve'
MOVES: Final = (UNSHELVE, 'evacuate', 'migrate', 'live-migration', 'resize')


class Turn(NamedTuple):
    """When it is a server's turn to be placed.

    :param moves: whether the server moves; else it is booted.
    :param number: the id of the move's action, or of the stored request.
    """

    moves: bool
    number: int
    time: datetime.datetime

    def before(self, other: 'Turn') -> bool:
        """Tell whether this server is placed before another one."""
        if other.time - self.time > IN_FLIGHT:
            return False
        if not self.moves and not other.moves:
            return self.number < other.number
        # Ids of different tables, or of different cells, say nothing.
        return (self.time, self.number) < (other.time, other.number)


#: The host of a server, or its turn while it is in flight.
Position = str | Turn


class Request(NamedTuple):
    """What a stored request says of a server for all its life.

    :param teams: None if the request cannot be read.
    :param turn: of the server's boot.
    :param shape: servers of different shapes may have different candidates;
        the request itself if it cannot be read.
    """

    teams: tuple[Team, ...] | None
    turn: Turn
    shape: str


class Server(NamedTuple):
    """What a cell says of a server that is not deleted.

    :param action: one of :data:`MOVES`; empty if the server does not move.
    :param turn: of the move.
    """

    host: str | None
    vm_state: str | None
    action: str = ''
    turn: Turn | None = None
    destination: str | None = None

    def position(self, boot: Turn | None) -> Position | None:
        """Return where the server is; None if it is shelved or has failed."""
        if self.turn is None or (self.action == UNSHELVE and self.host):
            return self.host or (boot if self.vm_state == 'building' else None)
        return self.destination or self.turn


class Sight(NamedTuple):
    """How many members the hosts have, and how many in flight come first.

    :param unread: the cells that may have members, and the servers that may
        be some: nobody can tell.
    """

    counts: Mapping[str, int]
    ahead: int
    unread: tuple[str, ...] = ()


def see(
    team: Team,
    server: str,
    requests: Mapping[str, Request | None],
    positions: Mapping[str, Position],
) -> Sight:
    """Return what the request for a server sees; the server is no member.

    :param requests: of servers; None is in no team.
    :param positions: of servers; those that are missing are nowhere.
    """
    mine, turn = requests.get(server), positions.get(server)
    counts: collections.Counter[str] = collections.Counter()
    ahead, unread = 0, []
    for member, position in positions.items():
        request = requests.get(member)
        if request is None or member == server:
            continue
        # Not another project's: that must close nobody's hosts but its own.
        ids = (part in request.shape for part in team[1:])
        if request.teams is None and all(ids):
            unread.append(member)
        if team not in (request.teams or ()):
            continue
        if isinstance(position, str):
            counts[position] += 1
        elif mine is None or not isinstance(turn, Turn):
            # The row of this request is not visible yet.
            ahead += 1
        else:
            ahead += request.shape == mine.shape and position.before(turn)
    return Sight(counts, ahead, tuple(unread))


def read_request(
    number: int, created: datetime.datetime, text: str, keys: signature.Keys
) -> Request:
    """Return what a row of Nova's ``request_specs`` says.

    :param text: the column ``spec``: a RequestSpec, serialized as JSON.
    """
    turn = Turn(False, number, created)
    try:
        data = json.loads(text)['nova_object.data']
        hints = stack_hints.read(
            data['scheduler_hints'], data.get('project_id'), keys
        )
        group = (data.get('instance_group') or {}).get('nova_object.data', {})
        found = (
            of_stack(hints),
            of_group(group.get('policy'), group.get('uuid')),
        )
        shape = _shape(data, hints.place)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Request(None, turn, text)
    teams = tuple(team for team in found if team is not None)
    return Request(teams, turn, shape)


def of_stack(hints: stack_hints.StackHints) -> Team | None:
    """Return the stack that hints tell of, if any."""
    if hints.root_stack_id is None:
        return None
    return 'stack', hints.root_stack_id, str(hints.project_id)


def of_group(policy: object, uuid: object) -> Team | None:
    """Return a server group, if its policy is a preference."""
    return (str(policy), str(uuid)) if policy in POLICIES else None


def _shape(data: Mapping[str, Any], place: str | None) -> str:
    """Return what decides which hosts are candidates, beside the size."""
    # A server that boots from a volume may have no image.
    image = (data['image'] or {}).get('nova_object.data', {})
    hints = (data['scheduler_hints'] or {}).items()
    parts = (
        *(place, data.get('availability_zone'), data.get('force_hosts')),
        data['flavor']['nova_object.data'].get('extra_specs'),
        image.get('properties', {}).get('nova_object.data'),
        {n: hint for n, hint in hints if not n.startswith(signature.PREFIX)},
    )
    return json.dumps(parts, sort_keys=True)
