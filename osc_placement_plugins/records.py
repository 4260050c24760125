# SPDX-License-Identifier: Apache-2.0

"""Flavors, aggregates, hosts and servers of a cloud, as the commands see them.

:mod:`osc_placement_plugins.cloud` reads them from Nova's API, and
:mod:`osc_placement_plugins.files` from files.
"""

import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from nova_filters.matching import inputs
from os_placement_plugins.text import listed, quote

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
class Aggregate(inputs.Aggregate):
    """A host aggregate with its hosts, compared by identity.

    :param hosts: the names of its hosts.
    """

    hosts: tuple[str, ...] = ()

    # A judge hashes and compares the aggregates of each host. By identity,
    # this is fast.
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


@dataclasses.dataclass(frozen=True, slots=True)
class Host:
    """A compute host.

    :param name: the name of the host in aggregates.
    :param aggregates: the aggregates of the host, sorted by name.
    :param state: the state of nova-compute: ``up``, ``disabled``, ``down``,
        ``disabled and down`` or ``unknown``; empty if there is no list of
        compute services.
    :param disabled_reason: why an operator or Nova has disabled the host;
        empty if there is no reason.
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


@dataclasses.dataclass(frozen=True)
class Inventory:
    """The aggregates and hosts of a cloud.

    :param exempt: patterns of keys that no aggregate may demand.
    :param services: the hosts with a compute service, whose aggregates are
        ignored; None if there is no list of them. A host that is in an
        aggregate, but not in the list, has the state ``unknown``.
    """

    aggregates: Sequence[Aggregate]
    exempt: inputs.Exempt = ()
    services: Sequence[Host] | None = None

    @functools.cached_property
    def hosts(self) -> dict[str, Host]:
        """Return all hosts by name, sorted, with their aggregates."""
        services = {host.name: host for host in self.services or ()}
        unlisted_state = ''
        if self.services is not None:
            unlisted_state = UNKNOWN
        aggregates: dict[str, list[inputs.Aggregate]] = {}
        for name in services:
            aggregates[name] = []
        for aggregate in sorted(self.aggregates, key=lambda a: a.name):
            for name in aggregate.hosts:
                aggregates.setdefault(name, []).append(aggregate)
        hosts = {}
        for name in sorted(aggregates):
            host = services.get(name, Host(name, state=unlisted_state))
            hosts[name] = dataclasses.replace(
                host, aggregates=tuple(aggregates[name])
            )
        return hosts

    def notes(self) -> list[str]:
        """Return sentences on what is not known, and on what was assumed."""
        return [*self._unknown(), *self._exempted()]

    def _exempted(self) -> list[str]:
        is_exempt = inputs.exemption(self.exempt)
        keys: set[str] = set()
        for aggregate in self.aggregates:
            if aggregate.forced:
                keys.update(key for key, _ in aggregate.items())
        exempted = sorted(key for key in keys if is_exempt(key))
        if not exempted:
            return []
        return [
            'Keys that are not demanded because of exempt_metadata_keys: '
            f'{listed([*map(quote, exempted)])}.'
        ]

    def _unknown(self) -> list[str]:
        if self.services is None:
            return [
                'There is no list of compute services: hosts in no aggregate '
                'are left out, and hosts may be disabled or down.'
            ]
        names = [host.name for host in self.services]
        folded = {name.lower(): quote(name) for name in names}
        strangers = []
        for name in sorted({*self.hosts}.difference(names)):
            text = quote(name)
            similar = folded.get(name.lower())
            if similar:
                text += f" (a service's host is {similar})"
            strangers.append(text)
        if not strangers:
            return []
        return [
            'Aggregates name hosts that no compute service has, so they '
            f'count as not up: {listed(strangers)}.'
        ]


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


_NamedT = TypeVar('_NamedT', Flavor, Server)


def select(
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
            raise ambiguous(noun, name, [match.id for match in matches])
        (match,) = matches
        if not any(match is record for record in selected):
            selected.append(match)
    return selected


def ambiguous(noun: str, name: str, ids: Sequence[str]) -> UnreadableError:
    """Return the error for a name that several servers or flavors have."""
    return UnreadableError(
        f'{len(ids)} {noun}s have the name {name!r}; use an ID: '
        f'{listed(ids, 10)}'
    )
