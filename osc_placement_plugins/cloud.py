# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from openstack import exceptions as sdk_exceptions
from openstack import utils

from osc_placement_plugins import records, rows
from osc_placement_plugins.progress import progress

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

_T = TypeVar('_T')


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    The SDK only sends the requests: its own resources would take minutes for
    20,000 servers.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self._compute = connection.compute
        # By default, the shell asks Nova in microversion 2.1, in which the
        # flavor of a server is only an ID.
        self._compute.default_microversion = None

    def flavors(self) -> list[records.Flavor]:
        """Return all flavors, private ones too."""
        return self._read('flavors', self._read_flavor)

    def aggregates(self) -> list[records.Aggregate]:
        """Return all host aggregates."""
        return self._read('aggregates', rows.read_aggregate)

    def hosts(self) -> list[records.Host]:
        """Return all compute hosts, without their aggregates."""
        return self._read('hosts', rows.read_host)

    def servers(self) -> list[records.Server]:
        """Return the servers of all projects."""
        return self._read('servers', rows.read_server)

    def servers_named(self, names: Iterable[str]) -> list[records.Server]:
        """Return the servers with these names or IDs.

        :raises UnreadableError: if a name fits several servers.
        """
        servers = []
        for name in names:
            path = f'/servers/{self._find_server(name)}'
            row = rows.normalize(self._get(path, 'server')['server'])
            servers.append(rows.read_server(row))
        return servers

    def _read_flavor(self, row: rows.Row) -> records.Flavor:
        if 'extra_specs' not in row:
            # This does not say that the flavor has none: Nova may be older,
            # or hide them from this user.
            path = f'/flavors/{row.get("id")}/os-extra_specs'
            row = {**row, **self._get(path, 'extra_specs')}
        return rows.read_flavor(row)

    def _find_server(self, name: str) -> str:
        try:
            server = self._compute.find_server(
                name, ignore_missing=False, details=False, all_projects=True
            )
        except sdk_exceptions.DuplicateResource:
            servers = self._compute.servers(
                details=False, all_projects=True, name=name
            )
            ids = [each.id for each in servers if each.name == name]
            raise records.ambiguous('server', name, ids) from None
        server_id: str = server.id
        return server_id

    def _read(
        self, noun: str, parse: Callable[[rows.Row], _T | None]
    ) -> list[_T]:
        path, query = _REQUESTS[noun]
        objects = []
        try:
            for row in progress(self._list(noun, path, query), f'{noun} read'):
                parsed = parse(row)
                if parsed is not None:
                    objects.append(parsed)
        except records.UnreadableError as exc:
            text = f'Nova answers GET {path} in another form: {exc}'
            raise sdk_exceptions.SDKException(text) from exc
        return objects

    def _list(
        self, noun: str, path: str, query: Mapping[str, str]
    ) -> Iterator[rows.Row]:
        """Yield the rows of all pages.

        :raises SDKException: if the last page does not come.
        """
        markers = set()
        while True:
            answer = self._get(path, rows.KEYS[noun], **query)
            page = [*rows.list_rows(answer)]
            yield from page
            if not rows.has_next_page(answer):
                return
            marker = str(page[-1].get('id')) if page else ''
            if not marker or marker in markers:
                raise sdk_exceptions.SDKException(
                    f'Nova answers a page of {noun} that is empty, or that '
                    'was there before, and not the last one, so the list is '
                    'incomplete: ask again'
                )
            markers.add(marker)
            query = {**query, 'marker': marker}

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
