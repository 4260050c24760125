# SPDX-License-Identifier: Apache-2.0

"""The members of a stack or server group, with their hosts and their order.

A member is *pending* while a scheduler chooses its host, and until the host is
in the database of the cell. Ids in the databases order the pending members, so
every scheduler process finds the same order.
"""

import collections
import datetime
from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

#: A stack or a server group. A stack: ``('stack', id of the root stack, id of
#: the project)``. A server group: ``(policy, uuid)``.
Team = tuple[str, ...]
STACK: Final = 'stack'
STRICT: Final = 'anti-affinity'
#: The policies of server groups that are followed. True: the members are
#: packed onto few hosts. False: the members are spread over many hosts.
POLICIES: Final = {
    'soft-affinity': True,
    'affinity': True,
    'soft-anti-affinity': False,
    STRICT: False,
}
#: If a pending member started more than this time before the server that is to
#: be placed, the boot or move of the member counts as failed.
PENDING: Final = datetime.timedelta(minutes=10)
#: The actions of Nova that move a server.
UNSHELVE: Final = 'unshelve'
RESIZE: Final = 'resize'
MOVES: Final = (UNSHELVE, RESIZE, 'evacuate', 'migrate', 'live-migration')
#: The queue of all boots. The moves in a cell are a queue, too.
BOOTS: Final = ''


class Turn(NamedTuple):
    """The data by which the pending members are ordered.

    :param queue: :data:`BOOTS`, or the cell in which the server moves. The
        numbers order the turns of one queue.
    :param number: the id of the row that names the member, or of the move's
        action.
    :param time: when nova-api stored the request or the action. The clocks of
        several nova-api differ.
    """

    queue: str
    number: int
    time: datetime.datetime


class Pending(NamedTuple):
    """A pending member.

    :param kind: a digest of the properties that decide its candidates.
    :param origin: the host that the member leaves; None if it had no host.
    :param action: one of :data:`MOVES`; empty if the member is booted.
    """

    server: str
    turn: Turn
    kind: str = ''
    origin: str | None = None
    action: str = ''


class StoredMembers(NamedTuple):
    """The members of a team, as Nova's databases have them.

    :param hosts: the hosts of members, by the ids of the members.
    :param pending: the pending members, in any order.
    :param kinds: the kinds of the team's first members, without repetition.
    :param unread: the cells, and the requests of servers, that could not be
        read. Further members may be in these cells, or among these servers.
    """

    hosts: Mapping[str, str]
    pending: Collection[Pending]
    kinds: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Members(NamedTuple):
    """The members of a team that count for a server that is to be placed.

    :param counts: the number of members on each host.
    :param ahead: the pending members that are placed before the server.
    :param server: the server itself.
    :param kinds: the kinds of the team's first members, without repetition.
    """

    counts: collections.Counter[str]
    ahead: Collection[Pending]
    server: Pending
    kinds: tuple[str, ...] = ()

    def kind_number(self, member: Pending) -> int:
        """Return the number of a member's kind among those of the team."""
        if member.kind not in self.kinds:
            return 0
        return self.kinds.index(member.kind)

    def is_alike(self, member: Pending) -> bool:
        """Tell whether a member is of the server's kind.

        Nobody knows the candidates of other kinds.
        """
        return member.kind == self.server.kind


def list_before(server: str, pending: Iterable[Pending]) -> list[Pending]:
    """Return the pending members that are placed before a server, in order.

    :param server: the id of the server, which is one of them.
    """
    before = []
    for member in sort_pending(pending):
        if member.server == server:
            break
        before.append(member)
    return before


def list_asked(server: str, pending: Collection[Pending]) -> list[Pending]:
    """Return the pending members whose claims count for a server.

    These are the members before it, and all of other queues. Times are in
    seconds, and clocks differ. So a member of another queue may have chosen
    its host before the server could be seen, and still come later.

    :param server: the id of the server, which is one of them.
    """
    before = list_before(server, pending)
    (own,) = (member for member in pending if member.server == server)
    later = [
        member
        for member in pending
        if member.turn.queue != own.turn.queue and member not in before
    ]
    return before + later


def count_members(
    server: str, stored: StoredMembers, claimed: Mapping[str, str | None]
) -> Members:
    """Return the members that count for a server, without the server itself.

    :param server: the id of the server that is to be placed, and is pending.
    :param claimed: the hosts that pending members have claimed, by server;
        None for hosts of which nothing is known.
    """
    counts = collections.Counter(stored.hosts.values())
    counts.update(host for host in claimed.values() if host)
    (own,) = (member for member in stored.pending if member.server == server)
    earliest = own.turn.time - PENDING
    ahead = []
    for member in list_before(server, stored.pending):
        if member.server in claimed:
            continue
        if member.turn.time >= earliest:
            ahead.append(member)
        elif member.origin:
            # The move has failed, and leaves the member where it was.
            counts[member.origin] += 1
    return Members(counts, ahead, own, stored.kinds)


def sort_pending(members: Iterable[Pending]) -> list[Pending]:
    """Return pending members in the order in which they are placed.

    Numbers order the members of one queue. Times order the queues, since ids
    of different tables cannot be compared. In a queue, a clock that is behind
    counts as the latest time so far.
    """
    latest: dict[str, datetime.datetime] = {}
    by_time = []
    for member in sorted(members, key=lambda member: member.turn.number):
        turn = member.turn
        time = max(turn.time, latest.get(turn.queue, turn.time))
        latest[turn.queue] = time
        by_time.append((time, turn.queue, turn.number, member))
    by_time.sort()
    return [member for *_, member in by_time]
