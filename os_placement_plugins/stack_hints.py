# SPDX-License-Identifier: Apache-2.0

"""The scheduler hints that name a server's place in Heat's stacks.

heat-engine writes these hints. nova-scheduler and the commands read the hints.
Filters and weighers of other packages may use :func:`read_request`,
:func:`read`, :func:`read_path` and :class:`StackHints`, which will not change.
The specification "Stack lifecycle scheduler hints" of Heat defines the hints.
Heat's own option ``stack_scheduler_hints`` sends the same hints.

A tenant can send any hint, so a hint may have any value. The functions that
read hints never raise: a hint that cannot be read counts as absent.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from os_placement_plugins.signature import Keys

#: A hint's value, in the only two forms that Nova stores.
HintValue = str | list[str]

ROOT_STACK_ID: Final = 'heat_root_stack_id'
STACK_ID: Final = 'heat_stack_id'
STACK_NAME: Final = 'heat_stack_name'
PATH_IN_STACK: Final = 'heat_path_in_stack'
RESOURCE_NAME: Final = 'heat_resource_name'
RESOURCE_UUID: Final = 'heat_resource_uuid'
#: The hint that holds the signature.
SIGNATURE: Final = 'heat_signature'

#: The names of the six hints that identify a resource and its stack.
NAMES: Final = (
    ROOT_STACK_ID,
    STACK_ID,
    STACK_NAME,
    PATH_IN_STACK,
    RESOURCE_NAME,
    RESOURCE_UUID,
)
#: The names of the hints that only heat-engine may set.
RESERVED: Final = (*NAMES, SIGNATURE)

#: The two formats of the hint ``heat_path_in_stack``.
PATH_LIST: Final = 'list'
PATH_JSON: Final = 'json'

#: The largest number of characters of an id. Heat's ids have 36. The limit
#: bounds the memory that the ids of many servers take.
MAX_ID_LENGTH: Final = 64


@dataclasses.dataclass(frozen=True, slots=True)
class PathStep:
    """One stack on the way from the root stack down to a resource.

    :param resource: the name of the resource, in the stack above, that created
        this stack; None for the root stack.
    :param stack: the stack's name.
    """

    resource: str | None
    stack: str


@dataclasses.dataclass(frozen=True, slots=True)
class StackHints:
    """The place of a server in Heat's stacks, as its hints name it.

    :param root_stack_id: the root stack's id.
    :param stack_id: the id of the stack that holds the server.
    :param stack_name: the name of the stack that holds the server.
    :param path: the steps from the root stack down to the stack that holds the
        server; empty if unknown.
    :param resource_name: the server's name in its stack's template.
    :param resource_uuid: the server's id in Heat.
    :param project_id: the id of the project that owns the server.
    """

    root_stack_id: str | None = None
    stack_id: str | None = None
    stack_name: str | None = None
    path: tuple[PathStep, ...] = ()
    resource_name: str | None = None
    resource_uuid: str | None = None
    project_id: str | None = None


def write_path(path: Iterable[PathStep], path_format: str) -> HintValue:
    """Return a path as the value of ``heat_path_in_stack``.

    The specification asks for tuples (resource name, stack name). Nova
    stores no tuples, so there are two formats.

    :param path: the steps, root first.
    :param path_format: ``list`` gives ``["root", "resource,stack"]``, as
        Heat's own option sends the path; Heat refuses stacks with a comma
        in their names. ``json`` gives one string with the tuples,
        ``[[null,"root"],["resource","stack"]]``.
    """
    if path_format == PATH_JSON:
        return json.dumps(
            [[step.resource, step.stack] for step in path],
            ensure_ascii=False,
            separators=(',', ':'),
        )
    texts = []
    for step in path:
        text = step.stack
        if step.resource is not None:
            text = f'{step.resource},{step.stack}'
        texts.append(text)
    return texts


def read_path(value: object) -> tuple[PathStep, ...]:
    """Return the path in ``heat_path_in_stack``.

    :param value: the hint, in either format. In a list, each string is split
        at its last comma.
    :returns: the steps, root first; empty if the hint has no path.
    """
    items = read_strings(value)
    if not items:
        return ()
    if len(items) == 1 and items[0].startswith('['):
        path = _read_json_path(items[0])
        if path is not None:
            return path
    steps = [PathStep(None, items[0])]
    for item in items[1:]:
        resource, comma, stack = item.rpartition(',')
        if not comma:
            return ()
        steps.append(PathStep(resource, stack))
    return tuple(steps)


def _read_json_path(text: str) -> tuple[PathStep, ...] | None:
    """Return the path in a JSON text; None if the text has no path."""
    try:
        pairs = json.loads(text)
    except (ValueError, RecursionError):
        return None
    steps = []
    for pair in pairs:
        match pair:
            case [str() | None as resource, str() as stack]:
                steps.append(PathStep(resource, stack))
            case _:
                return None
    return tuple(steps)


def read(
    hints: object,
    project_id: object = None,
    keys: 'Keys | None' = None,
) -> StackHints:
    """Return what a server's scheduler hints say about its stack.

    :param hints: the hints of Nova's RequestSpec or of its database row.
    :param project_id: the id of the project that owns the server.
    :param keys: with keys, hints count only if one of the keys has signed
        them. Without keys, all hints count.
    :returns: the values of the hints; None for each hint that is missing.
    """
    if not isinstance(hints, Mapping):
        return StackHints()
    if keys and not keys.signed(hints, project_id):
        return StackHints()
    return StackHints(
        root_stack_id=_read_id(hints.get(ROOT_STACK_ID)),
        stack_id=_read_id(hints.get(STACK_ID)),
        stack_name=_read_text(hints.get(STACK_NAME)),
        path=read_path(hints.get(PATH_IN_STACK)),
        resource_name=_read_text(hints.get(RESOURCE_NAME)),
        resource_uuid=_read_id(hints.get(RESOURCE_UUID)),
        project_id=_read_text(project_id),
    )


def read_root_stack_id(
    hints: object, project_id: object, keys: 'Keys | None'
) -> str | None:
    """Return the root stack's id, as :func:`read` does; None if unknown."""
    if not isinstance(hints, Mapping):
        return None
    root_stack_id = _read_id(hints.get(ROOT_STACK_ID))
    if root_stack_id is None:
        return None
    if keys and not keys.signed(hints, project_id):
        return None
    return root_stack_id


