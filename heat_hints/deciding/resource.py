# SPDX-License-Identifier: Apache-2.0

"""The data that providers get about a resource that Heat will create."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from os_placement_plugins.stack_hints import PathStep


@dataclasses.dataclass(frozen=True)
class Request:
    """The facts about one resource that each provider gets.

    :param resource_type: the type, such as ``OS::Nova::Server``, not an alias
        from an environment.
    :param resource_name: the resource's name in its template.
    :param resource_uuid: the resource's own id in Heat's database.
    :param project_id: the project that will own the server: the stack's
        project, or the project of an administrator who acts on another
        project's stack.
    :param stack_id: the id of the stack that holds the resource.
    :param stack_name: the name of the stack that holds the resource.
    :param root_stack_id: the id of the root stack; ``None`` if the root
        stack could not be looked up and ``on_error`` is ``ignore``.
    :param path: the steps from the root stack down; only the resource's own
        stack if the root stack could not be looked up.
    :param user_hints: the hints that the template gives. A value can be
        anything that JSON can hold.
    """

    resource_type: str
    resource_name: str
    resource_uuid: str
    project_id: str
    stack_id: str
    stack_name: str
    root_stack_id: str | None
    path: tuple[PathStep, ...]
    user_hints: Mapping[str, Any]
