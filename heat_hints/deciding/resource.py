# SPDX-License-Identifier: Apache-2.0

"""The data that providers get about a resource that Heat will create."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from os_placement_plugins.stack_hints import PathStep

CREATE = 'create'
REPLACEMENT = 'replacement'


@dataclasses.dataclass(frozen=True)
class Sibling:
    """A resource as the template of its stack describes it.

    A value that a template takes from other resources, or computes with a
    function other than ``get_param``, counts as missing. So the same template
    and parameters give the same description at any time.

    :param name: the resource's name in its template.
    :param resource_type: the type in the template, which may be an alias.
    :param path: the steps from the root stack down to the resource's stack.
    :param index: the number that an ``OS::Heat::ResourceGroup`` gave the
        resource; ``None`` in any other stack.
    :param flavor: the flavor, a name or an id, or ``None``.
    :param group: the value of ``placement_group`` in the resource's metadata,
        or ``None``.
    :param requires: the names of the resources of the same stack on which the
        resource depends.
    :param numbers_members: whether the resource is an
        ``OS::Heat::ResourceGroup``, which numbers its members.
    """

    name: str
    resource_type: str
    path: tuple[PathStep, ...]
    index: int | None
    flavor: str | None
    group: str | None
    requires: frozenset[str]
    numbers_members: bool = False


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
    :param alias: the type in the template, if it is an alias that an
        environment maps to ``resource_type``; otherwise ``None``.
    :param action: :data:`REPLACEMENT` if the resource replaces an older one,
        or else :data:`CREATE`; ``None`` if the legacy engine updates the
        stack, because that engine does not record which resource is replaced.
    :param flavor: the flavor, a name or an id, with all functions of the
        template resolved; ``None`` if the template gives none.
    :param image: the image, a name or an id, resolved like ``flavor``.
    :param availability_zone: the availability zone, resolved like ``flavor``.
    :param parameters: a function that returns the parameters of the resource's
        own stack: a copy of the values, by name, without hidden parameters.
    :param siblings: a function that returns the resources of the resource's
        own stack, as :class:`Sibling`, in the template's order. With the
        argument N, the function returns the resources of the stack N steps
        above. The function raises ``ProviderError`` if the legacy engine
        created the stack, if the root stack is not known, or if there is no
        stack N steps above.
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
    alias: str | None = None
    action: str | None = CREATE
    flavor: str | None = None
    image: str | None = None
    availability_zone: str | None = None
    # repr=False: if a provider logs its requests, the log must not contain the
    # values of parameters.
    parameters: Callable[[], Mapping[str, object]] = dataclasses.field(
        default=dict, repr=False, compare=False
    )
    siblings: Callable[..., tuple[Sibling, ...]] = dataclasses.field(
        default=lambda *_above: (), repr=False, compare=False
    )
