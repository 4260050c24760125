# SPDX-License-Identifier: Apache-2.0

"""Read the stored requests of servers: their stack and their kind.

A stored request is the column ``spec`` of Nova's table ``request_specs``: a
RequestSpec, serialized as JSON.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from nova_filters.matching import inputs
from nova_filters.spread.order import Kind, Team, of_stack
from os_placement_plugins import signature, stack_hints

#: The errors that a text raises which is no RequestSpec.
_UNREADABLE: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)
#: The hints, and then the image properties, by which Nova's filters and
#: Placement exclude hosts.
_HINTS: Final = (
    'build_near_host_ip',
    'cidr',
    'different_host',
    'query',
    'same_host',
    'target_cell',
)
_PROPERTIES: Final = (
    'hw_architecture',
    'hw_cpu_policy',
    'hw_cpu_thread_policy',
    'hw_mem_encryption',
    'hw_mem_page_size',
    'hw_numa_nodes',
    'hw_pci_numa_affinity_policy',
    'hw_vm_mode',
    'img_hv_requested_version',
    'img_hv_type',
    'traits_required',
)
#: Namespaces of extra specs that have no effect on the choice of hosts.
_IDLE: Final = ('nova_filters:', 'quota:')


def read_stack(text: str, keys: signature.Keys) -> Team | None:
    """Return the stack of a server, which never changes.

    :param text: the stored request.
    :raises ValueError: if the text cannot be read.
    """
    try:
        data = json.loads(text)['nova_object.data']
        return of_stack(
            stack_hints.read(
                data['scheduler_hints'], data.get('project_id'), keys
            )
        )
    except _UNREADABLE as exc:
        raise ValueError('not a RequestSpec') from exc


def read_kind(text: str, aggregates: bool, images: bool) -> Kind:
    """Return the kind of a server, which a resize may change.

    :param text: the stored request.
    :param aggregates: whether ``AggregateInstanceTypeFilter`` is enabled.
    :param images: whether a filter gives images hosts of their own.
    :returns: an empty kind if the text cannot be read.
    """
    try:
        data = json.loads(text)['nova_object.data']
        specs = data['flavor']['nova_object.data'].get('extra_specs') or {}
        flavor = ''
        if aggregates:
            # Many servers have equal flavors: keep each text only once.
            flavor = sys.intern(json.dumps(specs, sort_keys=True))
            specs = {
                name: value
                for name, value in specs.items()
                if not _is_judged(name)
            }
        return Kind(_digest(data, specs, images), flavor)
    except _UNREADABLE:
        return Kind()


def _digest(
    data: Mapping[str, Any], extra_specs: Mapping[str, str], images: bool
) -> str:
    """Return a digest of the properties that decide the candidates.

    :param data: the data of the stored request.
    :param extra_specs: the extra specs that aggregates do not judge.
    """
    group = (data.get('instance_group') or {}).get('nova_object.data', {})
    # A server that boots from a volume may have no image.
    image = (data['image'] or {}).get('nova_object.data', {})
    properties = image.get('properties', {}).get('nova_object.data') or {}
    if not images:
        image = {}
        properties = _select(properties, _PROPERTIES)
    specs = {
        name: value
        for name, value in extra_specs.items()
        if not name.startswith(_IDLE) and not inputs.PREFERENCE.fullmatch(name)
    }
    parts = (
        group.get('uuid'),
        data.get('availability_zone'),
        data.get('force_hosts'),
        data.get('force_nodes'),
        image.get('id'),
        properties,
        specs,
        _select(data['scheduler_hints'] or {}, _HINTS),
    )
    text = json.dumps(parts, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _select(
    values: Mapping[str, Any], names: tuple[str, ...]
) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _is_judged(name: str) -> bool:
    """Tell whether aggregates judge an extra spec.

    ``flavors.find_candidates`` then finds the hosts.
    """
    return ':' not in name or name.startswith(inputs.SCOPE)
