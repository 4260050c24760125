# SPDX-License-Identifier: Apache-2.0

"""Decide which scheduler hints a resource of a stack gets.

The rules come from the Heat specification "Stack lifecycle scheduler hint".
Nothing here knows Heat: the caller reads a resource into :class:`Resource`
and hands in what the template and the providers say.

Nova stores hints as strings and lists of strings. It takes other values at
its API and then answers 500, so every value is brought into that form here.
"""

import dataclasses
import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

from os_placement_plugins import stack_hints
from os_placement_plugins.stack_hints import (
    NAMES,
    PATH_LIST,
    RESERVED,
    HintValue,
    PathStep,
)

USER_OVERRIDE = 'override'
USER_KEEP = 'keep'
USER_REJECT = 'reject'
USER_MODES = (USER_OVERRIDE, USER_KEEP, USER_REJECT)

SCOPE_ALL = 'all'
SCOPE_OPT_IN = 'opt_in'
SCOPE_OPT_OUT = 'opt_out'
SCOPES = (SCOPE_ALL, SCOPE_OPT_IN, SCOPE_OPT_OUT)

REASON_RESERVED = 'the name belongs to the identifiers that Heat sends'
REASON_TAKEN = 'an earlier provider has set it'
REASON_NAME = 'a hint is named by a string that is not empty'


class ReservedHintError(ValueError):
    """A template sets a hint whose name is reserved, and may not."""


@dataclasses.dataclass(frozen=True)
class Lineage:
    """Where a stack hangs: its root, and the way down to it.

    :param root_stack_id: the id of the root stack.
    :param path: the steps from the root stack to the stack itself.
    """

    root_stack_id: str
    path: tuple[PathStep, ...]


@dataclasses.dataclass(frozen=True)
class Resource:
    """What a resource knows of itself without asking the database.

    :param type: the resource type, as ``OS::Nova::Server``.
    :param name: the resource's name in its template.
    :param uuid: the resource's own id in Heat's database.
    :param project_id: the project whose server it will be: the stack's, or
        that of an admin who acts on another project's stack.
    :param stack_id: the id of the stack that holds the resource.
    :param stack_name: that stack's name.
    """

    type: str
    name: str
    uuid: str
    project_id: str
    stack_id: str
    stack_name: str


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A provider's hint that is not sent.

    :param provider: the provider's name.
    :param name: the hint's name.
    :param reason: one of the ``REASON_`` constants.
    """

    provider: str
    name: str
    reason: str


def in_scope(scope: str, flag: bool | None) -> bool:
    """Tell whether a resource gets hints.

    :param scope: one of :data:`SCOPES`.
    :param flag: what the resource's metadata says under ``heat_hints``;
        ``None`` when it says nothing.
    """
    if scope == SCOPE_OPT_IN:
        return flag is True
    if scope == SCOPE_OPT_OUT:
        return flag is not False
    return True


def own_hints(
    resource: Resource,
    lineage: Lineage | None,
    *,
    names: Iterable[str] = NAMES,
    path_format: str = PATH_LIST,
) -> dict[str, HintValue]:
    """Build the identifiers that are sent for one resource.

    :param resource: the resource that is about to be created.
    :param lineage: where its stack hangs; ``None`` when that could not be
        found out, and then the two hints that need it are left out.
    :param names: which of :data:`NAMES` to send.
    :param path_format: as for :func:`stack_hints.write_path`.
    """
    values: dict[str, HintValue] = {
        stack_hints.STACK_ID: resource.stack_id,
        stack_hints.STACK_NAME: resource.stack_name,
        stack_hints.RESOURCE_NAME: resource.name,
        stack_hints.RESOURCE_UUID: resource.uuid,
    }
    if lineage is not None:
        values[stack_hints.ROOT_STACK_ID] = lineage.root_stack_id
        values[stack_hints.PATH_IN_STACK] = stack_hints.write_path(
            lineage.path, path_format
        )
    wanted = set(names)
    return {
        name: values[name]
        for name in NAMES
        if name in wanted and name in values
    }


def sanitise(hints: Mapping[Any, object]) -> dict[str, HintValue]:
    """Bring hints into the form that Nova stores.

    Numbers and truth values become text as Nova itself would write them;
    ``None`` is dropped, alone and in lists; what is nested becomes JSON.

    :param hints: any mapping; it is not changed.
    :returns: strings and lists of strings by name.
    """
    clean: dict[str, HintValue] = {}
    for name, value in hints.items():
        if value is None or name is None:
            continue
        if isinstance(value, set | frozenset):
            value = sorted(value, key=str)
        if isinstance(value, list | tuple):
            clean[str(name)] = [
                _text(item) for item in value if item is not None
            ]
        else:
            clean[str(name)] = _text(value)
    return clean


def _text(value: object) -> str:
    if isinstance(value, str):
        # A subclass of str may know tricks that JSON does not.
        return str(value)
    if isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return json.dumps(
            _plain(value),
            ensure_ascii=False,
            separators=(',', ':'),
            sort_keys=True,
        )
    return str(value)


def _plain(value: object) -> object:
    """Return what JSON can write of a nested value."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return _text(value)


