# SPDX-License-Identifier: Apache-2.0

"""What a request for a server should say about its place in Heat's stacks."""

from collections.abc import Mapping
from typing import Any

SIX = (
    'heat_root_stack_id',
    'heat_stack_id',
    'heat_stack_name',
    'heat_path_in_stack',
    'heat_resource_name',
    'heat_resource_uuid',
)
SIGNATURE = 'heat_signature'


def expected(root: str, resource: Mapping[str, Any]) -> dict[str, Any]:
    """Return the six hints as Heat's RPC API tells of the resource."""
    path = [
        stack if parent is None else f'{parent},{stack}'
        for parent, stack in resource['path']
    ]
    facts = (
        root,
        resource['stack_id'],
        resource['stack_name'],
        path,
        resource['name'],
        resource['uuid'],
    )
    return dict(zip(SIX, facts, strict=True))


def path_of(hints: Mapping[str, Any]) -> str:
    """Return the resources on the way from the root stack down."""
    path = hints.get('heat_path_in_stack', [])
    steps = path if isinstance(path, list) else [path]
    return ' > '.join(step.partition(',')[0] for step in steps)
