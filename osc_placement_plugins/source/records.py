# SPDX-License-Identifier: Apache-2.0

"""Flavors, host aggregates, compute hosts and servers in Nova's answers."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching import inputs
from os_placement_plugins.text import listed, quote
from osc_placement_plugins.source import MICROVERSION

#: The columns of one object: column -> value.
Row = Mapping[str, Any]

_SERVER_HOST: Final = 'OS-EXT-SRV-ATTR:host'
_PUBLIC: Final = 'os-flavor-access:is_public'
#: The state of a host whose state cannot be determined.
UNKNOWN: Final = 'unknown'


class UnreadableError(ValueError):
    """The input cannot be used; the text says why."""


@dataclasses.dataclass(frozen=True, slots=True)
class Flavor:
    """A flavor.

    :param id: its ID, which an operator may give in place of the name.
    :param is_public: whether all users see the flavor, as far as known.
    """

    name: str
    extra_specs: Mapping[str, str]
    id: str = ''
    is_public: bool = True


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class HostAggregate(inputs.Aggregate):
    """A host aggregate with the names of its hosts, compared by identity."""

    hosts: tuple[str, ...] = ()

    # A matcher hashes and compares the aggregates of each host. By identity,
    # this is fast.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclasses.dataclass(frozen=True, slots=True)
class ComputeHost:
    """A compute host.

    :param aggregates: the aggregates of the host, sorted by name.
    :param state: the state of nova-compute: ``up``, ``disabled``, ``down``,
        ``disabled and down`` or ``unknown``; empty if there is no list of
        compute services.
    :param disabled_reason: why an operator or Nova has disabled the host.
    """

    name: str
    aggregates: tuple[inputs.Aggregate, ...] = ()
    state: str = ''
    disabled_reason: str = ''

    @property
    def usable(self) -> bool:
        """Tell whether nova-scheduler may use the host, as far as known."""
        return self.state in ('', 'up')

    @property
    def condition(self) -> str:
        """Return the state, with the reason if the host is disabled."""
        if not self.disabled_reason or 'disabled' not in self.state:
            return self.state
        return f'{self.state}: {quote(self.disabled_reason)}'


@dataclasses.dataclass(frozen=True, slots=True)
class CloudServer:
    """A server.

    :param host: the host that the server is on; empty if it is on no host,
        None if Nova does not show the host.
    :param flavor: the copy of the flavor that Nova keeps with the server and
        uses when the server moves; None if Nova does not show this copy,
        because the cell is down.
    :param aggregates: the aggregates of the host, once they are known.
    """

    name: str
    id: str
    host: str | None
    flavor: Flavor | None
    aggregates: tuple[inputs.Aggregate, ...] = ()


_NamedT = TypeVar('_NamedT', Flavor, CloudServer)


def parse_answer(noun: str, answer: object) -> list[Any]:
    """Return the records in an answer of Nova's API.

    :param noun: what the answer has: a key of :data:`_PARSERS`.
    :raises UnreadableError: if the answer has something else.
    """
    key, parse_row = _PARSERS[noun]
    rows = None
    if isinstance(answer, Mapping):
        rows = answer.get(key)
    if not isinstance(rows, list):
        raise UnreadableError(f'it is no JSON object with a list {key!r}')
    records = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise UnreadableError(f'{key!r} has something that is no object')
        record = parse_row(row)
        if record is not None:
            records.append(record)
    return records


def read_marker(noun: str, answer: Mapping[str, Any]) -> str | None:
    """Return the ID after which the next page begins.

    :param answer: an answer that :func:`parse_answer` has accepted.
    :returns: the ID; empty if the page is empty, None if it is the last one.
    """
    key, _ = _PARSERS[noun]
    if f'{key}_links' not in answer:
        return None
    rows = answer[key]
    if not rows:
        return ''
    return _text(rows[-1], 'id')


def _parse_flavor(row: Row) -> Flavor:
    name = _text(row, 'name')
    if not name:
        raise UnreadableError('a flavor has no name')
    extra_specs = _parse_properties(row, 'extra_specs', name)
    return Flavor(
        name, extra_specs, _text(row, 'id'), bool(row.get(_PUBLIC, True))
    )


def _parse_aggregate(row: Row) -> HostAggregate:
    name = _text(row, 'name')
    hosts = row.get('hosts')
    if not name or not isinstance(hosts, list):
        raise UnreadableError('an aggregate has no name, or no list of hosts')
    metadata = _parse_properties(row, 'metadata', name)
    return HostAggregate(name, metadata, tuple(map(str, hosts)))


def _parse_host(row: Row) -> ComputeHost | None:
    """Return a host without its aggregates; None for other services."""
    name = _text(row, 'host')
    if 'binary' not in row or not name:
        raise UnreadableError('a service has no binary, or no host')
    if row['binary'] != 'nova-compute':
        return None
    state = _parse_state(_text(row, 'status'), _text(row, 'state'))
    reason = _text(row, 'disabled_reason')
    return ComputeHost(name, state=state, disabled_reason=reason)


def _parse_state(status: str, state: str) -> str:
    """Return the state of a host, in the words of :class:`ComputeHost`.

    :param status: Nova's status. It is ``UNKNOWN`` if the cell is down.
    """
    words = [word for word in (status, state) if word in ('disabled', 'down')]
    if words:
        return ' and '.join(words)
    if (status, state) == ('enabled', 'up'):
        return 'up'
    return UNKNOWN


def _parse_server(row: Row) -> CloudServer:
    server_id = _text(row, 'id')
    name = _text(row, 'name')
    if row.get('status') == 'UNKNOWN' and 'flavor' not in row:
        # Nova shows such a row while the cell of the server is down.
        return CloudServer(
            name or server_id, server_id, host=None, flavor=None
        )
    flavor = row.get('flavor')
    if not isinstance(flavor, Mapping):
        raise UnreadableError(f'{name!r} has no flavor')
    host: str | None = _text(row, _SERVER_HOST)
    # Nova shows the host to administrators only, but a hash of the host to all
    # users. This ``hostId`` is empty if the server is on no host.
    if not host and row.get('hostId') != '':
        host = None
    flavor_name = _text(flavor, 'original_name') or '?'
    extra_specs = _parse_properties(flavor, 'extra_specs', name)
    return CloudServer(name, server_id, host, Flavor(flavor_name, extra_specs))


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    if value is None:
        return ''
    return str(value)


def _parse_properties(row: Row, column: str, name: str) -> dict[str, str]:
    """Return the extra specs or the metadata of the object with a name."""
    cell = row.get(column)
    # An empty object has no extra specs. Null says nothing about them.
    if not isinstance(cell, Mapping):
        raise UnreadableError(
            f'{name!r} has no {column}: the microversion is older than '
            f'{MICROVERSION}, or Nova does not show them to your user'
        )
    properties = {}
    for key, value in cell.items():
        if value is None or isinstance(value, (Mapping, list)):
            raise UnreadableError(f'{key!r} of {name!r} is not text')
        properties[key] = str(value)
    return properties


#: For each kind of object, its key in an answer, and what reads a row.
_PARSERS: Final[Mapping[str, tuple[str, Callable[[Row], Any]]]] = {
    'flavors': ('flavors', _parse_flavor),
    'aggregates': ('aggregates', _parse_aggregate),
    'hosts': ('services', _parse_host),
    'servers': ('servers', _parse_server),
}


def note_public(flavors: Iterable[Flavor]) -> str:
    """Return a sentence on flavors that may be missing; empty if none may."""
    if any(not flavor.is_public for flavor in flavors):
        return ''
    return (
        'All flavors that were read are public. Nova shows private flavors to '
        'administrators only, so some may be missing.'
    )


def select_named(
    records: Sequence[_NamedT],
    names: Iterable[str],
    noun: str,
    note: str = '',
) -> list[_NamedT]:
    """Return the flavors or servers that an operator named.

    :param records: all flavors or servers. Servers can have equal names, and
        a name can be the ID of another flavor.
    :param names: IDs or names.
    :param noun: what the records are, for error messages.
    :param note: a sentence on records that may be missing.
    :returns: each record once, in the order of ``names``.
    :raises UnreadableError: if a name fits no record, or several records.
    """
    selected: list[_NamedT] = []
    for name in names:
        matches = [each for each in records if name in (each.id, each.name)]
        if not matches:
            text = f'No {noun} has the name or ID {name!r}. {note}'
            raise UnreadableError(text.strip(' .'))
        if len(matches) > 1:
            texts = [f'{match.id} ({match.name})' for match in matches]
            raise UnreadableError(
                f'{len(matches)} {noun}s have the name or ID {name!r}; use '
                f'another name or ID of {listed(texts, 10)}'
            )
        if matches[0] not in selected:
            selected.append(matches[0])
    return selected
