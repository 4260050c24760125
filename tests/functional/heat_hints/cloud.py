# SPDX-License-Identifier: Apache-2.0

"""The demo's loopback cloud, and what only the tests ask of it."""

import json
import re
from typing import Any

from demo.heat import cloud as loopback

#: What a server's action makes of its status.
_STATUS = {'suspend': 'SUSPENDED', 'resume': 'ACTIVE'}


class Cloud(loopback.Cloud):
    """A cloud whose servers can be suspended, and brought in from outside."""

    def bring(self, server: str) -> None:
        """Have a server that no Heat asked for.

        :param server: its id.
        """
        self._things[server] = {
            'server': {
                'id': server,
                'name': server,
                'status': 'ACTIVE',
                'metadata': {},
                'addresses': {},
                'flavor': {'original_name': loopback.FLAVOR},
                'image': {'id': loopback.IMAGE},
            }
        }

    def answer(
        self, method: str, path: str, body: bytes, headers: Any
    ) -> tuple[int, Any]:
        """Answer one request.

        :param method: the HTTP method.
        :param path: the path without its query.
        :param body: the body as it came.
        :param headers: the headers.
        """
        match = re.fullmatch(r'/compute/v2\.1/servers/([^/]+)/action', path)
        if method == 'POST' and match:
            (action,) = json.loads(body)
            server = self._things[match[1]]['server']
            server['status'] = _STATUS[action]
            return 202, None
        return super().answer(method, path, body, headers)
