# SPDX-License-Identifier: Apache-2.0

"""The members of stacks and server groups, with their hosts and their order.

A member is *in flight* while a scheduler chooses its host, and until the host
is in the database of the cell. Ids in the databases order the members in
flight, so every scheduler process finds the same order.
"""

import collections
import datetime
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs
from os_placement_plugins import signature, stack_hints

#: A stack or a server group. A stack: ``('stack', id of the root stack, id of
#: the project)``. A server group: ``(policy, uuid)``.
Team = tuple[str, ...]
#: The soft policies of server groups. True: the members are packed into few
#: places. False: the members are spread over many places.
POLICIES: Final = {'soft-affinity': True, 'soft-anti-affinity': False}
#: An SQL statement finds the stored requests of members by these texts: those
#: of stacks by the first text, those of soft server groups by the second text.
WORDS: Final = (stack_hints.ROOT_STACK_ID, '"soft-a')
#: If a member in flight started more than this time before the server that is
#: to be placed, the boot or move of the member counts as failed.
IN_FLIGHT: Final = datetime.timedelta(minutes=10)
#: The actions of Nova that move a server.
UNSHELVE: Final = 'unshelve'
MOVES: Final = (UNSHELVE, 'evacuate', 'migrate', 'live-migration', 'resize')

#: The hints, and then the image properties, by which Nova's filters and
#: Placement exclude hosts.
_HINTS: Final = (
    'build_near_host_ip',
    'cidr',
    'different_host',
    'query',
    'same_host',
    'target_cell',
)
_PROPERTIES: Final = (
    'hw_architecture',
    'hw_cpu_policy',
    'hw_cpu_thread_policy',
    'hw_mem_encryption',
    'hw_mem_page_size',
    'hw_numa_nodes',
    'hw_pci_numa_affinity_policy',
    'hw_vm_mode',
    'img_hv_requested_version',
    'img_hv_type',
    'traits_required',
)
#: Namespaces of extra specs that have no effect on the choice of hosts.
_IDLE: Final = ('nova_filters:', 'quota:')


class Turn(NamedTuple):
    """The data by which the members in flight are ordered.

    :param moves: whether the server moves; otherwise it is booted.
    :param number: the id of the move's action, or of the stored request.
    :param time: the time of the move's action, or of the stored request.
    :param origin: the host that the server leaves; None if it had no host.
    """

    moves: bool
    number: int
    time: datetime.datetime
    origin: str | None = None

    def has_failed(self, other: 'Turn') -> bool:
        """Tell whether the boot or move of this turn counts as failed.

        :param other: the turn of the server that is to be placed.
        """
        return other.time - self.time > IN_FLIGHT

    def before(self, other: 'Turn') -> bool:
        """Tell whether the server of this turn is placed before another.

        :param other: the turn of the other server.
        """
        if self.has_failed(other):
            return False
        if not self.moves and not other.moves:
            return self.number < other.number
        # Ids from different tables or cells cannot be compared.
        return (self.time, self.number) < (other.time, other.number)


#: The host of a server, or its turn while it is in flight.
Position = str | Turn


class Rules(NamedTuple):
    """The settings that say which parts of a request decide its candidates.

    :param aggregates: whether ``AggregateInstanceTypeFilter`` is enabled, so
        that this package can tell which hosts pass.
    :param images: whether all properties of images count, because a filter
        compares them with the metadata of aggregates.
    :param isolated_images: the ids of the images that may only use certain
        hosts.
    :param groups: whether ``ServerGroupWeigher`` follows the soft policies of
        server groups.
    """

    aggregates: bool
    images: bool
    isolated_images: frozenset[str]
    groups: bool


class Request(NamedTuple):
    """The data of a server's stored request, which never change.

    :param teams: the server's stack and server group, if any. None if the
        request cannot be read.
    :param turn: the turn of the server's boot.
    :param shape: a digest of the properties that decide the candidates. The
        size of the flavor is left out, and so are the extra specs that
        ``AggregateInstanceTypeFilter`` judges. If the request cannot be read,
        the shape is the stored text.
    :param flavor: the extra specs of the flavor, as JSON; empty if
        ``AggregateInstanceTypeFilter`` is not enabled.
    """

    teams: tuple[Team, ...] | None
    turn: Turn
    shape: str
    flavor: str = ''


