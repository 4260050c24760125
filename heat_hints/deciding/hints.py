# SPDX-License-Identifier: Apache-2.0

"""Decide which scheduler hints a resource of a stack gets.

The rules come from the Heat specification "Stack lifecycle scheduler hint".
Nova stores hints as strings and lists of strings. With other values, Nova's
API fails with status 500, so this module converts the values of providers. A
template's own hints are not changed.
"""

import itertools
import json
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any

from heat_hints.deciding.resource import Request
from os_placement_plugins import signature, stack_hints
from os_placement_plugins.stack_hints import NAMES, RESERVED, HintValue

USER_OVERRIDE = 'override'
USER_KEEP = 'keep'

SCOPE_ALL = 'all'
SCOPE_OPT_IN = 'opt_in'
SCOPE_OPT_OUT = 'opt_out'

REASON_RESERVED = 'the name belongs to the identifiers that Heat sends'
REASON_TAKEN = 'an earlier provider has set it'
REASON_NOVA = (
    'Nova acts on this name itself, and [heat_hints] allowed_nova_hints does '
    'not list it'
)
REASON_NAME = 'the name of a hint must be a string that is not empty'
REASON_VALUE = (
    'its value must be a string, a number, or a list of strings and numbers'
)

#: How many hints of providers a server may have.
MAX_HINTS = 64
#: How large all hints of providers may be together for a server, in bytes of
#: JSON. Nova accepts 114,688 bytes for a whole request.
MAX_BYTES = 16 * 1024

#: The hints that Nova's API and Nova's own filters use. Nova also uses names
#: that begin with "_nova_": "_nova_check_type" marks a request as a rebuild.
NOVA_PATTERN = (
    '(group|same_host|different_host|query|build_near_host_ip|cidr'
    '|target_cell|different_cell|_nova_.*)'
)
_NOVA = re.compile(NOVA_PATTERN, re.DOTALL)


class AnswerError(ValueError):
    """The answer of a provider cannot be used; the text says why."""


def in_scope(scope: str, flag: bool | None) -> bool:
    """Tell whether a resource gets hints.

    :param scope: the option ``scope``.
    :param flag: the value of ``heat_hints`` in the resource's metadata;
        ``None`` if the metadata has no valid value.
    """
    if flag is None:
        return scope != SCOPE_OPT_IN
    return flag or scope == SCOPE_ALL


def claimed(template: Iterable[str], *, signing: bool) -> frozenset[str]:
    """Return the reserved names among the hints of a template.

    :param template: the names of the hints that the template gives.
    :param signing: whether Heat signs its hints. If so, all names that begin
        with ``heat_`` are reserved, because the signature covers these hints.
    """
    return frozenset(
        name
        for name in template
        if name in RESERVED
        or (signing and str(name).startswith(signature.PREFIX))
    )


def allowed(
    hints: Mapping[str, Any] | None,
    template: Iterable[str],
    mode: str,
    *,
    signing: bool,
) -> Mapping[str, Any] | None:
    """Return hints without the hints that a template must not give.

    :param hints: the template's hints, or the hints that another plug-in has
        returned for the template's hints.
    :param template: the names of the hints that the template gives.
    :param mode: the option ``user_hints``. Only with ``keep`` a template may
        give reserved names.
    :returns: the same object if nothing is forbidden.
    """
    forbidden = claimed(template, signing=signing)
    if mode == USER_KEEP or not hints or forbidden.isdisjoint(hints):
        return hints
    left = {name: hints[name] for name in hints if name not in forbidden}
    return left or None


def user_hints(
    stock: Mapping[str, Any], template: Container[str]
) -> dict[str, Any]:
    """Return the hints that count as hints of the template.

    Heat's own option and other plug-ins may have added hints. An added hint
    counts only if its name is not reserved. If the name begins with ``heat_``,
    Heat also signs the added hint.

    No value is changed, so Nova refuses a value that it cannot store, such as
    null. If Heat left out such a hint, and the hint was ``group``, the server
    would start without its server group.

    :param stock: the hints that Heat would send without this package, after
        :func:`allowed` has removed the template's forbidden hints.
    :param template: the names of the hints that the template gives.
    """
    return {
        name: stock[name]
        for name in stock
        if name in template or name not in RESERVED
    }


