# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib import parse

from openstack import exceptions as sdk_exceptions
from openstack import utils

from osc_placement_plugins.source import MICROVERSION, REQUESTS, records


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    The SDK only sends the requests: its own resources would take minutes for
    20,000 servers.

    :raises SDKException: if Nova does not offer :data:`MICROVERSION`.
    """

    def __init__(self, connection: Any) -> None:
        self._compute = connection.compute
        # By default, the shell asks Nova in microversion 2.1, in which the
        # flavor of a server is only an ID.
        self._compute.default_microversion = None
        if not utils.supports_microversion(self._compute, MICROVERSION):
            raise sdk_exceptions.SDKException(
                f'{self._compute.get_endpoint()} does not say that it offers '
                f'microversion {MICROVERSION} of Nova: see whether the '
                'endpoint in Keystone is right, and whether a proxy answers '
                'instead'
            )

    def find_servers(self, names: Iterable[str]) -> list[records.CloudServer]:
        """Return the servers with these names or IDs.

        :raises UnreadableError: if a name fits no server, or several.
        """
        servers: list[records.CloudServer] = []
        for name in names:
            path = f'/servers/{parse.quote(name, safe="")}'
            try:
                answer = self._get(path)
            except sdk_exceptions.NotFoundException:
                servers += self.read('servers', name=re.escape(name))
            else:
                servers += _parse_answer('servers', _list_one(answer), path)
        return records.select_named(servers, names, 'server')

    def read(self, noun: str, **query: str) -> list[Any]:
        """Return the records of all pages.

        :param noun: ``flavors``, ``aggregates``, ``hosts`` or ``servers``.
        :param query: which of them.
        :raises SDKException: if the last page does not come.
        """
        path = REQUESTS[noun]
        all_records: list[Any] = []
        markers = set()
        while True:
            answer = self._get(path, **query)
            all_records += _parse_answer(noun, answer, path)
            marker = records.read_marker(noun, answer)
            if marker is None:
                return all_records
            if marker in markers:
                raise sdk_exceptions.SDKException(
                    f'Nova answers a page of {noun} that is empty, or that '
                    'was there before, and not the last one, so the list is '
                    'incomplete: ask again'
                )
            markers.add(marker)
            query['marker'] = marker

    def _get(self, path: str, **query: str) -> Any:
        """Return Nova's answer; None if it is no JSON.

        :raises SDKException: if Nova refuses.
        """
        response = self._compute.get(
            path, params=query, microversion=MICROVERSION
        )
        sdk_exceptions.raise_from_response(
            response, f'Nova answers {response.status_code}'
        )
        try:
            return response.json()
        except (ValueError, RecursionError):
            return None


def _list_one(answer: object) -> object:
    """Return the answer about one server as a list of servers."""
    if not isinstance(answer, Mapping):
        return answer
    return {'servers': [answer.get('server')]}


def _parse_answer(noun: str, answer: object, path: str) -> list[Any]:
    """Return the records in an answer.

    :raises SDKException: if something else answers, for example a proxy.
    """
    try:
        return records.parse_answer(noun, answer)
    except records.UnreadableError as exc:
        raise sdk_exceptions.SDKException(
            f"Nova's answer to GET {path} is of no use: {exc}; see whether "
            'the endpoint in Keystone is right, and whether a proxy answers '
            'instead'
        ) from exc
