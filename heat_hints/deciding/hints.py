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
from os_placement_plugins.quoting import SHOWN
from os_placement_plugins.stack_hints import NAMES, RESERVED, HintValue

USER_OVERRIDE = 'override'
USER_KEEP = 'keep'
USER_REJECT = 'reject'
USER_MODES = (USER_OVERRIDE, USER_KEEP, USER_REJECT)

SCOPE_ALL = 'all'
SCOPE_OPT_IN = 'opt_in'
SCOPE_OPT_OUT = 'opt_out'
SCOPES = (SCOPE_ALL, SCOPE_OPT_IN, SCOPE_OPT_OUT)

FIRST_TEMPLATE = 'template'
FIRST_PROVIDER = 'provider'
FIRSTS = (FIRST_TEMPLATE, FIRST_PROVIDER)

REASON_RESERVED = 'the name belongs to the identifiers that Heat sends'
REASON_TAKEN = 'an earlier provider has set it'
REASON_NOVA = (
    'Nova acts on this name itself, and [heat_hints] allowed_nova_hints does '
    'not list it'
)
REASON_NAME = 'the name of a hint must be a string that is not empty'
REASON_FUNCTION = 'its value is a function; the provider must call it'

#: How many names a message holds.
_NAMED = 5

#: The names that Nova's API and its own filters act on. A name that begins
#: with "_nova_" is Nova's, too: it turns the checks of a rebuild on.
NOVA_PATTERN = (
    '(group|same_host|different_host|query|build_near_host_ip|cidr'
    '|target_cell|different_cell|_nova_.*)'
)
_NOVA = re.compile(NOVA_PATTERN, re.DOTALL)


def in_scope(scope: str, flag: bool | None) -> bool:
    """Tell whether a resource gets hints.

    :param scope: one of :data:`SCOPES`.
    :param flag: what the resource's metadata says under ``heat_hints``;
        ``None`` if the metadata says nothing.
    """
    if flag is None:
        return scope != SCOPE_OPT_IN
    return flag or scope == SCOPE_ALL


def is_reserved(name: str, *, signing: bool) -> bool:
    """Tell whether a hint of this name is Heat's own.

    :param name: the name.
    :param signing: Heat signs its hints. Then the prefix is reserved, because
        a signature covers all hints that begin with it.
    """
    return name in RESERVED or (
        signing and str(name).startswith(signature.PREFIX)
    )


def why_refused(
    template: Iterable[str], mode: str, *, signing: bool
) -> str | None:
    """Say why a resource with these hints of its template must fail.

    :param template: the names of the hints that the template gives.
    :param mode: one of :data:`USER_MODES`; only ``reject`` refuses.
    :param signing: Heat signs its hints.
    :returns: the text for the stack's owner; ``None`` for no reason.
    """
    reserved = sorted(n for n in template if is_reserved(n, signing=signing))
    if mode != USER_REJECT or not reserved:
        return None
    # A line of Heat's log holds this text, so nothing of it is a line's end.
    quoted = ', '.join(json.dumps(name[:SHOWN]) for name in reserved[:_NAMED])
    return (
        f'The scheduler hints {quoted} are set by Heat and may not be '
        'given in a template: remove them from the scheduler hints of '
        'this resource.'
    )


def allowed(
    stock: Mapping[str, Any] | None,
    template: Container[str],
    mode: str,
    *,
    signing: bool,
) -> Mapping[str, Any] | None:
    """Return the hints that Heat sends without ours, less forbidden ones.

    :param stock: the hints that Heat sends without this package.
    :param template: the names of the hints that the template gives.
    :param mode: one of :data:`USER_MODES`. Only with ``keep`` a template may
        give reserved names.
    :param signing: Heat signs its hints.
    :returns: the same object if nothing is forbidden.
    """
    forbidden = [
        name
        for name in stock or ()
        if mode != USER_KEEP
        and name in template
        and is_reserved(name, signing=signing)
    ]
    if not forbidden:
        return stock
    return {
        name: value
        for name, value in (stock or {}).items()
        if name not in forbidden
    } or None


def user_hints(
    stock: Mapping[str, Any], template: Container[str], *, signing: bool
) -> dict[str, Any]:
    """Return the hints that count as the template's.

    A reserved name counts only if the template itself gives the hint, and
    not if Heat's own option or another plug-in does. Of what another plug-in
    gives, other names count, and are signed. A null of another name stays,
    and Nova refuses it: without ``group``, say, the server would start beside
    the others of its server group.

    :param stock: the hints that Heat sends without this package.
    :param template: the names of the hints that the template gives.
    :param signing: Heat signs its hints; no ``heat_*`` is the template's.
    """

    def counts(name: str) -> bool:
        if name in template:
            return not signing or not is_reserved(name, signing=True)
        return name not in RESERVED

    found = {name: stock[name] for name in stock if counts(name)}
    nulls: dict[str, None | list[str | None]] = {}
    for name, value in found.items():
        if not str(name).startswith(signature.PREFIX):
            plain = _plain(value)
            if plain is None:
                nulls[name] = None
            elif isinstance(plain, list) and None in plain:
                nulls[name] = [i if i is None else _text(i) for i in plain]
    return sanitise(found) | nulls


def own_hints(
    request: Request, names: Container[str], path_format: str
) -> dict[str, HintValue]:
    """Return the identifiers of a resource.

    :param request: the resource. If the root stack is not known, the two
        hints that need the root stack are left out.
    :param names: which of the six names to send.
    :param path_format: as for :func:`stack_hints.write_path`.
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

    :param hints: any mapping; it is not changed.
    :returns: strings and lists of strings by name.
    """
    return {
        str(name): _value(value)
        for name, value in hints.items()
        if name is not None and value is not None
    }


def _value(value: object) -> HintValue:
    """Return a value as a string or a list of strings."""
    plain = _plain(value)
    if isinstance(plain, list):
        return [_text(item) for item in plain if item is not None]
    return _text(plain)


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

    :param offer: what the provider returned.
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
        elif callable(value):
            refused[name] = REASON_FUNCTION
        else:
            accepted |= sanitise({name: value})
    return accepted, refused


def merge(
    own: Mapping[str, HintValue],
    user: Mapping[str, HintValue],
    provided: Mapping[str, HintValue],
    mode: str,
    first: str = FIRST_TEMPLATE,
) -> dict[str, HintValue]:
    """Put the three sources of hints together.

    :param own: the identifiers, from :func:`own_hints`.
    :param user: the template's hints, from :func:`user_hints`.
    :param provided: the providers' hints, from :func:`accept`.
    :param mode: one of :data:`USER_MODES`. With ``keep`` a reserved name of
        the template's wins over the identifier. Otherwise it is never sent.
    :param first: one of :data:`FIRSTS`: who wins the other names.
    """
    claimed = {name: value for name, value in user.items() if name in RESERVED}
    others = {name: user[name] for name in user if name not in RESERVED}
    if first == FIRST_PROVIDER:
        others |= provided
    else:
        others = {**provided, **others}
    return {**others, **own, **(claimed if mode == USER_KEEP else {})}
