# SPDX-License-Identifier: Apache-2.0

"""Flavors, aggregates, hosts and servers of a cloud, as the commands see them.

Rows in, records out. A row is what ``openstack … list --long -f json`` or
``openstack … show -f json`` prints for one object: an operator can save the
rows and use the commands elsewhere. The names of the columns differ between
the two forms, and between releases of the client.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from nova_filters.matching import inputs

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
_SERVER_HOST: Final = (
    'os-ext-srv-attr:host',
    'compute_host',
    'host',
    'os-ext-srv-attr:hypervisor_hostname',
)


class UnreadableError(ValueError):
    """The input cannot be used; the text says what to give instead."""


@dataclasses.dataclass(frozen=True, slots=True)
class Flavor:
    """A flavor.

    :param name: its name.
    :param extra_specs: its extra specs.
    :param id: its ID, which an operator may give in place of the name.
    """

    name: str
    extra_specs: Mapping[str, str]
    id: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class HostAggregate(inputs.Aggregate):
    """A host aggregate with its hosts.

    :param hosts: the names of its hosts.
    :param id: its ID, which an operator may give in place of the name.
    """

    # Left out of the hash, which the evaluator asks for at each host.
    hosts: tuple[str, ...] = dataclasses.field(default=(), hash=False)
    id: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server.

    :param name: its name.
    :param id: its ID.
    :param host: the host it runs on; empty if it has none, or if Nova does
        not show the host to the user.
    :param flavor: the copy of the flavor that Nova keeps with the server and
        uses when the server moves.
    """

    name: str
    id: str
    host: str
    flavor: Flavor


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """A compute host.

    :param name: its name, as aggregates have it.
    :param aggregates: its aggregates, by name.
    :param state: of its nova-compute: ``up``, ``disabled``, ``down`` or
        ``disabled, down``; empty if nobody knows.
    """

    name: str
    aggregates: tuple[inputs.Aggregate, ...] = ()
    state: str = ''

    @property
    def usable(self) -> bool:
        """Tell whether nova-scheduler may use the host, as far as known."""
        return self.state in ('', 'up')


#: The hosts by their names.
Hosts = Mapping[str, Host]

_RecordT = TypeVar('_RecordT', Flavor, HostAggregate)
_NamedT = TypeVar('_NamedT', Flavor, HostAggregate, Server)


def hosts_of(
    aggregates: Iterable[HostAggregate], others: Iterable[Host] | None = None
) -> Hosts:
    """Return what the filter sees of each host.

    :param aggregates: the aggregates.
    :param others: all hosts, without their aggregates; None if nobody knows.
    :returns: the hosts, by name.
    """
    states = {host.name: host.state for host in others or ()}
    found: dict[str, list[inputs.Aggregate]] = {name: [] for name in states}
    for aggregate in sorted(aggregates, key=lambda a: a.name):
        for name in aggregate.hosts:
            found.setdefault(name, []).append(aggregate)
    return {
        name: Host(name, tuple(found[name]), states.get(name, ''))
        for name in sorted(found)
    }


def select(
    records: Sequence[_NamedT], wanted: Iterable[str], noun: str
) -> list[_NamedT]:
    """Return the flavors, aggregates or servers that an operator named.

    :param records: all of them; names of servers need not be unique.
    :param wanted: IDs or names; an ID goes before the same name.
    :param noun: what they are, for the errors.
    :returns: the records, in the order in which they are named.
    :raises UnreadableError: if there is none, or more than one.
    """
    found = []
    for name in wanted:
        own = [record for record in records if record.id == name]
        own = own or [record for record in records if record.name == name]
        if len(own) != 1:
            raise UnreadableError(
                f'{len(own) or "no"} {noun}s have the name or ID {name!r}'
            )
        found += own
    return found


def read_flavors(rows: Iterable[Row]) -> list[Flavor]:
    """Return the flavors that rows describe.

    :param rows: the output of the client.
    :raises UnreadableError: if a column is missing.
    """
    command = 'openstack flavor list --all --long -f json'
    found = []
    for row in map(columns, rows):
        name = _name(row, command)
        if 'hosts' in row:
            raise UnreadableError(f'{name!r} is an aggregate, and no flavor')
        extra_specs = _properties(row, name, command)
        found.append(Flavor(name, extra_specs, _text(row, 'id')))
    return _unique(found, 'flavor')


def read_aggregates(rows: Iterable[Row]) -> list[HostAggregate]:
    """Return the aggregates that rows describe.

    :param rows: the output of the client.
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
            HostAggregate(
                name, metadata, tuple(map(str, hosts)), _text(row, 'id')
            )
        )
    return _unique(found, 'aggregate')


def read_hosts(rows: Iterable[Row]) -> list[Host]:
    """Return the compute hosts that rows describe, and their states.

    :param rows: the output of the client on services or hypervisors.
    :returns: the hosts; services other than nova-compute are left out.
    :raises UnreadableError: if a column is missing.
    """
    found = []
    for row in map(columns, rows):
        if row.get('binary') not in (None, 'nova-compute'):
            continue
        name = _text(row, *_HOST)
        if not name or not row.keys().isdisjoint(_NO_HOST):
            raise UnreadableError(
                'a row is no host; save it with "openstack compute service '
                'list --service nova-compute -f json"'
            )
        state = state_of(_text(row, 'status'), _text(row, 'state'))
        found.append(Host(name, state=state))
    return found


def state_of(status: str, state: str) -> str:
    """Return the state of a host in one word or two.

    :param status: ``enabled`` or ``disabled``, as Nova says it.
    :param state: ``up`` or ``down``, as Nova says it.
    """
    words = [word for word in (status, state) if word in ('disabled', 'down')]
    return ', '.join(words) or state


def read_servers(rows: Iterable[Row]) -> list[Server]:
    """Return the servers that rows describe.

    :param rows: the output of the client.
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
                f'flavor; save it with "{command}"'
            )
        found.append(
            Server(
                name=name,
                id=_text(row, 'id'),
                host=_text(row, *_SERVER_HOST),
                flavor=Flavor(
                    _text(flavor, 'original_name', 'name') or '?',
                    _properties(flavor, name, command),
                ),
            )
        )
    return found


def columns(row: Row) -> Row:
    """Return a row with all column names in one form.

    :param row: a row as the client prints it.
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
            raise UnreadableError(f'{key!r} of {name!r} is no text')
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