class Server(NamedTuple):
    """The data of a server in the database of a cell.

    :param project: the id of the project that owns the server.
    :param action: one of :data:`MOVES`; empty if the server does not move.
    :param turn: the turn of the move; None if the server does not move.
    :param destination: the host to which the server moves, if it is known.
    """

    project: str
    host: str | None
    vm_state: str | None
    action: str = ''
    turn: Turn | None = None
    destination: str | None = None

    def position(self, boot: Turn | None) -> Position | None:
        """Return where the server is; None if it is shelved or has failed.

        :param boot: the turn of the server's boot, if known.
        """
        if self.turn is None or (self.action == UNSHELVE and self.host):
            if self.host:
                return self.host
            if self.vm_state == 'building':
                return boot
            return None
        return self.destination or self.turn._replace(origin=self.host)


class Sight(NamedTuple):
    """The members of a team that count for a server that is to be placed.

    :param counts: the number of members on each host.
    :param ahead: the flavors of the members in flight that are placed before
        the server and have the same shape, in the order of their turns.
    :param shape: the shape of the server, as in :class:`Request`.
    :param flavor: the flavor of the server, as in :class:`Request`.
    :param unread: the cells that could not be read, and the servers whose
        request could not be read. Further members may be in these cells, or
        among these servers.
    :param is_in_cell: whether the server is already in a cell.
    """

    counts: Mapping[str, int]
    ahead: Sequence[str]
    shape: str = ''
    flavor: str = ''
    unread: tuple[str, ...] = ()
    is_in_cell: bool = False


def see(
    team: Team,
    server: str,
    requests: Mapping[str, Request | None],
    positions: Mapping[str, Position],
) -> Sight:
    """Return the members that count for a server, without the server itself.

    :param server: the id of the server that is to be placed.
    :param requests: the requests of servers; None if a server is in no team.
    :param positions: the positions of servers. Servers without a position are
        left out.
    """
    counts, in_flight = _find_members(team, server, requests, positions)
    own_request = requests.get(server)
    if own_request is None and in_flight:
        # The server's own request is not visible in the database yet. Use the
        # request of the last member in flight, which is mostly alike.
        _, own_request = in_flight[-1]
    own_turn = positions.get(server)
    ahead = []
    for turn, request in in_flight:
        # If the server has no turn, all members in flight come first.
        if isinstance(own_turn, Turn) and not turn.before(own_turn):
            if turn.has_failed(own_turn) and turn.origin is not None:
                # The move has failed, so the member is on its old host.
                counts[turn.origin] += 1
        elif own_request is not None and request.shape == own_request.shape:
            ahead.append(request.flavor)
    sight = Sight(
        counts,
        ahead,
        unread=_find_unread(team, server, requests, positions),
    )
    if own_request is None:
        return sight
    return sight._replace(shape=own_request.shape, flavor=own_request.flavor)


def _find_members(
    team: Team,
    server: str,
    requests: Mapping[str, Request | None],
    positions: Mapping[str, Position],
) -> tuple[collections.Counter[str], list[tuple[Turn, Request]]]:
    """Return the members except the server. For parameters, see :func:`see`.

    :returns: the number of members on each host, and the members in flight in
        the order of :meth:`Turn.before`.
    """
    counts: collections.Counter[str] = collections.Counter()
    in_flight: list[tuple[Turn, Request]] = []
    moves = False
    for member, position in positions.items():
        request = requests.get(member)
        if request is None or member == server:
            continue
        if team not in (request.teams or ()):
            continue
        if isinstance(position, str):
            counts[position] += 1
        else:
            in_flight.append((position, request))
            moves = moves or position.moves
    if moves:
        in_flight.sort(key=lambda member: (member[0].time, member[0].number))
    else:
        in_flight.sort(key=lambda member: member[0].number)
    return counts, in_flight


