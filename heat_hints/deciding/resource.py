# SPDX-License-Identifier: Apache-2.0

"""Describe a resource of a stack that Heat is about to create."""

import dataclasses
from collections.abc import Callable, Mapping

from os_placement_plugins.stack_hints import HintValue, PathStep

CREATE = 'create'
REPLACEMENT = 'replacement'


@dataclasses.dataclass(frozen=True)
class Sibling:
    """A resource as the template of its stack describes it.

    What a template takes from other resources, or makes with a function other
    than ``get_param``, counts as not given. So the same template and
    parameters give the same description at any time.

    :param name: the resource's name in its template.
    :param resource_type: its type as the template writes it.
    :param path: the steps from the root stack down to its stack.
    :param index: the number that a group gave it. ``None`` if one of the
        resources of the stack has a name that is no number, as in an
        autoscaling group.
    :param flavor: the flavor, a name or an id, or ``None``.
    :param group: what its metadata says under ``placement_group``, or
        ``None``.
    :param requires: the names of the resources of the same stack that it
        depends on.
    """

    name: str
    resource_type: str
    path: tuple[PathStep, ...]
    index: int | None
    flavor: str | None
    group: str | None
    requires: frozenset[str]


def _no_siblings(_above: int = 0) -> tuple[Sibling, ...]:
    return ()


def _no_tags() -> tuple[str, ...]:
    return ()


def _no_parameters() -> dict[str, object]:
    return {}


@dataclasses.dataclass(frozen=True)
class Request:
    """What the hook knows about one resource, and tells each provider.

    :param resource_type: such as ``OS::Nova::Server``, whatever name an
        environment gives the type.
    :param resource_name: the resource's name in its template.
    :param resource_uuid: the resource's own id in Heat's database.
    :param project_id: the project that will own the server: the stack's
        project, or that of an admin who acts on another project's stack.
    :param stack_id: the id of the stack that holds the resource.
    :param stack_name: the name of that stack.
    :param root_stack_id: the id of the root stack; ``None`` if the root
        stack could not be looked up and ``on_error`` is ``ignore``.
    :param path: the steps from the root stack down; only the resource's own
        stack if the root stack could not be looked up.
    :param user_hints: the hints that the template gives.
    :param alias: the name of the type in the template, if an environment
        has the name stand for ``resource_type``.
    """

    resource_type: str
    resource_name: str
    resource_uuid: str
    project_id: str
    stack_id: str
    stack_name: str
    root_stack_id: str | None
    path: tuple[PathStep, ...]
    user_hints: Mapping[str, HintValue]
    alias: str | None = None
    action: str | None = CREATE
    flavor: str | None = None
    image: str | None = None
    availability_zone: str | None = None
    # Not in the log of a provider that logs its requests.
    parameters: Callable[[], Mapping[str, object]] = dataclasses.field(
        default=_no_parameters, repr=False, compare=False
    )
    tags: Callable[[], tuple[str, ...]] = dataclasses.field(
        default=_no_tags, repr=False, compare=False
    )
    siblings: Callable[..., tuple[Sibling, ...]] = dataclasses.field(
        default=_no_siblings, repr=False, compare=False
    )
