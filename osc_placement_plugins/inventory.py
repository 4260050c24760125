# SPDX-License-Identifier: Apache-2.0

"""The aggregates and hosts of a cloud, and how they match a flavor."""

import dataclasses
import functools
from collections.abc import Sequence

from nova_filters.matching import inputs
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import quote_all
from osc_placement_plugins.source.records import (
    UNKNOWN,
    ComputeHost,
    Flavor,
    HostAggregate,
)


@dataclasses.dataclass(frozen=True)
class Inventory:
    """The aggregates and hosts of a cloud.

    :param exempt: patterns of keys that no aggregate may demand.
    :param services: the hosts with a compute service, whose aggregates are
        ignored; None if there is no list of them. A host that is in an
        aggregate, but not in the list, has the state ``unknown``.
    """

    aggregates: Sequence[HostAggregate]
    exempt: inputs.Exempt = ()
    services: Sequence[ComputeHost] | None = None

    @functools.cached_property
    def hosts(self) -> dict[str, ComputeHost]:
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
            host = services.get(name, ComputeHost(name, state=unlisted_state))
            hosts[name] = dataclasses.replace(
                host, aggregates=tuple(aggregates[name])
            )
        return hosts

    def notes(self) -> list[str]:
        """Return sentences on what is not known, and on what was assumed."""
        if self.services is None:
            return [
                'There is no list of compute services: hosts in no aggregate '
                'are left out, and hosts may be disabled or down.',
                *self._list_exempt_keys(),
            ]
        return [*self._list_strangers(), *self._list_exempt_keys()]

    def _list_exempt_keys(self) -> list[str]:
        is_exempt = inputs.compile_exemption(self.exempt)
        keys = set()
        for aggregate in self.aggregates:
            if aggregate.forced:
                for key, _ in aggregate.items():
                    if is_exempt(key):
                        keys.add(key)
        if not keys:
            return []
        return [
            'Keys that are not demanded because of exempt_metadata_keys: '
            f'{quote_all(keys)}.'
        ]

    def _list_strangers(self) -> list[str]:
        names = {host.name for host in self.services or ()}
        strangers = self.hosts.keys() - names
        if not strangers:
            return []
        return [
            'Aggregates name hosts that no compute service has, so they '
            f'count as not up: {quote_all(strangers)}.'
        ]


def create_matcher(flavor: Flavor, inventory: Inventory) -> Matcher:
    """Return the filter's matcher of hosts for a flavor."""
    return Matcher(inputs.read_flavor(flavor.extra_specs), inventory.exempt)
