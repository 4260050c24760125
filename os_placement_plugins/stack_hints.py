# SPDX-License-Identifier: Apache-2.0

"""The scheduler hints that name a server's place in Heat's stacks.

heat-engine writes these hints, and nova-scheduler reads them. The
specification "Stack lifecycle scheduler hints" of Heat defines the hints.
Heat's own option ``stack_scheduler_hints`` sends the same hints.

A tenant can send any hint, so a hint may have any value. The functions that
read hints never raise: a hint that cannot be read counts as absent.
"""

import dataclasses
from collections.abc import Iterable
from typing import Final

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

#: The names of the hints that only heat-engine may set: the six that identify
#: a resource and its stack, and the signature.
RESERVED: Final = (
    ROOT_STACK_ID,
    STACK_ID,
    STACK_NAME,
    PATH_IN_STACK,
    RESOURCE_NAME,
    RESOURCE_UUID,
    SIGNATURE,
)
#: The names of the hints that belong to Nova's API and Nova's own filters.
OF_NOVA: Final = (
    'build_near_host_ip',
    'cidr',
    'different_cell',
    'different_host',
    'group',
    'query',
    'same_host',
    'target_cell',
)

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


def write_path(path: Iterable[PathStep]) -> list[str]:
    """Return a path as the value of ``heat_path_in_stack``.

    The specification asks for tuples (resource name, stack name). Nova
    stores no tuples, so the value is the one that Heat's own option sends:
    ``["root", "resource,stack"]``. Heat refuses stacks with a comma in their
    names.

    :param path: the steps, root first.
    """
    texts = []
    for step in path:
        text = step.stack
        if step.resource is not None:
            text = f'{step.resource},{step.stack}'
        texts.append(text)
    return texts


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


def read_id(value: object) -> str | None:
    """Return a hint that is one string, at most as long as an id may be.

    :returns: None for any other hint.
    """
    texts = read_strings(value)
    if texts is None or len(texts) != 1:
        return None
    (text,) = texts
    if not text or len(text) > MAX_ID_LENGTH:
        return None
    return text
