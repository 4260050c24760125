# SPDX-License-Identifier: Apache-2.0

"""The states of the regions of a cluster, and their effects.

Version 1.1 of the policy keeps the states in the data of the cluster, under
:data:`KEY`, where the API shows them. All times are ISO 8601 in UTC, in whole
seconds, so they sort as text. The fields under the key are:

``states``
    region name -> :class:`State`, for each region in which the last check
    found a service that does not work.
``full``
    region name -> the time until which the region counts as full.
``servers``
    the servers that nodes have left behind, a list of :class:`Left`.
``looked``
    the time at which a health check last checked the regions.
"""

import dataclasses
import datetime
import enum
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

KEY: Final = 'region_placement'
#: The number of seconds by which a stored time may be later than the time of a
#: check. Such a difference is normal: the database returns the time of a check
#: before it waits for the lock on the cluster's row, and another check may
#: write a later time meanwhile. If the difference is larger, the silence of a
#: region counts as new.
LOCK_SECONDS: Final = 5


class Code(enum.StrEnum):
    """The state of a region with which something is wrong."""

    #: A service does not work. New nodes avoid the region, but no node moves.
    SILENT = 'silent'
    #: A service has not worked for a long time, or an operator has declared
    #: the region out. Nodes move to other regions.
    OUT = 'out'
    #: A service has not worked for a long time, but more than half of the
    #: regions are silent. No node moves.
    HELD = 'held'
    #: The cloud in the region has refused a node for lack of room.
    FULL = 'full'


class Cause(enum.StrEnum):
    """The cause of a region's state."""

    #: Keystone does not know the region.
    UNKNOWN = 'unknown'
    #: The catalog has no endpoint of a service.
    MISSING = 'missing'
    #: A service does not answer.
    NO_ANSWER = 'no answer'
    #: An operator has declared the region out.
    DECLARED = 'declared'
    #: The cloud in the region has refused a node.
    REFUSED = 'refused'


class Fault(NamedTuple):
    """A fault that one check has found in a region.

    :param cause: the kind of fault.
    :param service: the service that does not work; empty if no single service
        is the cause.
    :param dead: whether nodes in the region cannot even be deleted.
    """

    cause: Cause
    service: str = ''
    dead: bool = True

    @property
    def why(self) -> str:
        """The cause as text, for messages."""
        return {
            Cause.UNKNOWN: 'Keystone does not know it',
            Cause.MISSING: f'its catalog offers no {self.service}',
            Cause.NO_ANSWER: f'{self.service} does not answer',
            Cause.DECLARED: 'an operator has said so',
            Cause.REFUSED: 'it has refused a node',
        }[self.cause]


class State(NamedTuple):
    """The state of a region with which something is wrong.

    :param state: one of :class:`Code`.
    :param cause: one of :class:`Cause`.
    :param since: the time of the check that first found the current silence.
    :param due: the time from which the region counts as out, or until which it
        counts as full.
    :param last: the time of the last check.
    :param service: the service that does not work, if it is known.
    :param dead: whether nodes in the region cannot even be deleted.
    """

    state: str
    cause: str
    since: str = ''
    due: str = ''
    last: str = ''
    service: str = ''
    dead: bool = False

    @property
    def is_dead(self) -> bool:
        """Tell whether the region is out and its nodes cannot be deleted."""
        return self.dead and self.state == Code.OUT

    @property
    def moves(self) -> bool:
        """Tell whether a node of the region is recreated in another region."""
        return self.state in (Code.OUT, Code.FULL)

    @property
    def why(self) -> str:
        """The cause as text, for messages."""
        return Fault(Cause(self.cause), self.service).why

    def describe(self) -> str:
        """Return a text that, after the region's name, makes a sentence."""
        silent = f'is silent since {self.since} ({self.why})'
        out = f'is out ({self.why})'
        if self.since:
            out = f'is out since {self.since} ({self.why})'
        return {
            Code.SILENT: f'{silent}, and counts as out if this lasts until '
            f'{self.due}',
            Code.HELD: f'{silent}, and does not count as out because more '
            'than half of the regions are silent: declare it out if it is',
            Code.OUT: out,
            Code.FULL: f'is full until {self.due} ({self.why})',
        }[Code(self.state)]


