# SPDX-License-Identifier: Apache-2.0

"""Flavors, aggregates, hosts and servers of a cloud, as the commands see them.

:mod:`openstack_commands.aggregates.advice.nova_records` converts files and
the answers of Nova's API to these records.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from nova_filters.matching import inputs
from openstack_commands.records.rows import UnreadableError

#: Extra specs as (key, value) pairs, which can be the key of a dictionary.
Specs = tuple[tuple[str, str], ...]
#: The state of a host whose state cannot be determined.
UNKNOWN: Final = 'unknown'


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
    """A host aggregate with its hosts, compared by identity.

    :param hosts: the names of its hosts.
    :param id: its ID, which an operator may give in place of the name.
    """

    hosts: tuple[str, ...] = ()
    id: str = ''

    # An evaluation hashes and compares the aggregates of each host. By
    # identity, this is fast.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


@dataclasses.dataclass(frozen=True, slots=True)
class Server:
    """A server.

    :param host: the host that the server is on; empty if it is on no host,
        None if Nova does not show the host.
    :param flavor: the copy of the flavor that Nova keeps with the server and
        uses when the server moves; None if Nova does not show this copy,
        because the cell is down.
    """

    name: str
    id: str
    host: str | None
    flavor: Flavor | None

    @property
    def flavor_name(self) -> str:
        """Return the name of its flavor; empty if not known."""
        return self.flavor.name if self.flavor else ''

    @property
    def specs(self) -> Specs:
        """Return the extra specs of its flavor; empty if not known."""
        return tuple(self.flavor.extra_specs.items()) if self.flavor else ()


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """A compute host.

    :param name: the name of the host in aggregates.
    :param aggregates: the aggregates of the host, sorted by name.
    :param state: the state of nova-compute: ``up``, ``disabled``, ``down``,
        ``disabled and down`` or ``unknown``; empty if there is no list of
        compute services.
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


@dataclasses.dataclass(frozen=True)
class Stock:
    """The flavors, aggregates and hosts that are compared.

    :param exempt: patterns of keys that no aggregate may demand.
    :param listed_hosts: a list of all hosts, whose aggregates are ignored;
        None if there is no such list. A host that is in an aggregate, but not
        in the list, has the state ``unknown``.
    """

    flavors: Sequence[Flavor]
    aggregates: Sequence[HostAggregate]
    exempt: inputs.Exempt = ()
    listed_hosts: Sequence[Host] | None = None

    @functools.cached_property
    def hosts(self) -> Hosts:
        """Return all hosts by name, with their aggregates."""
        listed = {host.name: host for host in self.listed_hosts or ()}
        unlisted_state = ''
        if self.listed_hosts is not None:
            unlisted_state = UNKNOWN
        unlisted = Host('', state=unlisted_state)
        aggregates: dict[str, list[inputs.Aggregate]] = {}
        for name in listed:
            aggregates[name] = []
        for aggregate in sorted(self.aggregates, key=lambda a: a.name):
            for name in aggregate.hosts:
                aggregates.setdefault(name, []).append(aggregate)
        hosts = {}
        for name in sorted(aggregates):
            hosts[name] = dataclasses.replace(
                listed.get(name, unlisted),
                name=name,
                aggregates=tuple(aggregates[name]),
            )
        return hosts


_NamedT = TypeVar('_NamedT', Flavor, HostAggregate, Server)


def state_of(status: str, state: str) -> str:
    """Return the state of a host, in the words of :class:`Host`.

    :param status: ``enabled`` or ``disabled``, as Nova says it; ``UNKNOWN``
        if the host's cell is down.
    :param state: ``up`` or ``down``, as Nova says it.
    """
    words = [word for word in (status, state) if word in ('disabled', 'down')]
    if words or (status, state) == ('enabled', 'up'):
        return ' and '.join(words) or state
    return UNKNOWN


def select(
    records: Sequence[_NamedT], names: Iterable[str], noun: str
) -> list[_NamedT]:
    """Return the flavors, aggregates or servers that an operator named.

    :param records: all flavors, aggregates or servers. Servers can have equal
        names.
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
        if len(matches) != 1:
            raise UnreadableError(
                f'{len(matches) or "no"} {noun}s have the name or ID {name!r}'
            )
        (match,) = matches
        if not any(match is record for record in selected):
            selected.append(match)
    return selected
