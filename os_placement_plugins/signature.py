# SPDX-License-Identifier: Apache-2.0

"""Sign the stack hints in heat-engine, and check them in nova-scheduler.

A tenant can send any hint straight to Nova. If heat-engine and
nova-scheduler share a key, heat-engine adds the hint ``heat_signature``. Its
value is the HMAC-SHA256 (RFC 2104), in hexadecimal, over the project's id
and all other hints whose names start with ``heat_``. Nobody without the key
can make a signature, or change a hint that a signature covers.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

#: The hint that holds the signature.
HINT: Final = 'heat_signature'
#: The signature covers the hints whose names start with this.
PREFIX: Final = 'heat_'
#: The fewest characters that a key may have.
MIN_KEY_LENGTH: Final = 32


class Keys:
    """The keys that heat-engine and nova-scheduler share.

    No text of this class holds a key: a key in a log is public.

    :param keys: blanks around a key do not count. Without keys nothing is
        signed.
    :raises ValueError: if a key is too short or cannot be encoded; the text
        counts the keys from 1.
    """

    __slots__ = ('_keys',)

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(
            _encode(key.strip(), number)
            for number, key in enumerate(keys, start=1)
        )

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._keys)

    def sign(self, hints: Mapping[str, Any], project_id: object) -> str:
        """Return the signature that the first key makes.

        :param hints: all hints of a server.
        :param project_id: the id of the project that owns the server.
        :returns: 64 hexadecimal digits, lower case.
        :raises ValueError: if nova-scheduler could not check the signature.
        """
        text = message(hints, project_id)
        if text is None:
            raise ValueError('a hint or the project id is no text')
        return _signature(self._keys[0], text)

    def signed(self, hints: Mapping[str, Any], project_id: object) -> bool:
        """Tell whether one of the keys signed the hints of a server.

        :param hints: all hints of the server.
        :param project_id: the id of the project that owns the server.
        :returns: False for whatever cannot be read, too.
        """
        given = strings(hints.get(HINT))
        text = message(hints, project_id)
        if given is None or len(given) != 1 or text is None:
            return False
        # With every key and in constant time: how long the answer takes
        # tells nothing about the right signature.
        found = [
            hmac.compare_digest(
                _signature(key, text).encode(),
                given[0].encode('utf-8', 'surrogatepass'),
            )
            for key in self._keys
        ]
        return any(found)


def _encode(key: str, number: int) -> bytes:
    """Return a key in UTF-8."""
    if len(key) < MIN_KEY_LENGTH:
        raise ValueError(
            f'key number {number} has fewer than {MIN_KEY_LENGTH} characters'
        )
    try:
        return key.encode()
    except UnicodeEncodeError:
        # Bytes that are no UTF-8 arrive as lone surrogates.
        raise ValueError(f'key number {number} is not UTF-8') from None


def _signature(key: bytes, text: bytes) -> str:
    """Return the signature of a message."""
    return hmac.new(key, text, hashlib.sha256).hexdigest()


def strings(value: object) -> list[str] | None:
    """Return a hint as Nova stores it, as a list of strings.

    Nova makes a list of a bare string, and a bare string of a list of one.

    :param value: the hint.
    :returns: None if the hint holds anything but strings.
    """
    given = value if isinstance(value, list | tuple) else [value]
    found = [item for item in given if isinstance(item, str)]
    return found if len(found) == len(given) else None


def message(hints: Mapping[str, Any], project_id: object) -> bytes | None:
    """Return what a signature covers: the project, and the hints by name.

    :param hints: all hints of a server.
    :param project_id: the id of the project that owns the server.
    :returns: None if a hint or the project's id is no text.
    """
    pairs = []
    for name, value in hints.items():
        if not isinstance(name, str) or not name.startswith(PREFIX):
            continue
        if name == HINT:
            continue
        values = strings(value)
        if values is None:
            return None
        pairs.append([name, values])
    if not isinstance(project_id, str):
        return None
    # ASCII, so that no character has two forms in bytes.
    return json.dumps(
        [project_id, sorted(pairs)], ensure_ascii=True, separators=(',', ':')
    ).encode('ascii')
