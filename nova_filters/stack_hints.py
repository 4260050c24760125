# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Which Heat stack a server's scheduler hints name.

Pure: hints in, a :class:`StackHints` out; nothing here raises. Hints are
what a tenant may send, so they may hold anything: what is not understood is
as good as absent.

The hints are those of the specification "Stack lifecycle scheduler hints",
as in-tree Heat and ``heat_hints`` send them. The path comes in two formats:
a list, ``["root", "resource,stack", …]``, or one JSON string,
``[[null, "root"], ["resource", "stack"], …]``, the specification's tuples.
Nova hands a list of one element over as that element, and its database holds
every hint as a list.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

ROOT_STACK_ID: Final = 'heat_root_stack_id'
STACK_ID: Final = 'heat_stack_id'
STACK_NAME: Final = 'heat_stack_name'
PATH_IN_STACK: Final = 'heat_path_in_stack'
RESOURCE_NAME: Final = 'heat_resource_name'
RESOURCE_UUID: Final = 'heat_resource_uuid'


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from the root stack down to the server's stack.

    :param resource: the resource in the stack above that made this stack;
        None for the root.
    :param stack: the stack's name.
    """

    resource: str | None
    stack: str


@dataclasses.dataclass(frozen=True, slots=True)
class StackHints:
    """The stack that a server belongs to, as far as its hints tell.

    :param root_stack_id: the root stack's id.
    :param stack_id: the id of the stack that holds the server.
    :param stack_name: the name of that stack.
    :param path: the way down to it, root first; empty if unknown.
    :param resource_name: the server's name in its stack's template.
    :param resource_uuid: the server's id in Heat.
    """

    root_stack_id: str | None = None
    stack_id: str | None = None
    stack_name: str | None = None
    path: tuple[Step, ...] = ()
    resource_name: str | None = None
    resource_uuid: str | None = None


def _text(value: object) -> str | None:
    """Return a hint that is one string, in a list of one or bare."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) and value else None


def _json_path(text: str) -> tuple[Step, ...] | None:
    """Return the path that a JSON text holds, None if it holds none."""
    try:
        pairs = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(pairs, list):
        return None
    steps = []
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            return None
        resource, stack = pair
        if not isinstance(stack, str) or not isinstance(resource, str | None):
            return None
        steps.append(Step(resource, stack))
    return tuple(steps)


def read_path(value: object) -> tuple[Step, ...]:
    """Return the path that ``heat_path_in_stack`` tells.

    A stack's name has no comma, a resource's may have: the list format is
    split at the last one.

    :param value: the hint; either format, in a list or bare.
    :returns: the steps, root first; empty if it tells none.
    """
    given = value if isinstance(value, list | tuple) else [value]
    items = [item for item in given if isinstance(item, str)]
    if not items or len(items) < len(given):
        return ()
    if len(items) == 1 and items[0].startswith('['):
        path = _json_path(items[0])
        if path is not None:
            return path
    steps = [Step(None, items[0])]
    for item in items[1:]:
        resource, comma, stack = item.rpartition(',')
        if not comma:
            return ()
        steps.append(Step(resource, stack))
    return tuple(steps)


def read(hints: Mapping[str, Any] | None) -> StackHints:
    """Return what a server's scheduler hints tell about its stack.

    :param hints: the hints of Nova's RequestSpec or of its database row;
        None is no hints.
    :returns: what they tell; a part that they do not tell is None.
    """
    if not isinstance(hints, Mapping):
        return StackHints()
    return StackHints(
        root_stack_id=_text(hints.get(ROOT_STACK_ID)),
        stack_id=_text(hints.get(STACK_ID)),
        stack_name=_text(hints.get(STACK_NAME)),
        path=read_path(hints.get(PATH_IN_STACK)),
        resource_name=_text(hints.get(RESOURCE_NAME)),
        resource_uuid=_text(hints.get(RESOURCE_UUID)),
    )


def read_stored(text: object) -> StackHints:
    """Return what a row of Nova's ``request_specs`` tells.

    :param text: the column ``spec``: a RequestSpec, serialized as JSON.
    :returns: what its hints tell; nothing if the text is not understood.
    """
    if not isinstance(text, str | bytes):
        return StackHints()
    try:
        data = json.loads(text)['nova_object.data']['scheduler_hints']
    except (ValueError, KeyError, TypeError, RecursionError):
        return StackHints()
    return read(data)
