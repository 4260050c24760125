# SPDX-License-Identifier: Apache-2.0

"""The signature of stack hints, written down once more, for the tests.

heat-engine signs and nova-scheduler checks, with the same code. The tests hold
that code to this.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

#: No character that a log or JSON would write in another way.
KEY = 'an example key of 32 characters.'
OTHER_KEY = 'another example, 32 characters..'

#: Hints of project "p1", signed with ``KEY``.
EXAMPLE: dict[str, Any] = {
    'heat_root_stack_id': 'r',
    'heat_resource_uuid': ['u'],
    'heat_path_in_stack': ['root', 'res,stack'],
    'other': 'x',
    'heat_signature': (
        '1:d8fbf8b7:'
        'addf65f82c7aa3c5d9d1b00786a0709d2848ce27d4cc257aff5dad0c941cadc8'
    ),
}


def signature(
    hints: Mapping[str, Any], project: str = 'p1', key: str = KEY
) -> str:
    """Return the signature of hints.

    :param hints: the hints, bare strings or lists.
    """
    covered = sorted(
        [name, value if isinstance(value, list) else [value]]
        for name, value in hints.items()
        if name.startswith('heat_') and name != 'heat_signature'
    )
    uuid = dict(covered).get('heat_resource_uuid', [''])[0]
    key_id = digest(key, 'key id')[:8]
    message = json.dumps(
        ['1', key_id, project, uuid, covered], separators=(',', ':')
    )
    return f'1:{key_id}:{digest(key, message)}'


def digest(key: str, text: str) -> str:
    """Return the HMAC-SHA256 of a text, in hexadecimal."""
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def signed(
    hints: Mapping[str, Any], project: str = 'p1', key: str = KEY
) -> dict[str, Any]:
    """Return hints with their signature, and with the uuid that it needs."""
    hints = {'heat_resource_uuid': 'u', **hints}
    return {**hints, 'heat_signature': signature(hints, project, key)}