_CODES: Final = frozenset(Code)
_CAUSES: Final = frozenset(Cause)
_TEXTS_OF_STATE: Final = ('state', 'cause', 'since', 'due', 'last', 'service')


class Left(NamedTuple):
    """A server or stack that a node has left behind and that may still exist.

    Senlin deletes such a server later, when its region works again.

    :param region: the region of the server.
    :param node: the id of the node that left the server behind.
    :param name: the name of the node.
    :param server: the id of the server; ``None`` if it is not known whether
        the server exists.
    :param ports: the ports of the server, as Senlin records them: ``remove``
        is true if Senlin created the port.
    :param since: when the node left the server behind.
    """

    region: str
    node: str
    name: str = ''
    server: str | None = None
    ports: Sequence[Any] = ()
    since: str = ''


_TEXTS_OF_LEFT: Final = ('region', 'node', 'name', 'since')


@dataclasses.dataclass(frozen=True)
class Notes:
    """The states of the regions of a cluster, and the servers left behind.

    The fields are those in the docstring of the module. Only ``servers`` is
    called ``left`` here.
    """

    states: Mapping[str, State] = dataclasses.field(default_factory=dict)
    full: Mapping[str, str] = dataclasses.field(default_factory=dict)
    left: Sequence[Left] = ()
    looked: str = ''

    def leave(self, entry: Left) -> 'Notes':
        """Return a copy with one more server left behind.

        If the notes have the server already, they are returned unchanged.
        """
        if _identity(entry) in map(_identity, self.left):
            return self
        return self._with(left=[*self.left, entry])

    def clear(self, gone: Iterable[Left]) -> 'Notes':
        """Return a copy without some of the servers left behind.

        :param gone: the servers that need not be noted any more.
        """
        identities = set(map(_identity, gone))
        left = [
            entry for entry in self.left if _identity(entry) not in identities
        ]
        return self._with(left=left)

    def refuse(self, region: str, now: str, seconds: int) -> 'Notes':
        """Return a copy in which a region counts as full for some seconds."""
        return self._with(full={**self.full, region: _later(now, seconds)})

    def observe(
        self,
        faults: Mapping[str, Fault],
        named: Collection[str],
        now: str,
        seconds: int,
    ) -> 'Notes':
        """Return a copy after a check of the regions.

        A region is out if this check and two earlier checks have found the
        region silent, and the earlier checks are at least ``seconds`` apart.

        :param faults: the faults that the check has found.
        :param named: the regions that take nodes. If more than half of them
            are silent, no region becomes out: the fault may be in the network
            of this engine.
        :param seconds: how long silence must last.
        """
        most_silent = 2 * len(faults.keys() & {*named}) > len(named)
        states = {}
        for name, fault in sorted(faults.items()):
            silence = self._find_silence(name, fault, now)
            since = now
            due = _later(now, seconds)
            code = Code.SILENT
            if silence:
                since = silence.since
                due = silence.due
                if silence.last >= due:
                    code = Code.HELD if most_silent else Code.OUT
            states[name] = State(
                state=code.value,
                cause=fault.cause.value,
                since=since,
                due=due,
                last=now,
                service=fault.service,
                dead=fault.dead,
            )
        return self._with(states=states, full=self._still_full(now))

    def _find_silence(self, name: str, fault: Fault, now: str) -> State | None:
        """Return the earlier state of a region whose silence continues."""
        state = self.states.get(name)
        if not state or state.dead != fault.dead:
            return None
        # A stored time that is much later than now comes from another clock,
        # so the duration of the silence is unknown.
        latest = _later(now, LOCK_SECONDS)
        if max(state.since, state.last) > latest:
            return None
        return state

    def in_force(self, declared: Iterable[str], now: str) -> dict[str, State]:
        """Return the states of the regions that are silent, out, held or full.

        :param declared: the regions that an operator has declared out.
        """
        states = {}
        for name, until in self._still_full(now).items():
            states[name] = State(
                Code.FULL.value, Cause.REFUSED.value, due=until
            )
        states.update(self.states)
        declared_out = State(Code.OUT.value, Cause.DECLARED.value, dead=True)
        states.update(dict.fromkeys(declared, declared_out))
        return states

    def remaining(self, forgotten: Collection[str]) -> list[Left]:
        """Return the servers left behind, except the forgotten ones.

        :param forgotten: the ids of the servers that the cluster's owner has
            forgotten, or of their nodes.
        """
        return [
            entry
            for entry in self.left
            if entry.server not in forgotten and entry.node not in forgotten
        ]

    def write(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a cluster with these states.

        :param data: the data before the change.
        """
        stored: dict[str, Any] = {}
        if self.states:
            stored['states'] = {
                name: state._asdict() for name, state in self.states.items()
            }
        if self.full:
            stored['full'] = dict(self.full)
        if self.left:
            stored['servers'] = [entry._asdict() for entry in self.left]
        if self.looked:
            stored['looked'] = self.looked
        new_data = {**data}
        new_data.pop(KEY, None)
        if stored:
            new_data[KEY] = stored
        return new_data

    def _still_full(self, now: str) -> dict[str, str]:
        """Return the regions that are still full, and until when."""
        return {
            name: until for name, until in self.full.items() if until > now
        }

    def _with(self, **changes: Any) -> 'Notes':
        return dataclasses.replace(self, **changes)


def read(data: Mapping[str, Any] | None) -> Notes:
    """Read the states of the regions from the data of a cluster.

    :param data: the data. Another version of this package may have written
        them. Entries that this version cannot read are ignored, and so are
        unknown fields.
    """
    stored = _mapping((data or {}).get(KEY))
    states = {}
    for name, item in _mapping(stored.get('states')).items():
        fields = _fields(item, State, _TEXTS_OF_STATE)
        if fields.get('state') in _CODES and fields.get('cause') in _CAUSES:
            states[name] = State(**fields)
    full = {
        name: until
        for name, until in _mapping(stored.get('full')).items()
        if isinstance(until, str)
    }
    left = []
    servers = stored.get('servers')
    for item in servers if isinstance(servers, list) else ():
        fields = _fields(item, Left, _TEXTS_OF_LEFT)
        if not isinstance(fields.get('ports'), list | tuple):
            fields['ports'] = ()
        if fields.get('region') and fields.get('node'):
            left.append(Left(**fields))
    looked = stored.get('looked')
    if not isinstance(looked, str):
        looked = ''
    return Notes(states, full, left, looked)


def _mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is a mapping, or else an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def _fields(
    item: object, kind: type[State | Left], texts: Collection[str]
) -> dict[str, Any]:
    """Return the usable fields of a stored item.

    :param kind: the class with the names of the fields.
    :param texts: the fields that are usable only if they are texts.
    """
    stored = _mapping(item)
    fields = {}
    for key in kind._fields:
        if key not in stored:
            continue
        if key not in texts or isinstance(stored[key], str):
            fields[key] = stored[key]
    return fields


def show_time(time: datetime.datetime) -> str:
    """Return a time in the stored format.

    :param time: the time, with a time zone.
    """
    return time.astimezone(datetime.UTC).isoformat(timespec='seconds')


def _later(time: str, seconds: int) -> str:
    """Return a time some seconds later."""
    then = datetime.datetime.fromisoformat(time)
    return show_time(then + datetime.timedelta(seconds=seconds))


def _identity(entry: Left) -> tuple[str, str, str | None]:
    """Return the fields that identify a server left behind."""
    return entry.region, entry.node, entry.server
