# SPDX-License-Identifier: Apache-2.0

"""Find the topology domains of hosts, such as their racks.

The option ``stack_spread_over`` lists *topology keys*, such as ``rack``. A
*topology domain* is the set of hosts with one value of a key, such as one
rack. The *path* of a host names its domains, the most important key first:
``(('rack', 'a'), ('host', 'compute-1'))``.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

Path = tuple[tuple[str, str], ...]
#: The topology key for which each host is a domain, and the key of Nova's
#: zones.
HOST: Final = 'host'
ZONE: Final = 'availability_zone'


class Paths:
    """The paths of hosts.

    :param aggregates: the aggregates of each candidate, by host.
    :param keys: the topology keys, the most important one first.
    :param default_zone: the zone of hosts whose aggregates name no zone.
    """

    def __init__(
        self,
        aggregates: Mapping[str, Collection[Any]],
        keys: Sequence[str],
        default_zone: str,
    ) -> None:
        self._by_host = aggregates
        self._keys = [*keys]
        self._default_zone = default_zone
        self._aggregates: set[Any] = set()
        if self._keys != [HOST]:
            self._aggregates.update(*aggregates.values())

    def find_path(self, name: str) -> Path:
        """Return the path of a host.

        If a host is in no domain of a key, the host itself is the domain.

        :param name: the host. If it is no candidate, its aggregates are known
            as far as they have candidates.
        """
        if self._keys == [HOST]:
            # No aggregate matters. This saves time with thousands of hosts.
            return ((HOST, name),)
        aggregates = self._by_host.get(name)
        if aggregates is None:
            aggregates = [
                aggregate
                for aggregate in self._aggregates
                if name in aggregate.hosts
            ]
        metadata = [aggregate.metadata for aggregate in aggregates]
        path = []
        for key in self._keys:
            domain = find_domain(metadata, key, self._default_zone)
            if domain:
                path.append((key, domain))
            else:
                path.append((HOST, name))
        return tuple(path)

    def find_origin(self, name: str | None) -> Path:
        """Return the path of the host that a member leaves.

        :param name: the host; None if the member leaves none.
        :returns: an empty path if the member need not leave its domain.
        """
        if name is None:
            return ()
        path = self.find_path(name)
        domain_key, _ = path[-1]
        if domain_key != HOST:
            return ()
        return path


def find_domain(
    metadata: Iterable[Mapping[str, str]], key: str, default_zone: str
) -> str | None:
    """Return the name of a host's domain for a topology key.

    :param metadata: the metadata of each of the host's aggregates.
    :param key: a key of metadata, or :data:`HOST`.
    :param default_zone: the zone of hosts whose aggregates name no zone.
    :returns: the name; if there are several names, the first in alphabetical
        order. None if there is no name, and always for :data:`HOST`.
    """
    if key == HOST:
        return None
    names = {values[key] for values in metadata if values.get(key)}
    if names:
        return min(names)
    if key == ZONE:
        return default_zone
    return None
