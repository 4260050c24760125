# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Final

from openstack import exceptions as sdk_exceptions
from openstack import utils

from osc_placement_plugins import records, rows
from osc_placement_plugins.progress import progress

#: The first microversion in which Nova shows servers whose cell is down.
_DOWN_CELLS: Final = '2.69'


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self._compute = connection.compute
        # By default, the shell asks Nova in microversion 2.1, in which the
        # flavor of a server is only an ID. Without this default, the SDK
        # chooses a microversion.
        self._compute.default_microversion = None

    def flavors(self) -> list[records.Flavor]:
        """Return all flavors, private ones too."""
        with _reading_json():
            # A list without extra specs does not say that a flavor has none:
            # Nova may be older, or hide them. The SDK then asks for each.
            flavors = self._compute.flavors(
                get_extra_specs=True, is_public=None
            )
            return [
                records.Flavor(
                    name=flavor.name,
                    extra_specs=flavor.extra_specs,
                    id=flavor.id,
                )
                for flavor in progress(flavors, 'flavors read')
            ]

    def aggregates(self) -> list[records.Aggregate]:
        """Return all host aggregates."""
        with _reading_json():
            return [
                records.Aggregate(
                    name=aggregate.name,
                    metadata=aggregate.metadata,
                    hosts=tuple(aggregate.hosts),
                )
                for aggregate in self._compute.aggregates()
            ]

    def hosts(self) -> list[records.Host]:
        """Return all compute hosts, without their aggregates."""
        with _reading_json():
            services = self._compute.services(binary='nova-compute')
            return [
                records.Host(
                    name=service.host,
                    state=records.state_of(service.status, service.state),
                    disabled_reason=service.disabled_reason or '',
                )
                for service in progress(services, 'services read')
            ]

    def servers(self) -> list[records.Server]:
        """Return the servers of all projects."""
        with _reading_json():
            servers = progress(self._list_servers(), 'servers read')
            return [rows.read_server(row) for row in servers]

    def servers_named(self, names: Iterable[str]) -> list[records.Server]:
        """Return the servers with these names or IDs.

        :raises CommandError: if a name fits several servers.
        """
        servers = []
        for name in names:
            with _reading_json():
                server_id = self._find_server(name)
                answer = self._get(f'/servers/{server_id}')
            servers.append(rows.read_server(rows.normalize(answer['server'])))
        return servers

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

    def _list_servers(self) -> Iterator[rows.Row]:
        """Yield the servers of all projects as Nova shows them.

        The SDK's own resources would take minutes for 20,000 servers.
        """
        query = {'all_tenants': 'True'}
        while True:
            answer = self._get('/servers/detail', **query)
            servers = answer['servers']
            for server in servers:
                yield rows.normalize(server)
            if 'servers_links' not in answer:
                return
            if not servers:
                raise sdk_exceptions.SDKException(
                    'Nova answers an empty page of servers that is not the '
                    'last one, so the list is incomplete: ask again'
                )
            query['marker'] = servers[-1]['id']

    def _get(self, path: str, **query: str) -> Any:
        version = utils.maximum_supported_microversion(
            self._compute, _DOWN_CELLS
        )
        response = self._compute.get(path, params=query, microversion=version)
        sdk_exceptions.raise_from_response(
            response, f'Nova answers {response.status_code}'
        )
        return response.json()


@contextlib.contextmanager
def _reading_json() -> Iterator[None]:
    """Convert an error of the JSON reader to an error that names Nova.

    An answer that is not JSON can be, for example, an error page of a proxy.

    :raises SDKException: in place of an error of the JSON reader.
    """
    try:
        yield
    except records.UnreadableError:
        raise
    except ValueError as exc:
        raise sdk_exceptions.SDKException(
            'Nova answers something that is no JSON: see whether its '
            'endpoint in Keystone is right, and whether a proxy answers '
            'instead'
        ) from exc
