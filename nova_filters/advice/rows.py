# SPDX-License-Identifier: Apache-2.0

"""Read flavors, aggregates, hosts and servers.

Rows in, records out. A row is what ``openstack … list --long -f json`` or
``openstack … show -f json`` prints for one object, or what Nova's API answers:
an operator can save the rows and use the commands elsewhere. The names of the
columns differ between these forms, and between releases of the client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from nova_filters.advice import inventory
from nova_filters.advice.inventory import UnreadableError

#: A row of a file.
Row = Mapping[str, object]

_PROPERTIES: Final = ('properties', 'extra_specs', 'metadata')
#: The columns that may hold a host's name; aggregates use the first one.
_HOST: Final = (
    'host',
    'service_host',
    'host_name',
    'hypervisor_hostname',
)
#: Columns of which a list of hosts has none: it is of something else.
_NO_HOST: Final = ('flavor', 'hosts', *_PROPERTIES)
#: What Nova's API calls the objects of an answer.
_ANSWERS: Final = frozenset(
    f'{noun}{plural}'
    for noun in ('flavor', 'aggregate', 'service', 'hypervisor', 'server')
    for plural in ('', 's')
)
#: Beside its objects, an answer that is a page has a link to the next one.
_LINKS: Final = frozenset(f'{name}_links' for name in _ANSWERS)
_SERVER_HOST: Final = (
    'os-ext-srv-attr:host',
    'compute_host',
    'host',
    'os-ext-srv-attr:hypervisor_hostname',
)

_RecordT = TypeVar('_RecordT', inventory.Flavor, inventory.HostAggregate)


def read_flavors(rows: Iterable[Row]) -> list[inventory.Flavor]:
    """Return the flavors that rows describe.

    :raises UnreadableError: if a column is missing.
    """
    command = 'openstack flavor list --all --long -f json'
    found = []
    for row in map(columns, rows):
        name = _name(row, command)
        if 'hosts' in row:
            raise UnreadableError(f'{name!r} is an aggregate, and no flavor')
        extra_specs = _properties(row, name, command)
        found.append(inventory.Flavor(name, extra_specs, _text(row, 'id')))
    return _unique(found, 'flavor')


def read_aggregates(rows: Iterable[Row]) -> list[inventory.HostAggregate]:
    """Return the aggregates that rows describe.

    :returns: the aggregates. The client shows the metadata key
        ``availability_zone`` in a column of its own; here the key is
        metadata again.
    :raises UnreadableError: if a column is missing.
    """
    command = 'openstack aggregate list --long -f json'
    found = []
    for row in map(columns, rows):
        name = _name(row, command)
        metadata = _properties(row, name, command)
        zone = row.get('availability_zone')
        if zone is not None:
            metadata.setdefault('availability_zone', str(zone))
        if 'hosts' not in row:
            raise UnreadableError(
                f'{name!r} has no column "Hosts"; save it with "{command}"'
            )
        hosts = row['hosts'] or []
        if not isinstance(hosts, list):
            raise UnreadableError(f'the hosts of {name!r} are no list')
        found.append(
            inventory.HostAggregate(
                name, metadata, tuple(map(str, hosts)), _text(row, 'id')
            )
        )
    return _unique(found, 'aggregate')


def read_hosts(rows: Iterable[Row]) -> list[inventory.Host]:
    """Return the compute hosts that rows describe, and their states.

    :param rows: the output of the client on services or hypervisors.
    :returns: the hosts; services other than nova-compute are left out.
    :raises UnreadableError: if a column is missing.
    """
    found = []
    for row in map(columns, rows):
        if row.get('binary') not in (None, 'nova-compute'):
            continue
        service = row.get('service')
        # The service's name is the one that aggregates have.
        inner = service if isinstance(service, Mapping) else {}
        name = _text(inner, 'host') or _text(row, *_HOST)
        if not name or not row.keys().isdisjoint(_NO_HOST):
            raise UnreadableError(
                'a row is not a host; save it with "openstack compute service '
                'list --service nova-compute -f json"'
            )
        state = inventory.state_of(_text(row, 'status'), _text(row, 'state'))
        found.append(inventory.Host(name, state=state))
    return found


def read_servers(rows: Iterable[Row]) -> list[inventory.Server]:
    """Return the servers that rows describe.

    :raises UnreadableError: if a column is missing, or if the flavor in it
        is a mere name.
    """
    command = (
        'openstack --os-compute-api-version 2.47 server show -f json SERVER'
    )
    found = []
    for row in map(columns, rows):
        name = _name(row, command)
        given = row.get('flavor')
        flavor = columns(given) if isinstance(given, Mapping) else {}
        if flavor.keys().isdisjoint(_PROPERTIES):
            raise UnreadableError(
                f'server {name!r} comes without the extra specs of its '
                f'flavor; save it with "{command}", or what GET '
                '/servers/detail answers with microversion 2.47 or newer'
            )
        found.append(
            inventory.Server(
                name=name,
                id=_text(row, 'id'),
                host=_text(row, *_SERVER_HOST),
                flavor=inventory.Flavor(
                    _text(flavor, 'original_name', 'name') or '?',
                    _properties(flavor, name, command),
                ),
            )
        )
    return found


def unwrap(documents: Iterable[object]) -> Iterator[Row]:
    """Yield the rows of documents.

    :param documents: rows, lists of rows, or answers of Nova's API.
    :raises UnreadableError: if one is something else.
    """
    for document in documents:
        inner = document
        if isinstance(document, Mapping):
            names = [key for key in document if key not in _LINKS]
            if len(names) == 1 and names[0] in _ANSWERS:
                inner = document[names[0]]
        for entry in inner if isinstance(inner, list) else [inner]:
            if not isinstance(entry, Mapping):
                raise UnreadableError(
                    'it does not hold what "openstack … -f json" prints; use '
                    '-f json'
                )
            yield entry


def continues(document: object) -> bool:
    """Tell whether an answer of Nova's API has a link to the next page."""
    return isinstance(document, Mapping) and not _LINKS.isdisjoint(document)


