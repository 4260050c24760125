# SPDX-License-Identifier: Apache-2.0

"""Hosts that aggregates reserve, as Nova's own filters read the metadata."""

from collections.abc import Callable, Collection
from typing import Final

from nova_filters.matching import requirement
from openstack_commands.aggregates.advice import inventory

#: The filter that keeps other projects out, and the prefix of its keys.
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
    """Tell whether a reserved host takes a project or a flavor."""
    return not reserved or name in reserved


def _reserved(
    host: inventory.Host, is_reserving: Callable[[str], bool]
) -> set[str]:
    """Return the names in the metadata of a host's aggregates.

    :param is_reserving: tells whether a metadata key reserves hosts.
    """
    names: set[str] = set()
    for aggregate in host.aggregates:
        for key, value in aggregate.metadata.items():
            if is_reserving(key):
                names.update(requirement.split(value))
    return names
