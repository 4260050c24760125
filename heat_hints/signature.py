# SPDX-License-Identifier: Apache-2.0

"""Sign the hints that are Heat's own word, so that Nova can believe them.

A tenant can send any hint straight to Nova. With a key that heat-engine and
nova-scheduler share, the hook adds one more hint, ``heat_signature``: the
HMAC-SHA256 (RFC 2104) over the project and all hints whose names start with
``heat_``. Who does not have the key can neither make one nor change a hint
that it covers.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping

from heat_hints.hints import SIGNATURE, HintValue

#: Hints whose names start so are signed, whoever gives them.
PREFIX = 'heat_'
#: The fewest characters that a key may have.
MIN_KEY_LENGTH = 32


def read_keys(values: Iterable[str]) -> tuple[str, ...]:
    """Return the keys that an option lists.

    :param values: what the option holds; blanks around a key do not count,
        and neither does an empty entry.
    """
    return tuple(key for value in values if (key := value.strip()))


def is_usable(key: str) -> bool:
    """Tell whether hints may be signed with a key.

    :param key: one of those from :func:`read_keys`.
    """
    # Bytes that are no UTF-8 arrive as lone surrogates.
    return len(key) >= MIN_KEY_LENGTH and not any(
        '\ud800' <= character <= '\udfff' for character in key
    )


def message(project_id: str | None, hints: Mapping[str, HintValue]) -> bytes:
    """Return what is signed: the project, and the hints in their order.

    Nova makes lists of bare strings, and bare strings of lists of one, so
    both are written alike.

    :param project_id: the project whose server it is.
    :param hints: all hints of the server.
    """
    pairs = [
        [name, [value] if isinstance(value, str) else value]
        for name, value in sorted(hints.items())
        if name.startswith(PREFIX) and name != SIGNATURE
    ]
    # ASCII, so that no character has two forms in bytes.
    return json.dumps(
        [project_id, pairs], ensure_ascii=True, separators=(',', ':')
    ).encode()


def sign(
    key: str, project_id: str | None, hints: Mapping[str, HintValue]
) -> str:
    """Return the value of the hint ``heat_signature``.

    :param key: the key that heat-engine and nova-scheduler share.
    :param project_id: the project whose server it is.
    :param hints: all hints of the server.
    :returns: 64 hexadecimal digits, lower case.
    """
    return hmac.new(
        key.encode(), message(project_id, hints), hashlib.sha256
    ).hexdigest()
