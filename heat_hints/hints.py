# SPDX-License-Identifier: Apache-2.0

"""Decide which scheduler hints a resource of a stack gets.

The rules come from the Heat specification "Stack lifecycle scheduler hint".
Nova stores hints as strings and lists of strings. With other values, Nova's
API fails with status 500, so this module converts the values of providers. A
template's own hints are not changed.
"""

import dataclasses
from collections.abc import Container, Mapping
from typing import Any, Final

from os_placement_plugins import signature, stack_hints
from os_placement_plugins.stack_hints import RESERVED, HintValue, PathStep

#: The resource types that the specification names. Resource types whose
#: classes derive from the classes of these types also get hints.
RESOURCE_TYPES: Final = ('OS::Nova::Server', 'AWS::EC2::Instance')

REASON_RESERVED: Final = 'the name belongs to the identifiers that Heat sends'
REASON_TAKEN: Final = 'an earlier provider has set it'
REASON_NOVA: Final = 'Nova acts on this name itself'
REASON_NAME: Final = 'the name of a hint must be a string that is not empty'
REASON_VALUE: Final = (
    'its value must be a string, a number, or a list of strings and numbers'
)

#: Nova marks requests with names that begin with this. "_nova_check_type"
#: marks a request as a rebuild.
_MARK: Final = '_nova_'


@dataclasses.dataclass(frozen=True)
class Request:
    """What each provider gets about a resource that Heat will create.

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
    :param user_hints: the template's hints without those that Heat drops. A
        value can be anything that JSON can hold.
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


def drop_reserved(
    hints: Mapping[str, Any], *, signing: bool
) -> dict[str, Any]:
    """Return a template's hints without those that only Heat may set.

    No value is changed, so Nova refuses a value that it cannot store, such as
    null. If Heat left out such a hint, and the hint was ``group``, the server
    would start without its server group.

    :param signing: whether Heat signs its hints. The signature covers all
        hints that begin with ``heat_``, so a template must then give no such
        hint.
    """
    left = {}
    for name, value in hints.items():
        signed = signing and name.startswith(signature.PREFIX)
        if name not in RESERVED and not signed:
            left[name] = value
    return left


def identifiers(request: Request) -> dict[str, HintValue]:
    """Return the hints that identify a resource and its stack.

    :param request: the resource. If the root stack is not known, the two
        hints that need the root stack are left out.
    """
    values: dict[str, HintValue] = {
        stack_hints.STACK_ID: request.stack_id,
        stack_hints.STACK_NAME: request.stack_name,
        stack_hints.RESOURCE_NAME: request.resource_name,
        stack_hints.RESOURCE_UUID: request.resource_uuid,
    }
    if request.root_stack_id is not None:
        values[stack_hints.ROOT_STACK_ID] = request.root_stack_id
        values[stack_hints.PATH_IN_STACK] = stack_hints.write_path(
            request.path
        )
    return values


def accept(
    offer: Mapping[Any, Any], taken: Container[str]
) -> tuple[dict[str, HintValue], dict[str, str]]:
    """Choose which hints of a provider are sent.

    A hint with the value ``None`` counts as not given.

    :param offer: the answer of the provider.
    :param taken: the hints that earlier providers have set.
    :returns: a mapping of the hints to send; and a mapping from the name of
        each other hint to the reason why the hint is not sent.
    """
    accepted: dict[str, HintValue] = {}
    refused = {}
    for name, value in offer.items():
        reason = _why_refused(name, taken)
        if reason is not None:
            refused[str(name)] = reason
        elif value is not None:
            try:
                accepted[name] = _read_value(value)
            except TypeError:
                refused[name] = REASON_VALUE
    return accepted, refused


def _why_refused(name: object, taken: Container[str]) -> str | None:
    """Return why a provider may not set a hint; None if it may."""
    if not isinstance(name, str) or not name:
        return REASON_NAME
    if name in RESERVED:
        return REASON_RESERVED
    if name in stack_hints.OF_NOVA or name.startswith(_MARK):
        return REASON_NOVA
    if name in taken:
        return REASON_TAKEN
    return None


def _read_value(value: object) -> HintValue:
    """Return a provider's value as Nova stores it.

    :raises TypeError: if a provider may not give such a value.
    """
    if isinstance(value, list | tuple):
        return [_read_text(item) for item in value]
    return _read_text(value)


def _read_text(value: object) -> str:
    """Return a string as it is, or a number as a string."""
    if isinstance(value, int | float):
        return str(value)
    if not isinstance(value, str):
        raise TypeError
    return value