def identifiers(
    request: Request, names: Container[str], path_format: str
) -> dict[str, HintValue]:
    """Return the hints that identify a resource and its stack.

    :param request: the resource. If the root stack is not known, the two
        hints that need the root stack are left out.
    :param names: which of the six names to send.
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
            request.path, path_format
        )
    chosen = [name for name in NAMES if name in names and name in values]
    return {name: values[name] for name in chosen}


def accept(
    offer: object,
    taken: Mapping[str, HintValue],
    allowed: Container[str] = (),
) -> tuple[dict[str, HintValue], dict[str, str]]:
    """Choose which hints of a provider are sent.

    A hint with the value ``None`` counts as not given.

    :param offer: the answer of the provider.
    :param taken: the hints that earlier providers have set.
    :param allowed: the names of Nova's own hints that providers may set.
    :returns: a mapping of the hints to send; and a mapping from the name of
        each other hint to the reason why the hint is not sent.
    :raises AnswerError: if the answer is not a mapping, or if the server would
        have too many or too large hints with the answer.
    """
    if not isinstance(offer, Mapping):
        raise AnswerError(
            f'the answer is of the type "{type(offer).__name__}", but must be '
            'a mapping of names to values'
        )
    # A provider's mapping may never end, so stop after too many items.
    items = list(itertools.islice(offer.items(), MAX_HINTS + 1))
    if len(items) > MAX_HINTS:
        raise AnswerError(f'the answer has more than {MAX_HINTS} hints')
    accepted: dict[str, HintValue] = {}
    refused = {}
    for name, value in items:
        reason = _why_refused(name, taken, allowed)
        if reason is not None:
            refused[str(name)] = reason
        elif value is not None:
            try:
                accepted[name] = _read_value(value)
            except TypeError:
                refused[name] = REASON_VALUE
    _check_limits({**taken, **accepted})
    return accepted, refused


def _why_refused(
    name: object, taken: Container[str], allowed: Container[str]
) -> str | None:
    """Return why a provider may not set a hint; None if it may."""
    if not isinstance(name, str) or not name:
        return REASON_NAME
    if name in RESERVED:
        return REASON_RESERVED
    if _NOVA.fullmatch(name) and name not in allowed:
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
    if not isinstance(value, str | int | float):
        raise TypeError
    return str(value)


def _check_limits(provided: Mapping[str, HintValue]) -> None:
    """Raise an AnswerError if the hints of providers are too many or large."""
    if len(provided) > MAX_HINTS:
        raise AnswerError(
            f'with the answer, the server has {len(provided)} hints of '
            f'providers, more than {MAX_HINTS}'
        )
    size = len(json.dumps(provided))
    if size > MAX_BYTES:
        raise AnswerError(
            f'with the answer, the hints of providers take {size} bytes, more '
            f'than {MAX_BYTES}'
        )


def merge(
    identifiers: Mapping[str, HintValue],
    user: Mapping[str, Any],
    provided: Mapping[str, HintValue],
    mode: str,
) -> dict[str, Any]:
    """Combine the identifiers with hints of the template and of providers.

    :param user: the result of :func:`user_hints`.
    :param provided: the hints of all providers.
    :param mode: the option ``user_hints``. With ``keep``, a reserved hint of
        the template replaces the identifier. Otherwise, the template's
        reserved hints are never sent.
    """
    reserved = {name: user[name] for name in user if name in RESERVED}
    unreserved = {name: user[name] for name in user if name not in RESERVED}
    merged = {**provided, **unreserved, **identifiers}
    if mode == USER_KEEP:
        merged.update(reserved)
    return merged
