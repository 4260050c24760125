# SPDX-License-Identifier: Apache-2.0

"""Hosts that aggregates reserve, as Nova's own filters read the metadata."""

from collections.abc import Callable, Collection
from typing import Final

from nova_filters.matching import requirement
from openstack_commands.aggregates.advice import inventory

#: The filter that keeps other projects off reserved hosts, and the prefix of
#: the metadata keys that this filter reads.
PROJECT_FILTER: Final = 'AggregateMultiTenancyIsolation'
_PROJECTS: Final = 'filter_tenant_id'
_FLAVORS: Final = 'instance_type'


def projects(host: inventory.Host) -> set[str]:
    """Return the IDs of the projects that a host is reserved for.

    :returns: empty if the host is for all projects.
    """
    return _reserved(host, lambda key: key.startswith(_PROJECTS))


def flavors(host: inventory.Host) -> set[str]:
    """Return the names of the flavors that a host is reserved for.

    :returns: empty if the host is for all flavors.
    """
    return _reserved(host, lambda key: key == _FLAVORS)


def admits(reserved: Collection[str], name: str) -> bool:
    """Tell whether a host takes a project or a flavor.

    :param reserved: what the host is reserved for; empty for no reservation.
    :param name: the ID of the project, or the name of the flavor.
    """
    return not reserved or name in reserved


def _reserved(
    host: inventory.Host, is_reserving: Callable[[str], bool]
) -> set[str]:
    """Return the projects or flavors that a host is reserved for.

    :param is_reserving: tells whether a metadata key reserves hosts.
    """
    names: set[str] = set()
    for aggregate in host.aggregates:
        for key, value in aggregate.metadata.items():
            if is_reserving(key):
                names.update(requirement.split(value))
    return names