def read_request(request: Any, keys: 'Keys | None' = None) -> StackHints:
    """Return what a request for a server says about the server's stack.

    :param request: Nova's RequestSpec, as a filter or weigher gets it.
    :param keys: as for :func:`read`, with the project of the request.
    :returns: an object without values if the request has no hints.
    """
    hints = project_id = None
    if 'scheduler_hints' in request:
        hints = request.scheduler_hints
    if 'project_id' in request:
        project_id = request.project_id
    return read(hints, project_id, keys)


def read_strings(value: object) -> list[str] | None:
    """Return the value of a hint as a list of strings.

    Nova stores a list of one string as a string. This function returns the
    same list for both.

    :param value: the value of the hint.
    :returns: None if the value contains anything but strings.
    """
    if not isinstance(value, list | tuple):
        value = [value]
    texts = []
    for item in value:
        if not isinstance(item, str):
            return None
        texts.append(item)
    return texts


def _read_text(value: object) -> str | None:
    """Return a hint that is one string; None for any other hint."""
    texts = read_strings(value)
    if not texts or len(texts) != 1:
        return None
    return texts[0] or None


def _read_id(value: object) -> str | None:
    """Return a hint that is one string, at most as long as an id may be."""
    text = _read_text(value)
    if text is None or len(text) > MAX_ID_LENGTH:
        return None
    return text
