# SPDX-License-Identifier: Apache-2.0

"""What a profile needs of a region that is to get a node."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_Properties = Mapping[str, Any]


def server_services(properties: _Properties) -> list[str]:
    """Name the services that a new server needs.

    :param properties: the properties of its profile's spec.
    :returns: service types as in Keystone's catalog.
    """
    services = ['compute']
    if properties.get('image'):
        services.append('image')
    if properties.get('networks'):
        services.append('network')
    if any(d['destination_type'] == 'volume' for d in _devices(properties)):
        services.append('block-storage')
    return services


def stack_services(properties: _Properties) -> list[str]:
    """Name the services that a new stack needs."""
    return ['orchestration']


#: Type of a region-aware profile -> the services that its nodes need. The
#: first is the one that they are made by; to remove a node, it is enough.
SERVICES: Final[Mapping[str, Callable[[_Properties], list[str]]]] = {
    'senlin_plugins.nova.server': server_services,
    'senlin_plugins.heat.stack': stack_services,
}


def ties(properties: _Properties) -> Iterator[str]:
    """Name what a server's profile takes from one region by its id.

    :param properties: the properties of the profile's spec.
    :returns: the properties that tie it to that region.
    """
    networks = properties.get('networks') or ()
    for key in ('port', 'floating_ip'):
        if any(network.get(key) for network in networks):
            yield f"'{key}' of 'networks'"
    for kind in ('volume', 'snapshot'):
        if any(d['source_type'] == kind for d in _devices(properties)):
            yield f"a {kind} in 'block_device_mapping_v2'"


def _devices(properties: _Properties) -> list[_Properties]:
    """Return the block devices of a server."""
    return list(properties.get('block_device_mapping_v2') or ())
