# SPDX-License-Identifier: Apache-2.0

"""Templates for the stacks of the tests and benchmarks."""

from collections.abc import Mapping
from typing import Any

from testing.heat import loopback


def server(
    hints: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **properties: Any,
) -> dict[str, Any]:
    """Return a server for a template.

    :param hints: the template's own scheduler hints.
    :param metadata: the resource's metadata.
    :param properties: further properties.
    """
    resource: dict[str, Any] = {
        'type': 'OS::Nova::Server',
        'properties': {
            'image': 'cirros',
            'flavor': loopback.FLAVOR,
            'networks': [{'allocate_network': 'none'}],
            **properties,
        },
    }
    if hints is not None:
        resource['properties']['scheduler_hints'] = dict(hints)
    if metadata is not None:
        resource['metadata'] = metadata
    return resource


def template(**resources: Any) -> dict[str, Any]:
    """Return a template that has these resources."""
    return {'heat_template_version': '2018-08-31', 'resources': resources}
