# SPDX-License-Identifier: Apache-2.0

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

A tenant can send the same hints without Heat. Where Heat signs its own
(:class:`Keys`), only signed ones are believed: the signature is HMAC-SHA256,
in hexadecimal, over the project's id and all hints whose names begin with
``heat_``.
"""

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

ROOT_STACK_ID: Final = 'heat_root_stack_id'
STACK_ID: Final = 'heat_stack_id'
STACK_NAME: Final = 'heat_stack_name'
PATH_IN_STACK: Final = 'heat_path_in_stack'
RESOURCE_NAME: Final = 'heat_resource_name'
RESOURCE_UUID: Final = 'heat_resource_uuid'
SIGNATURE: Final = 'heat_signature'

#: What the signature covers: the hints whose names begin like this.
PREFIX: Final = 'heat_'

#: A key that is shorter than this, in characters, is not used.
MIN_KEY_LENGTH: Final = 32

#: An id that is longer than this, in characters, is none: Heat's have 36. It
#: bounds what remembering the ids of many servers can take.
MAX_ID_LENGTH: Final = 64


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


class Keys:
    """The keys of Heat, and what they signed.

    They are in no text that this class gives: a key in a log is public.

    :param keys: any of them may have signed.
    """

    __slots__ = ('_keys',)

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(_bytes(key) for key in keys)

    def __len__(self) -> int:
        """Return how many keys there are; without any, nothing is signed."""
        return len(self._keys)

    def signed(self, hints: Mapping[str, Any], project_id: object) -> bool:
        """Tell whether Heat signed these hints for this project.

        :param hints: a server's hints, in lists or bare.
        :param project_id: the id of the project that owns the server.
        :returns: True if one of the keys did; False for whatever cannot be
            read.
        """
        given = _text(hints.get(SIGNATURE))
        message = _signed_message(hints, project_id)
        if given is None or message is None:
            return False
        # With every key, and compared in constant time: how long it takes
        # tells nothing about the right signature.
        found = [
            hmac.compare_digest(
                _bytes(hmac.new(key, message, hashlib.sha256).hexdigest()),
                _bytes(given),
            )
            for key in self._keys
        ]
        return any(found)


def read_keys(option: Iterable[str]) -> tuple[Keys | None, tuple[int, ...]]:
    """Return the keys that an operator configured.

    :param option: the keys as configured; blanks around them and empty
        entries do not count.
    :returns: the usable keys, and which of those given are too short,
        counted from 1. No keys at all, instead of none that are usable, is
        None: then nothing is signed and every hint is believed.
    """
    given = [key for key in (item.strip() for item in option) if key]
    if not given:
        return None, ()
    short = [
        number
        for number, key in enumerate(given, start=1)
        if len(key) < MIN_KEY_LENGTH
    ]
    keys = Keys(key for key in given if len(key) >= MIN_KEY_LENGTH)
    return keys, tuple(short)


def _bytes(text: str) -> bytes:
    """Return a text in UTF-8, even one that Unicode forbids."""
    return text.encode('utf-8', 'surrogatepass')


def _signed_message(
    hints: Mapping[str, Any], project_id: object
) -> bytes | None:
    """Return what the signature of hints covers; None if nothing can."""
    pairs = []
    for name, value in hints.items():
        if not isinstance(name, str) or not name.startswith(PREFIX):
            continue
        if name == SIGNATURE:
            continue
        # Nova wraps a bare string, and unwraps a list of one.
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not all(
            isinstance(item, str) for item in values
        ):
            return None
        pairs.append([name, list(values)])
    if not isinstance(project_id, str):
        return None
    message = json.dumps(
        [project_id, sorted(pairs)],
        ensure_ascii=True,
        separators=(',', ':'),
    )
    return message.encode('ascii')


def _text(value: object) -> str | None:
    """Return a hint that is one string, in a list of one or bare."""
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) and value else None


def _id(value: object) -> str | None:
    """Return a hint that is an id."""
    text = _text(value)
    return text if text is None or len(text) <= MAX_ID_LENGTH else None


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


def read(
    hints: object, project_id: object = None, keys: Keys | None = None
) -> StackHints:
    """Return what a server's scheduler hints tell about its stack.

    :param hints: the hints of Nova's RequestSpec or of its database row;
        None is no hints.
    :param project_id: the id of the project that owns the server; it counts
        if there are keys.
    :param keys: the keys of Heat: hints that none of them signed tell
        nothing. With None every hint is believed.
    :returns: what they tell; a part that they do not tell is None.
    """
    if not isinstance(hints, Mapping):
        return StackHints()
    if keys is not None and not keys.signed(hints, project_id):
        return StackHints()
    return StackHints(
        root_stack_id=_id(hints.get(ROOT_STACK_ID)),
        stack_id=_id(hints.get(STACK_ID)),
        stack_name=_text(hints.get(STACK_NAME)),
        path=read_path(hints.get(PATH_IN_STACK)),
        resource_name=_text(hints.get(RESOURCE_NAME)),
        resource_uuid=_id(hints.get(RESOURCE_UUID)),
    )


def read_stored(text: object, keys: Keys | None = None) -> StackHints:
    """Return what a row of Nova's ``request_specs`` tells.

    :param text: the column ``spec``: a RequestSpec, serialized as JSON.
    :param keys: as for :func:`read`; the project is the row's.
    :returns: what its hints tell; nothing if the text is not understood.
    """
    if not isinstance(text, str | bytes):
        return StackHints()
    try:
        data = json.loads(text)['nova_object.data']
        hints, project_id = data['scheduler_hints'], data.get('project_id')
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return StackHints()
    return read(hints, project_id, keys)
