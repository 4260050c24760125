# SPDX-License-Identifier: Apache-2.0

"""Sign the stack hints in heat-engine, and check them in nova-scheduler.

A tenant can send any hint straight to Nova. If heat-engine and
nova-scheduler share a key, heat-engine adds the hint ``heat_signature``. Its
value is ``version:key id:digest``. The digest is an HMAC-SHA256 (RFC 2104) in
hexadecimal. It covers the version, the key's id, the project's id, the
resource's uuid and all other hints whose names start with ``heat_``. Without
the key, a tenant can neither make a signature nor change a hint that a
signature covers.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from os_placement_plugins.stack_hints import (
    RESOURCE_UUID,
    ROOT_STACK_ID,
    SIGNATURE,
    read_id,
    read_strings,
)

#: The signature covers the hints whose names start with this prefix.
PREFIX: Final = 'heat_'
#: The version of the signature's format. A new format gets a new version.
VERSION: Final = '1'
#: The fewest characters that a key may have.
MIN_KEY_LENGTH: Final = 32


class Keys:
    """The keys that heat-engine and nova-scheduler share.

    No message of this class contains a key, so that no log contains a key.

    :param keys: the keys. Spaces around a key are ignored. Without keys,
        heat-engine signs no hints, and nova-scheduler trusts all hints. An
        object without keys is false.
    :raises ValueError: if a key is too short or cannot be encoded. The text
        has the number of the key, counted from 1.
    """

    __slots__ = ('_ids', '_keys')

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(
            _encode(key.strip(), number)
            for number, key in enumerate(keys, start=1)
        )
        # The id of each key, in the order of the keys. An id is not secret.
        self._ids = tuple(_digest(key, b'key id')[:8] for key in self._keys)

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._keys)

    def sign(self, hints: Mapping[str, Any], project_id: object) -> str:
        """Return the signature that the first key makes.

        :param hints: all hints of a server.
        :param project_id: the id of the project that owns the server.
        :returns: the version, the key's id and 64 hexadecimal digits.
        :raises ValueError: if the hints have no resource uuid, or if a hint or
            the project's id is not text.
        """
        signatures = self._signatures(hints, project_id)
        if not signatures:
            raise ValueError('a hint, the uuid or the project id is not text')
        return signatures[0]

    def signed(self, hints: Mapping[str, Any], project_id: object) -> bool:
        """Tell whether one of the keys signed the hints of a server.

        :param hints: all hints of the server.
        :param project_id: the id of the project that owns the server.
        :returns: False also if the signature is missing, or if a hint is not
            text.
        """
        texts = read_strings(hints.get(SIGNATURE))
        if texts is None or len(texts) != 1:
            return False
        sent = texts[0].encode('utf-8', 'surrogatepass')
        # Compare with the signature of every key, in constant time. So a
        # tenant learns nothing about the right signature from the time.
        is_right = False
        for signature in self._signatures(hints, project_id):
            is_right |= hmac.compare_digest(signature.encode(), sent)
        return is_right

    def read_root_stack_id(
        self, hints: object, project_id: object
    ) -> str | None:
        """Return the root stack's id that the hints of a server name.

        :param hints: the hints of Nova's RequestSpec or of its database row.
        :param project_id: the id of the project that owns the server.
        :returns: None if the hints name no root stack, or if there are keys
            and none of them signed the hints. Without keys, all hints count.
        """
        if not isinstance(hints, Mapping):
            return None
        root_stack_id = read_id(hints.get(ROOT_STACK_ID))
        if root_stack_id is None:
            return None
        if self._keys and not self.signed(hints, project_id):
            return None
        return root_stack_id

    def _signatures(
        self, hints: Mapping[str, Any], project_id: object
    ) -> list[str]:
        """Return each key's signature; none if the hints cannot be signed."""
        signatures = []
        for key, key_id in zip(self._keys, self._ids, strict=True):
            text = message(hints, project_id, key_id)
            if text is not None:
                digest = _digest(key, text)
                signatures.append(f'{VERSION}:{key_id}:{digest}')
        return signatures


def _encode(key: str, number: int) -> bytes:
    if len(key) < MIN_KEY_LENGTH:
        raise ValueError(
            f'key number {number} has fewer than {MIN_KEY_LENGTH} characters'
        )
    try:
        return key.encode()
    except UnicodeEncodeError:
        # Bytes that are not valid UTF-8 arrive as lone surrogates.
        raise ValueError(f'key number {number} is not UTF-8') from None


def _digest(key: bytes, text: bytes) -> str:
    return hmac.new(key, text, hashlib.sha256).hexdigest()


def message(
    hints: Mapping[str, Any], project_id: object, key: str
) -> bytes | None:
    """Return the text that a signature covers.

    The text consists of the version, the key's id, the project, the resource,
    and the hints by name.

    :param hints: all hints of a server.
    :param project_id: the id of the project that owns the server.
    :param key: the id of the key.
    :returns: None if a hint or the project's id is not text, or if the
        resource has no id.
    """
    covered = {}
    for name, value in hints.items():
        if not isinstance(name, str) or name == SIGNATURE:
            continue
        if name.startswith(PREFIX):
            covered[name] = read_strings(value)
    uuid = covered.get(RESOURCE_UUID)
    if uuid is None or len(uuid) != 1 or not uuid[0]:
        return None
    if None in covered.values() or not isinstance(project_id, str):
        return None
    # JSON in ASCII has only one form in bytes, for heat-engine and for Nova.
    return json.dumps(
        [VERSION, key, project_id, uuid[0], sorted(covered.items())],
        ensure_ascii=True,
        separators=(',', ':'),
    ).encode('ascii')
