# SPDX-License-Identifier: Apache-2.0

"""Changes of flavors and aggregates, as ``openstack`` commands make them."""

import dataclasses
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from openstack_commands.aggregates.advice import inventory
from openstack_commands.records.rows import UnreadableError


@dataclasses.dataclass(frozen=True, slots=True)
class ObjectChange:
    """A change of one flavor or one aggregate.

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
        """Return the flavor or the aggregate after the change.

        :raises UnreadableError: if the key or host to remove does not exist,
            or the host to add is already in the aggregate.
        """
        if isinstance(record, inventory.Flavor):
            properties = self._edited(record.extra_specs)
            return dataclasses.replace(record, extra_specs=properties)
        if self.verb in ('set', 'unset'):
            properties = self._edited(record.metadata)
            return dataclasses.replace(record, metadata=properties)
        is_added = self.verb == 'add host'
        if is_added == (self.key in record.hosts):
            state = 'already' if is_added else 'not'
            raise UnreadableError(
                f'host {self.key!r} is {state} in aggregate {self.name!r}'
            )
        hosts = tuple(host for host in record.hosts if host != self.key)
        if is_added:
            hosts += (self.key,)
        return dataclasses.replace(record, hosts=hosts)

    def _edited(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Return extra specs or metadata after the change."""
        if self.verb == 'set':
            return {**properties, self.key: self.value}
        if self.key not in properties:
            raise UnreadableError(
                f'{self.noun} {self.name!r} has no key {self.key!r} to remove'
            )
        return {k: v for k, v in properties.items() if k != self.key}


def apply(
    changes: Iterable[ObjectChange], stock: inventory.Stock
) -> inventory.Stock:
    """Return the flavors, aggregates and hosts after the changes.

    :param stock: the flavors, aggregates and hosts before the changes.
    :raises UnreadableError: if a name is unknown or ambiguous, or a change is
        impossible.
    """
    by_noun: dict[str, list[Any]] = {
        'flavor': [*stock.flavors],
        'aggregate': [*stock.aggregates],
    }
    for change in changes:
        records = by_noun[change.noun]
        (record,) = inventory.select(records, [change.name], change.noun)
        records[records.index(record)] = change.applied(record)
    return stock.changed(by_noun['flavor'], by_noun['aggregate'])


def zone_moves(before: inventory.Hosts, after: inventory.Hosts) -> list[str]:
    """Return the hosts whose availability zone changes.

    :param after: the hosts after the change, with all hosts of ``before``.
    :raises UnreadableError: if a host would be in two zones.
    """
    moved = []
    for name, host in after.items():
        if host.zones != before.get(name, inventory.Host(name)).zones:
            moved.append(name)
            if len(host.zones) > 1:
                raise UnreadableError(
                    f'Nova refuses: host {name!r} would be in the '
                    f'availability zones {" and ".join(sorted(host.zones))}'
                )
    return moved
