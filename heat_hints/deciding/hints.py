# SPDX-License-Identifier: Apache-2.0

"""Decide which scheduler hints a resource of a stack gets.

The rules come from the Heat specification "Stack lifecycle scheduler hint".
Nova stores hints as strings and lists of strings. Nova's API takes other
values and then answers 500, so every value is made one of the two here.
"""

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

FIRST_TEMPLATE = 'template'
FIRST_PROVIDER = 'provider'

REASON_RESERVED = 'the name belongs to the identifiers that Heat sends'
REASON_TAKEN = 'an earlier provider has set it'
REASON_NOVA = (
    'Nova acts on this name itself, and [heat_hints] allowed_nova_hints does '
    'not list it'
)
REASON_NAME = 'the name of a hint must be a string that is not empty'
REASON_FUNCTION = 'its value is a function; the provider must call it'

#: The names that Nova's API and its own filters act on. A name that begins
#: with "_nova_" is Nova's, too: it turns the checks of a rebuild on.
NOVA_PATTERN = (
    '(group|same_host|different_host|query|build_near_host_ip|cidr'
    '|target_cell|different_cell|_nova_.*)'
)
_NOVA = re.compile(NOVA_PATTERN, re.DOTALL)


def in_scope(scope: str, flag: bool | None) -> bool:
    """Tell whether a resource gets hints.

    :param scope: the option of this name.
    :param flag: what the resource's metadata says under ``heat_hints``;
        ``None`` if the metadata says nothing.
    """
    if flag is None:
        return scope != SCOPE_OPT_IN
    return flag or scope == SCOPE_ALL


def claimed(template: Iterable[str], *, signing: bool) -> frozenset[str]:
    """Return the reserved names among the hints of a template.

    :param template: the names of the hints that the template gives.
    :param signing: Heat signs its hints. Then the prefix is reserved, because
        a signature covers all hints that begin with it.
    """
    return frozenset(
        name
        for name in template
        if name in RESERVED
        or (signing and str(name).startswith(signature.PREFIX))
    )


def allowed(
    given: Mapping[str, Any] | None,
    template: Iterable[str],
    mode: str,
    *,
    signing: bool,
) -> Mapping[str, Any] | None:
    """Return hints without those that a template must not give.

    :param given: the template's hints, or what another plug-in made of them.
    :param template: the names of the hints that the template gives.
    :param mode: the option ``user_hints``. Only with ``keep`` a template may
        give reserved names.
    :returns: the same object if nothing is forbidden.
    """
    forbidden = claimed(template, signing=signing)
    if mode == USER_KEEP or not given or forbidden.isdisjoint(given):
        return given
    return {n: given[n] for n in given if n not in forbidden} or None


def user_hints(
    stock: Mapping[str, Any], template: Container[str]
) -> dict[str, Any]:
    """Return the hints that count as the template's.

    A reserved name counts only if the template itself gives the hint, and
    not if Heat's own option or another plug-in does. Of what another plug-in
    gives, other names count, and are signed. A null of another name stays,
    and Nova refuses it: without ``group``, say, the server would start beside
    the others of its server group.

    :param stock: the hints that Heat sends without this package, of which
        the template's are :func:`allowed`.
    :param template: the names of the hints that the template gives.
    """
    found = {}
    for name in stock:
        if name in template or name not in RESERVED:
            nulls = not str(name).startswith(signature.PREFIX)
            value = _value(stock[name], nulls=nulls)
            if nulls or value is not None:
                found[str(name)] = value
    return found


def own_hints(
    request: Request, names: Container[str], path_format: str
) -> dict[str, HintValue]:
    """Return the identifiers of a resource.

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


def sanitise(hints: Mapping[Any, object]) -> dict[str, HintValue]:
    """Make every hint a string or a list of strings.

    Numbers and truth values become text as Nova itself would write them.
    ``None`` is dropped, alone and in lists. Nested values become JSON.
    """
    return {
        str(name): _value(value)
        for name, value in hints.items()
        if name is not None and value is not None
    }


def _value(value: object, *, nulls: bool = False) -> Any:
    """Return a value as a string or a list of strings, perhaps with nulls."""
    plain = _plain(value)
    if isinstance(plain, list):
        kept = [item for item in plain if nulls or item is not None]
        return [item if item is None else _text(item) for item in kept]
    return plain if plain is None else _text(plain)


def _text(plain: object) -> str:
    """Return a plain value as text."""
    if isinstance(plain, dict | list):
        return json.dumps(
            plain, ensure_ascii=False, separators=(',', ':'), sort_keys=True
        )
    return str(plain)


def _plain(value: object) -> object:
    """Return a value with nothing in it that JSON cannot write."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    if value is None or isinstance(value, bool | int | float):
        return value
    # JSON may write a subclass of str in another way.
    return str(value)


def accept(
    offer: Mapping[Any, object],
    taken: Container[str],
    allowed: Container[str] = (),
) -> tuple[dict[str, HintValue], dict[str, str]]:
    """Choose which hints of a provider are sent.

    :param taken: the hints that earlier providers have set.
    :param allowed: names that Nova acts on, and providers may set.
    :returns: the hints to send, and the reasons for which others are not
        sent, by name.
    """
    accepted: dict[str, HintValue] = {}
    refused = {}
    for name, value in offer.items():
        if not isinstance(name, str) or not name:
            refused[str(name)] = REASON_NAME
        elif name in RESERVED:
            refused[name] = REASON_RESERVED
        elif _NOVA.fullmatch(name) and name not in allowed:
            refused[name] = REASON_NOVA
        elif name in taken:
            refused[name] = REASON_TAKEN
        elif _is_function(value):
            refused[name] = REASON_FUNCTION
        else:
            accepted |= sanitise({name: value})
    return accepted, refused


def _is_function(value: object) -> bool:
    """Tell whether a value is a function, or holds one."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return any(_is_function(item) for item in value)
    return callable(value)


def merge(
    own: Mapping[str, HintValue],
    user: Mapping[str, HintValue],
    provided: Mapping[str, HintValue],
    mode: str,
    first: str = FIRST_TEMPLATE,
) -> dict[str, HintValue]:
    """Put the three sources of hints together.

    :param mode: the option ``user_hints``. With ``keep`` a reserved name of
        the template's wins over the identifier. Otherwise it is never sent.
    :param first: the option ``hint_precedence``.
    """
    claimed = {name: value for name, value in user.items() if name in RESERVED}
    others = {name: user[name] for name in user if name not in RESERVED}
    if first == FIRST_PROVIDER:
        others |= provided
    else:
        others = {**provided, **others}
    return {**others, **own, **(claimed if mode == USER_KEEP else {})}
