# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

import re
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib import parse

from openstack import exceptions as sdk_exceptions
from openstack import utils

from osc_placement_plugins.source import records

#: The first microversion in which Nova shows servers whose cell is down.
_DOWN_CELLS: Final = '2.69'
#: How to ask for each kind of object: the path and the query.
_REQUESTS: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    # Private flavors, too.
    'flavors': ('/flavors/detail', {'is_public': 'None'}),
    'aggregates': ('/os-aggregates', {}),
    'hosts': ('/os-services', {'binary': 'nova-compute'}),
    'servers': ('/servers/detail', {'all_tenants': 'True'}),
}
#: Seconds before a command first shows its progress, and between two lines
#: with the progress.
_PATIENCE: Final = 2.0


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    The SDK only sends the requests: its own resources would take minutes for
    20,000 servers.
    """

    def __init__(self, connection: Any) -> None:
        self._compute = connection.compute
        # By default, the shell asks Nova in microversion 2.1, in which the
        # flavor of a server is only an ID.
        self._compute.default_microversion = None

    def find_servers(self, names: Iterable[str]) -> list[records.CloudServer]:
        """Return the servers with these names or IDs.

        :raises UnreadableError: if a name fits no server, or several.
        """
        servers: list[records.CloudServer] = []
        for name in names:
            path = f'/servers/{parse.quote(name, safe="")}'
            try:
                answer = self._get(path, 'server')
            except sdk_exceptions.NotFoundException:
                servers += self.read('servers', name=re.escape(name))
            else:
                servers += _parse_answer('servers', [answer['server']], path)
        return records.select_named(servers, names, 'server')

    def read(self, noun: str, **query: str) -> list[Any]:
        """Return the records of all pages.

        :param noun: ``flavors``, ``aggregates``, ``hosts`` or ``servers``.
        :param query: which of them.
        :raises SDKException: if the last page does not come.
        """
        path, fixed_query = _REQUESTS[noun]
        key = records.KEYS[noun]
        query |= fixed_query
        all_records: list[Any] = []
        markers = set()
        last = time.monotonic()
        while True:
            answer = self._get(path, key, **query)
            all_records += _parse_answer(noun, answer, path)
            if not records.has_next_page(answer):
                return all_records
            page = answer[key]
            marker = str(page[-1].get('id')) if page else ''
            if not marker or marker in markers:
                raise sdk_exceptions.SDKException(
                    f'Nova answers a page of {noun} that is empty, or that '
                    'was there before, and not the last one, so the list is '
                    'incomplete: ask again'
                )
            markers.add(marker)
            query['marker'] = marker
            if time.monotonic() - last >= _PATIENCE and sys.stderr.isatty():
                print(f'{len(all_records)} {noun} read', file=sys.stderr)
                last = time.monotonic()

    def _get(self, path: str, key: str, **query: str) -> Mapping[str, Any]:
        """Return Nova's answer.

        :param key: the key under which the answer has its objects.
        :raises SDKException: if Nova refuses, or if something else answers,
            for example a proxy with an error page.
        """
        version = utils.maximum_supported_microversion(
            self._compute, _DOWN_CELLS
        )
        response = self._compute.get(path, params=query, microversion=version)
        sdk_exceptions.raise_from_response(
            response, f'Nova answers {response.status_code}'
        )
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if isinstance(answer, Mapping) and answer.get(key) is not None:
            return answer
        raise sdk_exceptions.SDKException(
            f'Nova answers GET {path} with something that is no JSON with '
            f'{key!r}: see whether its endpoint in Keystone is right, and '
            'whether a proxy answers instead'
        )


def _parse_answer(noun: str, answer: object, path: str) -> list[Any]:
    return records.parse_document(noun, answer, f"Nova's answer to GET {path}")
