# SPDX-License-Identifier: Apache-2.0

"""Flavors, aggregates, hosts and servers of a cloud, as the commands see them.

:mod:`nova_filters.advice.rows` reads them from files.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from nova_filters.matching import inputs


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
        ``disabled and down``; empty if nobody knows.
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

_NamedT = TypeVar('_NamedT', Flavor, HostAggregate, Server)


def hosts_of(
    aggregates: Iterable[HostAggregate], others: Iterable[Host] | None = None
) -> Hosts:
    """Return what the filter sees of each host.

    :param others: all hosts, without their aggregates; None if nobody knows.
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


def state_of(status: str, state: str) -> str:
    """Return the state of a host in one word or two.

    :param status: ``enabled`` or ``disabled``, as Nova says it.
    :param state: ``up`` or ``down``, as Nova says it.
    """
    words = [word for word in (status, state) if word in ('disabled', 'down')]
    return ' and '.join(words) or state


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
