# SPDX-License-Identifier: Apache-2.0

"""Templates for the stacks of the tests and benchmarks."""

import json
from collections.abc import Mapping
from typing import Any

from testing.heat import loopback


def server(
    hints: Mapping[str, Any] | None = None, **properties: Any
) -> dict[str, Any]:
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
    return resource


def template(**resources: Any) -> dict[str, Any]:
    return {'heat_template_version': '2018-08-31', 'resources': resources}


def stack(name: str, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return a stack for :func:`testing.heat.worker.work_on`."""
    if 'files' in more:
        more['files'] = texts(more['files'])
    return {'name': name, 'template': data, **more}


def texts(files: Mapping[str, Any]) -> dict[str, str]:
    """Return the templates of nested stacks in the way Heat takes them."""
    return {name: json.dumps(data) for name, data in files.items()}


def group(count: int, member: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group of members with numbers."""
    return {
        'type': 'OS::Heat::ResourceGroup',
        'properties': {'count': count, 'resource_def': member},
    }


def scaled(count: int, member: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {'min_size': count, 'max_size': count}
    return {
        'type': 'OS::Heat::AutoScalingGroup',
        'properties': {**sizes, 'resource': member},
    }


def instance(**properties: Any) -> dict[str, Any]:
    """Return a server in the words of Amazon's cloud."""
    return {
        'type': 'AWS::EC2::Instance',
        'properties': {
            'ImageId': 'cirros',
            'InstanceType': loopback.FLAVOR,
            'NetworkInterfaces': ['22222222-0000-4000-8000-000000000003'],
            **properties,
        },
    }


def volume(**properties: Any) -> dict[str, Any]:
    """Return a volume."""
    return {
        'type': 'OS::Cinder::Volume',
        'properties': {'name': 'disk', 'size': 1, **properties},
    }
