# SPDX-License-Identifier: Apache-2.0

"""Read flavors, aggregates, hosts and servers.

The functions convert rows to records. A row describes one object, and comes
from Nova's API or from the ``openstack`` shell with ``-f json``.
:mod:`openstack_commands.records.rows` converts the names of the columns to one
form.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from openstack_commands.aggregates.advice import inventory
from openstack_commands.records.rows import Row, UnreadableError, text

#: The columns that can have extra specs or metadata: in the shell, and in
#: Nova's API for flavors and for aggregates.
_PROPERTIES: Final = ('properties', 'extra_specs', 'metadata')
_SERVER_HOST: Final = 'os-ext-srv-attr:host'
_ZONE: Final = 'availability_zone'

_RecordT = TypeVar(
    '_RecordT', inventory.Flavor, inventory.HostAggregate, inventory.Host
)


def read_flavors(rows: Iterable[Row]) -> list[inventory.Flavor]:
    """Return the flavors that rows describe.

    :raises UnreadableError: if a column is missing.
    """
    command = 'openstack flavor list --all --long -f json'
    flavors = []
    for row in rows:
        name = _name(row, command)
        if 'hosts' in row:
            raise UnreadableError(
                f'{name!r} is no flavor; save the flavors with "{command}"'
            )
        properties = _properties(row, name, command)
        flavors.append(inventory.Flavor(name, properties, text(row, 'id')))
    return _unique(flavors, 'flavor')


def read_aggregates(rows: Iterable[Row]) -> list[inventory.HostAggregate]:
    """Return the aggregates that rows describe.

    :returns: the aggregates. The client shows the metadata key
        ``availability_zone`` in a column of its own; here the key is
        metadata again.
    :raises UnreadableError: if a column is missing.
    """
    command = 'openstack aggregate list --long -f json'
    aggregates = []
    for row in rows:
        name = _name(row, command)
        metadata = _properties(row, name, command)
        zone = row.get(_ZONE)
        if zone is not None:
            metadata.setdefault(_ZONE, str(zone))
        if 'hosts' not in row:
            raise UnreadableError(
                f'{name!r} has no column "Hosts"; save it with "{command}"'
            )
        hosts = row['hosts'] or []
        if not isinstance(hosts, list):
            raise UnreadableError(f'the hosts of {name!r} are no list')
        aggregates.append(
            inventory.HostAggregate(
                name, metadata, tuple(map(str, hosts)), text(row, 'id')
            )
        )
    return _unique(aggregates, 'aggregate')


def read_hosts(rows: Iterable[Row]) -> list[inventory.Host]:
    """Return the compute hosts that rows describe, and their states.

    :returns: the hosts; services other than nova-compute are left out.
    :raises UnreadableError: if the rows are not compute services. The output
        of ``openstack hypervisor list`` is not accepted, because hypervisors
        can have other names than hosts, and disabled hosts are not marked.
    """
    hosts = []
    for row in rows:
        if 'binary' not in row or not text(row, 'host'):
            raise UnreadableError(
                'a row is not a compute service; save the hosts with '
                '"openstack compute service list --service nova-compute '
                '-f json"'
            )
        if row['binary'] == 'nova-compute':
            state = inventory.state_of(text(row, 'status'), text(row, 'state'))
            hosts.append(inventory.Host(text(row, 'host'), state=state))
    return _unique(hosts, 'host')


def read_servers(rows: Iterable[Row]) -> list[inventory.Server]:
    """Return the servers that rows describe.

    :raises UnreadableError: if a column is missing, or if the flavor is only a
        name.
    """
    return [_server(row) for row in rows]


def _server(row: Row) -> inventory.Server:
    """Return a server."""
    if row.get('status') == 'UNKNOWN' and 'flavor' not in row:
        # Nova shows such a row while the cell of the server is down.
        return inventory.Server(
            name=text(row, 'name') or text(row, 'id'),
            id=text(row, 'id'),
            host=None,
            flavor=None,
        )
    command = (
        'openstack --os-compute-api-version 2.47 server show -f json SERVER'
    )
    name = _name(row, command)
    host: str | None = text(row, _SERVER_HOST)
    # Nova shows the host to administrators only, but a hash of the host to all
    # users. This ``hostId`` is empty if the server is on no host.
    if not host and row.get('hostid') != '':
        host = None
    return inventory.Server(
        name=name,
        id=text(row, 'id'),
        host=host,
        flavor=_flavor_of_server(row, name, command),
    )


def _flavor_of_server(row: Row, name: str, command: str) -> inventory.Flavor:
    """Return the copy of the flavor in a server's row."""
    flavor = row.get('flavor')
    if not isinstance(flavor, Mapping) or 'extra_specs' not in flavor:
        raise UnreadableError(
            f'server {name!r} comes without the extra specs of its '
            f'flavor; save it with "{command}", or what GET '
            '/servers/detail answers with microversion 2.47 or newer'
        )
    flavor_name = text(flavor, 'original_name') or '?'
    return inventory.Flavor(flavor_name, _properties(flavor, name, command))


def _name(row: Row, command: str) -> str:
    """Return the name of a row's object."""
    name = text(row, 'name')
    if not name:
        raise UnreadableError(
            f'a row has no column "Name"; save it with "{command}"'
        )
    return name


def _properties(row: Row, name: str, command: str) -> dict[str, str]:
    """Return a row's extra specs or metadata."""
    cells = [row[column] for column in _PROPERTIES if column in row]
    if not cells:
        raise UnreadableError(
            f'{name!r} has no column "Properties"; save it with "{command}"'
        )
    cell = cells[0] or {}
    if not isinstance(cell, Mapping):
        raise UnreadableError(
            f'the properties of {name!r} are no keys with values'
        )
    properties = {}
    for key, value in cell.items():
        if value is None:
            raise UnreadableError(f'{key!r} of {name!r} has no value')
        if isinstance(value, (Mapping, list)):
            raise UnreadableError(f'{key!r} of {name!r} is not text')
        properties[key] = str(value)
    return properties


def _unique(records: list[_RecordT], noun: str) -> list[_RecordT]:
    """Return the records; raise an error if two have the same name."""
    seen = set()
    for record in records:
        if record.name in seen:
            raise UnreadableError(f'{noun} {record.name!r} is there twice')
        seen.add(record.name)
    return records
