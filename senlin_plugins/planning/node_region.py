# SPDX-License-Identifier: Apache-2.0

"""The region of a node, and the regions in which a profile creates nodes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

SERVER: Final = 'senlin_plugins.nova.server'
STACK: Final = 'senlin_plugins.heat.stack'
#: Profile type -> Senlin's own type, which the profile type extends.
EXTENDED: Final = {SERVER: 'os.nova.server', STACK: 'os.heat.stack'}
#: Profile type -> the service that creates its nodes. The same service is
#: enough to remove a node.
MAKERS: Final = {SERVER: 'compute', STACK: 'orchestration'}

#: The status of a node whose creation has not begun.
INIT: Final = 'INIT'
#: The region of nodes for which no region is chosen yet. If nodes are added, a
#: plan does not count these nodes in any region. If nodes are removed, these
#: nodes leave as early as nodes in regions that the policy does not name.
NO_REGION: Final = '(none)'


def read_placement(node: Any) -> dict[str, Any]:
    """Return the placement in a node's data.

    :param node: a node of Senlin's engine, database or API, or anything
        without ``data``.
    """
    return (getattr(node, 'data', None) or {}).get('placement') or {}


def recorded_region(node: Any) -> str | None:
    """Return the region that a node's data name.

    :param node: as for :func:`read_placement`.
    :returns: the name, or ``None`` if none is recorded.
    """
    return read_placement(node).get('region_name')


def fixed_region(context: Mapping[str, Any] | None) -> str | None:
    """Return the region that a profile names in its ``context``.

    The region in a node's data takes precedence over this region.

    :param context: the ``context`` of the profile, or of its spec.
    :returns: the name, or ``None`` if the profile leaves the region open.
    """
    return (context or {}).get('region_name') or None


def target_region(
    node: Any, context: Mapping[str, Any] | None, default: str | None
) -> str | None:
    """Return the region of a node that exists or will be created.

    :param node: as for :func:`read_placement`.
    :param context: the ``context`` of its profile.
    :param default: Senlin's ``default_region_name``.
    :returns: the name; ``None`` if nothing names a region.
    """
    return recorded_region(node) or fixed_region(context) or default


def unrecorded_profiles(nodes: Iterable[Any]) -> set[str]:
    """Return the ids of the profiles of nodes without a recorded region."""
    return {node.profile_id for node in nodes if not recorded_region(node)}


def counted_regions(
    nodes: Sequence[Any],
    contexts: Mapping[str, Mapping[str, Any] | None],
    default: str | None,
) -> list[str]:
    """Return the region in which each node counts.

    A node can be a member of the cluster before its NODE_CREATE has run. Until
    then, the node may have no region.

    :param nodes: nodes of Senlin's engine, database or API.
    :param contexts: profile id -> ``context``, for the profiles of nodes
        without a recorded region.
    :param default: Senlin's ``default_region_name``, if it is known.
    :returns: a name for each node; :data:`NO_REGION` if no region is chosen
        yet, and empty if the region is unknown.
    """
    names = []
    for node in nodes:
        region = recorded_region(node)
        if not region:
            fallback = NO_REGION if node.status == INIT else default
            region = fixed_region(contexts.get(node.profile_id)) or fallback
        names.append(region or '')
    return names


def list_services(maker: str, properties: Mapping[str, Any]) -> list[str]:
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


def list_ties(properties: Mapping[str, Any]) -> list[str]:
    """Return the properties with ids that exist in only one region.

    If there are any, the profile names this region in its ``context``.

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
