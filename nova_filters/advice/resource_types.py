# SPDX-License-Identifier: Apache-2.0

"""Find the resource type that an alias of a stack's environment stands for.

An environment can give a resource type other names, in its
``resource_registry``: ``My::Server: OS::Nova::Server``, or ``My::*:
OS::Nova::*``, or for the resources of one name only. Heat's API lists
resources under the names that their templates use.
"""

from collections.abc import Mapping
from typing import Any


def stands_for(registry: object, alias: str, resource: str) -> str:
    """Return the resource type behind the type that a template names.

    :param registry: the ``resource_registry`` of the stack's environment.
    :param alias: the type as Heat lists it.
    """
    if not isinstance(registry, Mapping):
        return alias
    passed: list[str] = []
    found: str | None = alias
    while found is not None and found not in passed:
        passed.append(found)
        found = _target(registry, found, resource)
    return passed[-1]


def _target(
    registry: Mapping[str, Any], name: str, resource: str
) -> str | None:
    """Return what the registry has for a type; None for nothing."""
    special = registry.get('resources')
    own = special.get(resource) if isinstance(special, Mapping) else None
    if isinstance(own, Mapping) and isinstance(own.get(name), str):
        return str(own[name])
    # Heat takes the first pattern by name, too.
    for pattern, value in sorted(registry.items()):
        if not isinstance(value, str) or value == name:
            continue
        if pattern == name:
            return value
        start = pattern.removesuffix('*')
        if start != pattern and name.startswith(start):
            rest = name.removeprefix(start)
            return value[:-1] + rest if value.endswith('*') else value
    return None