def accept(
    provider: str, offer: Mapping[Any, object], taken: Container[str]
) -> tuple[dict[str, HintValue], tuple[Refusal, ...]]:
    """Choose which hints of a provider are sent.

    :param provider: the provider's name.
    :param offer: what it returned.
    :param taken: the hints that earlier providers have set.
    :returns: the hints to send, and those that are not sent with the reason.
    """
    accepted: dict[str, HintValue] = {}
    refused = []
    for name, value in offer.items():
        if not isinstance(name, str) or not name:
            refused.append(Refusal(provider, str(name), REASON_NAME))
        elif name in RESERVED:
            refused.append(Refusal(provider, name, REASON_RESERVED))
        elif name in taken:
            refused.append(Refusal(provider, name, REASON_TAKEN))
        else:
            accepted.update(sanitise({name: value}))
    return accepted, tuple(refused)


def check_user_hints(user: Mapping[str, object], mode: str) -> None:
    """Refuse a template's own reserved hints, when they are to be refused.

    :param user: the hints that the template gives.
    :param mode: one of :data:`USER_MODES`.
    :raises ReservedHintError: in the mode ``reject``, when the template sets
        one of :data:`RESERVED`.
    """
    if mode != USER_REJECT:
        return
    reserved = sorted(name for name in user if name in RESERVED)
    if reserved:
        quoted = ', '.join(f'"{name}"' for name in reserved)
        raise ReservedHintError(
            f'The scheduler hints {quoted} are set by Heat and may not be '
            'given in a template: remove them from the scheduler hints of '
            'this resource.'
        )


def merge(
    own: Mapping[str, HintValue],
    user: Mapping[str, object],
    provided: Mapping[str, HintValue],
    mode: str,
) -> dict[str, HintValue]:
    """Put the three sources of hints together.

    :param own: the identifiers, from :func:`own_hints`.
    :param user: the hints that the template gives.
    :param provided: the providers' hints, from :func:`accept`.
    :param mode: ``override`` and ``reject``: own before user before
        provider, and a reserved name is never the user's, not even one that
        is not sent; ``keep``: user before own before provider.
    """
    given = sanitise(user)
    if mode == USER_KEEP:
        return {**provided, **own, **given}
    free = {name: v for name, v in given.items() if name not in RESERVED}
    return {**provided, **free, **own}


def is_own_word(
    sent: Mapping[str, HintValue], own: Mapping[str, HintValue]
) -> bool:
    """Tell whether the identifiers that are sent are all Heat's own.

    Only then may they be signed: a signature over an identifier that a
    template gave would certify what a tenant claims.

    :param sent: all hints that are sent, from :func:`merge`.
    :param own: the identifiers, from :func:`own_hints`.
    """
    return all(
        name in own and sent[name] == own[name]
        for name in NAMES
        if name in sent
    )
