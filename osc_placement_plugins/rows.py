# SPDX-License-Identifier: Apache-2.0

"""Convert rows to flavors, aggregates, hosts and servers.

A row is one object with its columns. It comes from the output of the
``openstack`` shell or from Nova's API, which name some columns differently.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from osc_placement_plugins import records
from osc_placement_plugins.records import UnreadableError

#: The columns of one object: column -> value.
Row = Mapping[str, Any]

#: How to save each kind of object in a file.
SAVING: Final = {
    'flavors': 'openstack flavor list --all --long -f json',
    'aggregates': 'openstack aggregate list --long -f json',
    'hosts': 'openstack compute service list --service nova-compute -f json',
    'servers': 'openstack --os-compute-api-version 2.47 server show -f json '
    'SERVER',
}
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


def list_rows(document: object) -> Iterator[Row]:
    """Yield the rows in a document.

    :param document: a row, a list of rows, or an answer of Nova's API.
    :raises UnreadableError: if a row is not an object.
    """
    entries = document if isinstance(document, list) else [document]
    if isinstance(document, Mapping):
        for key in KEYS.values():
            if isinstance(document.get(key), list):
                entries = document[key]
    for entry in entries:
        yield normalize(entry)


def has_next_page(document: object) -> bool:
    """Tell whether an answer of Nova's API has a link to the next page."""
    if not isinstance(document, Mapping):
        return False
    return any(f'{key}_links' in document for key in KEYS.values())


def normalize(row: object) -> Row:
    """Return a row whose column names have lower case and underscores.

    :raises UnreadableError: if the row is not an object.
    """
    if not isinstance(row, Mapping):
        raise UnreadableError(
            'it does not hold what "openstack … -f json" prints; use -f json'
        )
    return {
        column.lower().replace(' ', '_'): value
        for column, value in row.items()
    }


def read_flavor(row: Row) -> records.Flavor:
    """Return the flavor that a row describes.

    :raises UnreadableError: if a column is missing.
    """
    name = _name(row, 'flavors')
    if 'hosts' in row:
        raise UnreadableError(
            f'{name!r} is no flavor; save the flavors with '
            f'"{SAVING["flavors"]}"'
        )
    return records.Flavor(
        name=name,
        extra_specs=_properties(row, name, 'flavors'),
        id=_text(row, 'id'),
    )


def read_aggregate(row: Row) -> records.Aggregate:
    """Return the aggregate that a row describes.

    :returns: the aggregate. The client shows the metadata key
        ``availability_zone`` in a column of its own; here the key is
        metadata again.
    :raises UnreadableError: if a column is missing.
    """
    name = _name(row, 'aggregates')
    metadata = _properties(row, name, 'aggregates')
    zone = row.get(_ZONE)
    if zone is not None:
        metadata.setdefault(_ZONE, str(zone))
    hosts = row.get('hosts')
    if not isinstance(hosts, list):
        raise UnreadableError(
            f'{name!r} has no list of hosts; save it with '
            f'"{SAVING["aggregates"]}"'
        )
    return records.Aggregate(name, metadata, tuple(map(str, hosts)))


def read_host(row: Row) -> records.Host | None:
    """Return the compute host that a row describes, and its state.

    :returns: the host; None for services other than nova-compute.
    :raises UnreadableError: if the row is not a compute service. The output of
        ``openstack hypervisor list`` is not accepted, because hypervisors can
        have other names than hosts, and disabled hosts are not marked.
    """
    host = _text(row, 'host')
    if 'binary' not in row or not host:
        raise UnreadableError(
            'a row is not a compute service; save the hosts with '
            f'"{SAVING["hosts"]}"'
        )
    if row['binary'] != 'nova-compute':
        return None
    state = records.state_of(_text(row, 'status'), _text(row, 'state'))
    return records.Host(
        name=host, state=state, disabled_reason=_text(row, 'disabled_reason')
    )


def read_server(row: Row) -> records.Server:
    """Return the server that a row describes.

    :raises UnreadableError: if a column is missing, or if the flavor is only a
        name.
    """
    if row.get('status') == 'UNKNOWN' and 'flavor' not in row:
        # Nova shows such a row while the cell of the server is down.
        return records.Server(
            name=_text(row, 'name') or _text(row, 'id'),
            id=_text(row, 'id'),
            host=None,
            flavor=None,
        )
    name = _name(row, 'servers')
    host: str | None = _text(row, _SERVER_HOST)
    # Nova shows the host to administrators only, but a hash of the host to all
    # users. This ``hostId`` is empty if the server is on no host.
    if not host and row.get('hostid') != '':
        host = None
    flavor = row.get('flavor')
    if not isinstance(flavor, Mapping) or 'extra_specs' not in flavor:
        raise UnreadableError(
            f'server {name!r} comes without the extra specs of its '
            f'flavor; save it with "{SAVING["servers"]}", or what GET '
            '/servers/detail answers with microversion 2.47 or newer'
        )
    return records.Server(
        name=name,
        id=_text(row, 'id'),
        host=host,
        flavor=records.Flavor(
            name=_text(flavor, 'original_name') or '?',
            extra_specs=_properties(flavor, name, 'servers'),
        ),
    )


def _text(row: Row, column: str) -> str:
    """Return the value in a column as text; empty if there is no value."""
    value = row.get(column)
    if value is None:
        return ''
    return str(value)


def _name(row: Row, noun: str) -> str:
    name = _text(row, 'name')
    if not name:
        raise UnreadableError(
            f'a row has no column "Name"; save it with "{SAVING[noun]}"'
        )
    return name


def _properties(row: Row, name: str, noun: str) -> dict[str, str]:
    """Return a row's extra specs or metadata.

    :param name: the object, for error messages.
    """
    cells = [row[column] for column in _PROPERTIES if column in row]
    # An empty object has no extra specs. Null says nothing about them.
    if not cells or cells[0] is None:
        raise UnreadableError(
            f'{name!r} has no column "Properties" with a value; save it with '
            f'"{SAVING[noun]}"'
        )
    if not isinstance(cells[0], Mapping):
        raise UnreadableError(
            f'the properties of {name!r} are no keys with values'
        )
    properties = {}
    for key, value in cells[0].items():
        if value is None:
            raise UnreadableError(f'{key!r} of {name!r} has no value')
        if isinstance(value, (Mapping, list)):
            raise UnreadableError(f'{key!r} of {name!r} is not text')
        properties[key] = str(value)
    return properties
