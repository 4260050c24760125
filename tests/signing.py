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

KEY = 'an example key of 32 characters.'
OTHER_KEY = 'another example, 32 characters..'

#: Hints of project "p1", signed with ``KEY``.
EXAMPLE: dict[str, Any] = {
    'heat_root_stack_id': 'r',
    'heat_resource_uuid': ['u'],
    'heat_path_in_stack': ['root', 'res,stack'],
    'other': 'x',
    'heat_signature': (
        '3f6fc93e1a15b37b25ef59b4ab6cc02d5917ebf7d3efdbb066144546b39b1189'
    ),
}


def signature(
    hints: Mapping[str, Any], project: str = 'p1', key: str = KEY
) -> str:
    """Return the signature of hints.

    :param hints: the hints, bare strings or lists.
    :param project: the id of the server's project.
    :param key: the key.
    """
    covered = sorted(
        [name, value if isinstance(value, list) else [value]]
        for name, value in hints.items()
        if name.startswith('heat_') and name != 'heat_signature'
    )
    message = json.dumps([project, covered], separators=(',', ':'))
    return hmac.new(key.encode(), message.encode(), hashlib.sha256).hexdigest()


def signed(
    hints: Mapping[str, Any], project: str = 'p1', key: str = KEY
) -> dict[str, Any]:
    """Return hints with their signature.

    :param hints: the hints, bare strings or lists.
    :param project: the id of the server's project.
    :param key: the key.
    """
    return {**hints, 'heat_signature': signature(hints, project, key)}
