# SPDX-License-Identifier: Apache-2.0

"""Changes of flavors and aggregates, as the ``openstack`` command has them."""

import collections
import dataclasses
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nova_filters.advice import inventory
from os_placement_plugins.records.rows import UnreadableError


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One change.

    :param noun: ``flavor`` or ``aggregate``.
    :param verb: ``set``, ``unset``, ``add host`` or ``remove host``.
    :param name: the name or the ID of the flavor or the aggregate.
    :param key: the key of the property, or the host's name.
    :param value: the property's new value.
    """

    noun: str
    verb: str
    name: str
    key: str
    value: str = ''

    def __str__(self) -> str:
        """Return the command that makes the change, ready to paste."""
        words = ['openstack', self.noun, *self.verb.split()]
        if self.verb == 'set':
            words += ['--property', f'{self.key}={self.value}', self.name]
        elif self.verb == 'unset':
            words += ['--property', self.key, self.name]
        else:
            words += [self.name, self.key]
        return shlex.join(words)

    def applied(
        self, record: inventory.Flavor | inventory.HostAggregate
    ) -> Any:
        """Return the flavor or the aggregate as the change leaves it.

        :raises UnreadableError: if what is to be removed is not there, or
            what is to be added is there.
        """
        if isinstance(record, inventory.Flavor):
            properties = self._edited(record.extra_specs)
            return dataclasses.replace(record, extra_specs=properties)
        if self.verb in ('set', 'unset'):
            properties = self._edited(record.metadata)
            return dataclasses.replace(record, metadata=properties)
        if (self.key in record.hosts) == (self.verb == 'add host'):
            state = 'already' if self.key in record.hosts else 'not'
            raise UnreadableError(
                f'host {self.key!r} is {state} in aggregate {self.name!r}'
            )
        hosts = tuple(host for host in record.hosts if host != self.key)
        if self.verb == 'add host':
            hosts += (self.key,)
        return dataclasses.replace(record, hosts=hosts)

    def _edited(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Return extra specs or metadata as the change leaves them."""
        if self.verb == 'set':
            return {**properties, self.key: self.value}
        if self.key not in properties:
            raise UnreadableError(
                f'{self.noun} {self.name!r} has no key {self.key!r} to remove'
            )
        return {k: v for k, v in properties.items() if k != self.key}


def apply(
    changes: Iterable[Change],
    flavors: Sequence[inventory.Flavor],
    aggregates: Sequence[inventory.HostAggregate],
) -> tuple[list[inventory.Flavor], list[inventory.HostAggregate]]:
    """Return flavors and aggregates as changes leave them.

    :raises UnreadableError: if a name is unknown, or a change impossible.
    """
    found: dict[str, list[Any]] = {
        'flavor': list(flavors),
        'aggregate': list(aggregates),
    }
    for change in changes:
        records = found[change.noun]
        (record,) = inventory.select(records, [change.name], change.noun)
        records[records.index(record)] = change.applied(record)
    return found['flavor'], found['aggregate']


def zone_moves(
    before: Iterable[inventory.HostAggregate],
    after: Iterable[inventory.HostAggregate],
) -> list[str]:
    """Return the hosts whose availability zone changes.

    :raises UnreadableError: if a host would be in a second zone.
    """
    old, new = _zones(before), _zones(after)
    moved = sorted(host for host in {**old, **new} if old[host] != new[host])
    for host in moved:
        if len(new[host]) > 1:
            raise UnreadableError(
                f'Nova refuses: host {host!r} would be in the availability '
                f'zones {" and ".join(sorted(new[host]))}'
            )
    return moved


def _zones(
    aggregates: Iterable[inventory.HostAggregate],
) -> dict[str, set[str]]:
    """Return the availability zones of each host."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for aggregate in aggregates:
        zone = aggregate.metadata.get(inventory.ZONE)
        for host in aggregate.hosts if zone else ():
            found[host].add(str(zone))
    return found