def columns(row: Row) -> Row:
    """Return a row with all column names in one form.

    :returns: the row, its columns in lower case, with underscores.
    """
    return {
        str(column).strip().lower().replace(' ', '_'): value
        for column, value in row.items()
    }


def _text(row: Row, *names: str) -> str:
    """Return the first of some columns that has a value; empty if none."""
    values = (row.get(name) for name in names)
    return str(next((value for value in values if value is not None), ''))


def _name(row: Row, command: str) -> str:
    """Return the name of a row's object."""
    name = _text(row, 'name', 'original_name')
    if not name:
        raise UnreadableError(
            f'a row has no column "Name"; save it with "{command}"'
        )
    return name


def _properties(row: Row, name: str, command: str) -> dict[str, str]:
    """Return a row's extra specs or metadata."""
    if row.keys().isdisjoint(_PROPERTIES):
        raise UnreadableError(
            f'{name!r} has no column "Properties"; save it with "{command}"'
        )
    given = (row.get(column) for column in _PROPERTIES)
    value = next(filter(None, given), {})
    if not isinstance(value, Mapping):
        raise UnreadableError(
            f'the properties of {name!r} are no keys with values'
        )
    found = {}
    for key, text in value.items():
        if text is None:
            raise UnreadableError(
                f'{key!r} of {name!r} has no value; in YAML, a sentinel is '
                "written in quotes: '~'"
            )
        if isinstance(text, (Mapping, list)):
            raise UnreadableError(f'{key!r} of {name!r} is not text')
        found[str(key)] = str(text)
    return found


def _unique(records: list[_RecordT], noun: str) -> list[_RecordT]:
    """Return the records if no two have the same name."""
    seen = set()
    for record in records:
        if record.name in seen:
            raise UnreadableError(f'{noun} {record.name!r} is there twice')
        seen.add(record.name)
    return records
