# SPDX-License-Identifier: Apache-2.0

"""What Nova's databases have of a server: its request, and its state.

A stored request is the column ``spec`` of Nova's table ``request_specs``: a
RequestSpec, serialized as JSON. The state is in the database of a cell.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs
from nova_filters.spread.teams import UNSHELVE, Turn
from os_placement_plugins import signature, stack_hints

#: The state of servers that are booted.
BUILDING: Final = 'building'
#: The errors that a text raises which is no RequestSpec.
_UNREADABLE: Final = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)
#: How the names of the image properties begin by which Nova's filters and
#: Placement exclude hosts.
_PROPERTIES: Final = ('hw_', 'img_hv_', 'os_secure_boot', 'traits_required')
#: The fields of a request for a PCI device that name a port.
_PORT: Final = ('request_id', 'requester_id')
#: The namespace of extra specs that have no effect on the choice of hosts.
_IDLE: Final = 'quota:'


class Server(NamedTuple):
    """The data of a server in the database of a cell.

    :param action: how the server moves; empty if the server does not move.
    :param turn: the turn of the move; None if the server does not move.
    :param destination: the host to which the server moves, if it is known.
    """

    host: str | None
    vm_state: str | None
    action: str = ''
    turn: Turn | None = None
    destination: str | None = None

    def current_host(self) -> str | None:
        """Return the host of the server, or the one that it moves to."""
        if self.turn is None or (self.action == UNSHELVE and self.host):
            return self.host
        return self.destination

    def is_pending(self) -> bool:
        """Tell whether a host is being chosen for the server.

        Otherwise, a server without a host is shelved, or has failed.
        """
        if self.current_host():
            return False
        return self.turn is not None or self.vm_state == BUILDING


class StoredRequest(NamedTuple):
    """What is known of a stored request.

    :param root_stack_id: the root stack of the server, which never changes;
        None if the server is in no stack.
    :param kind: a digest of the properties that decide the candidates. The
        size of the flavor is left out.
    """

    root_stack_id: str | None
    kind: str


def read_request(
    text: str, keys: signature.Keys, images: bool
) -> StoredRequest:
    """Return what a stored request says of its server.

    :param text: the stored request.
    :param keys: the keys that sign the hints of stacks.
    :param images: whether a filter gives images hosts of their own.
    :raises ValueError: if the text cannot be read.
    """
    try:
        data = json.loads(text)['nova_object.data']
        project = data.get('project_id')
        root = keys.read_root_stack_id(data['scheduler_hints'], project)
        return StoredRequest(root, _digest(data, images))
    except _UNREADABLE as exc:
        raise ValueError('not a RequestSpec') from exc


def _digest(data: Mapping[str, Any], images: bool) -> str:
    """Return a digest of the properties that decide the candidates.

    :param data: the data of the stored request.
    """
    group = _read_object(data.get('instance_group'))
    # A server that boots from a volume may have no image.
    image = _read_object(data['image'])
    properties = _read_object(image.get('properties'))
    if not images:
        image = {}
        properties = {
            name: value
            for name, value in properties.items()
            if name.startswith(_PROPERTIES)
        }
    flavor = data['flavor']['nova_object.data']
    extra_specs = {
        name: value
        for name, value in (flavor.get('extra_specs') or {}).items()
        if not name.startswith(_IDLE) and not inputs.PREFERENCE.fullmatch(name)
    }
    hints = data['scheduler_hints'] or {}
    requests = _read_object(data.get('pci_requests')).get('requests') or ()
    devices = [dict(_read_object(request)) for request in requests]
    for device in devices:
        for name in _PORT:
            device.pop(name, None)
    parts = (
        group.get('uuid'),
        data.get('availability_zone'),
        data.get('force_hosts'),
        data.get('force_nodes'),
        image.get('id'),
        properties,
        extra_specs,
        {name: hints[name] for name in stack_hints.OF_NOVA if name in hints},
        devices,
    )
    text = json.dumps(parts, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _read_object(value: Any) -> Mapping[str, Any]:
    """Return the fields of one of Nova's objects; none if there is none."""
    return (value or {}).get('nova_object.data') or {}