def _find_unread(
    team: Team,
    server: str,
    requests: Mapping[str, Request | None],
    positions: Mapping[str, Position],
) -> tuple[str, ...]:
    """Return the possible members whose requests cannot be read.

    The parameters are those of :func:`see`.
    """
    unread = []
    for member in positions:
        request = requests.get(member)
        if request is None or request.teams is not None or member == server:
            continue
        # The shape of an unreadable request is its text. If the text lacks the
        # ids of the team, the server is no member, and must not be listed:
        # TeamSpreadFilter refuses every host if a member is unread.
        if all(part in request.shape for part in team[1:]):
            unread.append(f'server {member}')
    return tuple(unread)


def read_request(
    number: int,
    created: datetime.datetime,
    text: str,
    keys: signature.Keys,
    rules: Rules,
) -> Request:
    """Read a row of Nova's table ``request_specs``.

    :param text: the column ``spec``: a RequestSpec, serialized as JSON.
    :param rules: the settings that the shape depends on.
    """
    turn = Turn(False, number, created)
    try:
        data = json.loads(text)['nova_object.data']
        hints = stack_hints.read(
            data['scheduler_hints'], data.get('project_id'), keys
        )
        group = (data.get('instance_group') or {}).get('nova_object.data', {})
        group_team = of_group(group.get('policy'), group.get('uuid'))
        extra_specs = (
            data['flavor']['nova_object.data'].get('extra_specs') or {}
        )
        group_uuid = group.get('uuid')
        if group_team is not None and not rules.groups:
            # Soft policies have no effect, so the shape must not depend on
            # the group.
            group_uuid = None
        shape = _shape(
            data,
            extra_specs=extra_specs,
            group=group_uuid,
            rules=rules,
        )
        flavor = ''
        if rules.aggregates:
            # Many servers have equal flavors: keep each text only once.
            flavor = sys.intern(json.dumps(extra_specs, sort_keys=True))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Request(None, turn, text)
    possible_teams = (of_stack(hints), group_team)
    teams = tuple(team for team in possible_teams if team is not None)
    return Request(teams, turn, shape, flavor)


def of_stack(hints: stack_hints.StackHints) -> Team | None:
    """Return the stack that the hints name, as a team."""
    if hints.root_stack_id is None:
        return None
    return 'stack', hints.root_stack_id, str(hints.project_id)


def of_group(policy: object, uuid: object) -> Team | None:
    """Return a server group as a team, if its policy is soft."""
    if policy not in POLICIES:
        return None
    return str(policy), str(uuid)


def _shape(
    data: Mapping[str, Any],
    extra_specs: Mapping[str, str],
    group: str | None,
    rules: Rules,
) -> str:
    """Return a digest of the properties that decide the candidates.

    :param data: the data of the stored request.
    :param extra_specs: the extra specs of the flavor.
    :param group: the uuid of the server group, if its policy has an effect.
    """
    # A server that boots from a volume may have no image.
    image = (data['image'] or {}).get('nova_object.data', {})
    properties = image.get('properties', {}).get('nova_object.data') or {}
    hints = data['scheduler_hints'] or {}
    decisive_specs = {
        name: value
        for name, value in extra_specs.items()
        if _is_decisive(name, rules)
    }
    decisive_properties = {
        name: value
        for name, value in properties.items()
        if rules.images or name in _PROPERTIES
    }
    decisive_hints = {name: hints[name] for name in _HINTS if name in hints}
    parts = (
        group,
        data.get('availability_zone'),
        data.get('force_hosts'),
        data.get('force_nodes'),
        image.get('id') in rules.isolated_images,
        decisive_specs,
        decisive_properties,
        decisive_hints,
    )
    text = json.dumps(parts, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _is_decisive(name: str, rules: Rules) -> bool:
    """Tell whether an extra spec is part of the shape."""
    if rules.aggregates and (':' not in name or name.startswith(inputs.SCOPE)):
        # other_flavors.find_candidates() judges this extra spec by the
        # aggregates.
        return False
    if name.startswith(_IDLE):
        return False
    return inputs.PREFERENCE.fullmatch(name) is None
