# SPDX-License-Identifier: Apache-2.0

"""Find out in which regions a profile can create nodes.

The region must have certain services. The ports, floating IPs, volumes and
snapshots that the profile names by id must exist in the region.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from senlin_plugins.planning.plugin_types import SERVER, STACK

#: Type of a profile -> the service that creates its nodes. The same service is
#: enough to remove a node.
MAKERS: Final = {SERVER: 'compute', STACK: 'orchestration'}


def services(maker: str, properties: Mapping[str, Any]) -> list[str]:
    """Return the services that a new node needs.

    :param maker: the service that creates the node.
    :param properties: the properties of the profile's spec. Only the
        properties of a server profile can need further services.
    :returns: service types as in Keystone's catalog; the service that creates
        the node comes first.
    """
    needed = [maker]
    if properties.get('image'):
        needed.append('image')
    if properties.get('networks'):
        needed.append('network')
    devices = properties.get('block_device_mapping_v2') or ()
    if any(device['destination_type'] == 'volume' for device in devices):
        needed.append('block-storage')
    return needed


def ties(properties: Mapping[str, Any]) -> list[str]:
    """Return the properties with ids that exist in only one region.

    :param properties: the properties of the profile's spec.
    :returns: texts for messages; each names one property.
    """
    networks = properties.get('networks') or ()
    devices = properties.get('block_device_mapping_v2') or ()
    sources = {device['source_type'] for device in devices}
    names = []
    for key in ('port', 'floating_ip'):
        if any(network.get(key) for network in networks):
            names.append(f"'{key}' of 'networks'")
    for kind in ('volume', 'snapshot'):
        if kind in sources:
            names.append(f"a {kind} in 'block_device_mapping_v2'")
    return names


def excluded_by_ties(
    names: Collection[str], ties: Sequence[str], region: str | None
) -> set[str]:
    """Return the regions in which a profile cannot create nodes.

    :param names: the regions in question.
    :param ties: the properties with ids that exist in only one region.
    :param region: the region in which the profile creates nodes without a
        policy; ``None`` if nothing names such a region.
    """
    if not ties:
        return set()
    return {*names} - {region}
