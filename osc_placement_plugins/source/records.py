# SPDX-License-Identifier: Apache-2.0

"""Flavors, host aggregates, compute hosts and servers, read from rows.

A row is one object with its columns. It comes from the output of the
``openstack`` shell or from Nova's API, which name some columns differently.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching import inputs
from os_placement_plugins.text import listed, quote
from osc_placement_plugins.source import SAVING

#: The columns of one object: column -> value.
Row = Mapping[str, Any]

#: The key under which an answer of Nova's API has each kind of object.
KEYS: Final = {
    'flavors': 'flavors',
    'aggregates': 'aggregates',
    'hosts': 'services',
    'servers': 'servers',
}
#: The columns that can have extra specs or metadata: in the shell, and in
#: Nova's API for flavors and for aggregates.
_PROPERTIES: Final = ('properties', 'extra_specs', 'metadata')
_SERVER_HOST: Final = 'os-ext-srv-attr:host'
_ZONE: Final = 'availability_zone'
#: The state of a host whose state cannot be determined.
UNKNOWN: Final = 'unknown'


class UnreadableError(ValueError):
    """The input cannot be used; the text says what to give instead."""


@dataclasses.dataclass(frozen=True, slots=True)
class Flavor:
    """A flavor.

    :param id: its ID, which an operator may give in place of the name.
    """

    name: str
    extra_specs: Mapping[str, str]
    id: str = ''


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


def parse_document(noun: str, document: object, origin: str) -> list[Any]:
    """Return the records in a document.

    :param noun: what the records are: a key of :data:`KEYS`.
    :param document: a row, a list of rows, or an answer of Nova's API.
    :param origin: where the document comes from, for error messages.
    :raises UnreadableError: if the document has something else.
    """
    entries = document if isinstance(document, list) else [document]
    if isinstance(document, Mapping):
        for key in KEYS.values():
            if isinstance(document.get(key), list):
                entries = document[key]
    records = []
    try:
        for entry in entries:
            record = _PARSERS[noun](_normalize(entry))
            if record is not None:
                records.append(record)
    except UnreadableError as exc:
        raise UnreadableError(
            f'Cannot use {origin}: {exc}; save the {noun} with '
            f'"{SAVING[noun]}"'
        ) from exc
    return records


def _normalize(entry: object) -> Row:
    """Return a row with lower case and underscores in its columns."""
    if not isinstance(entry, Mapping):
        raise UnreadableError('it is no list of objects')
    return {
        column.lower().replace(' ', '_'): value
        for column, value in entry.items()
    }


def has_next_page(document: object) -> bool:
    """Tell whether an answer of Nova's API has a link to the next page."""
    if not isinstance(document, Mapping):
        return False
    return any(f'{key}_links' in document for key in KEYS.values())


def _parse_flavor(row: Row) -> Flavor:
    name = _text(row, 'name')
    if not name or 'hosts' in row:
        raise UnreadableError('a row is no flavor with a name')
    return Flavor(name, _parse_properties(row, name), _text(row, 'id'))


def _parse_aggregate(row: Row) -> HostAggregate:
    name = _text(row, 'name')
    hosts = row.get('hosts')
    if not name or not isinstance(hosts, list):
        raise UnreadableError('a row is no aggregate with a list of hosts')
    metadata = _parse_properties(row, name)
    zone = row.get(_ZONE)
    if zone is not None:
        # The client shows this metadata key in a column of its own.
        metadata.setdefault(_ZONE, str(zone))
    return HostAggregate(name, metadata, tuple(map(str, hosts)))


def _parse_host(row: Row) -> ComputeHost | None:
    """Return a host without its aggregates; None for other services."""
    name = _text(row, 'host')
    # Hypervisors can have other names than hosts, and a list of them does not
    # say which hosts are disabled.
    if 'binary' not in row or not name:
        raise UnreadableError('a row is no compute service')
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
    if not isinstance(flavor, Mapping) or 'extra_specs' not in flavor:
        raise UnreadableError(f'{name!r} has no flavor with extra specs')
    host: str | None = _text(row, _SERVER_HOST)
    # Nova shows the host to administrators only, but a hash of the host to all
    # users. This ``hostId`` is empty if the server is on no host.
    if not host and row.get('hostid') != '':
        host = None
    flavor_name = _text(flavor, 'original_name') or '?'
    extra_specs = _parse_properties(flavor, name)
    return CloudServer(name, server_id, host, Flavor(flavor_name, extra_specs))


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    if value is None:
        return ''
    return str(value)


def _parse_properties(row: Row, name: str) -> dict[str, str]:
    """Return the extra specs or metadata of the object with a name."""
    cells = [row[column] for column in _PROPERTIES if column in row]
    # An empty object has no extra specs. Null says nothing about them.
    if not cells or not isinstance(cells[0], Mapping):
        raise UnreadableError(f'{name!r} has no column "Properties" with keys')
    properties = {}
    for key, value in cells[0].items():
        if value is None or isinstance(value, (Mapping, list)):
            raise UnreadableError(f'{key!r} of {name!r} is not text')
        properties[key] = str(value)
    return properties


_PARSERS: Final = {
    'flavors': _parse_flavor,
    'aggregates': _parse_aggregate,
    'hosts': _parse_host,
    'servers': _parse_server,
}


def select_named(
    records: Sequence[_NamedT], names: Iterable[str], noun: str
) -> list[_NamedT]:
    """Return the flavors or servers that an operator named.

    :param records: all flavors or servers. Servers can have equal names.
    :param names: IDs or names. If a text is an ID and a name, the ID counts.
    :param noun: what the records are, for error messages.
    :returns: each record once, in the order of ``names``.
    :raises UnreadableError: if a name fits no record, or several records.
    """
    selected: list[_NamedT] = []
    for name in names:
        matches = [record for record in records if record.id == name]
        if not matches:
            matches = [record for record in records if record.name == name]
        if not matches:
            raise UnreadableError(f'No {noun} has the name or ID {name!r}')
        if len(matches) > 1:
            ids = listed([match.id for match in matches], 10)
            raise UnreadableError(
                f'{len(matches)} {noun}s have the name {name!r}; use an ID: '
                f'{ids}'
            )
        if matches[0] not in selected:
            selected.append(matches[0])
    return selected
