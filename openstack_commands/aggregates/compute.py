# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from openstack import utils

from openstack_commands.aggregates.advice import inventory, nova_records
from openstack_commands.base import pages
from openstack_commands.records.rows import Row, columns

#: The first microversion in which Nova shows servers whose cell is down. If
#: Nova does not support 2.69, requests use the newest microversion of this
#: Nova.
_NEWEST: Final = '2.69'


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self._compute = connection.compute
        # By default, the shell asks Nova in microversion 2.1, in which the
        # flavor of a server is only an ID. So this default is removed.
        self._compute.default_microversion = None

    @functools.cached_property
    def _version(self) -> str:
        """Return the microversion for requests to Nova."""
        version = utils.maximum_supported_microversion(self._compute, _NEWEST)
        return str(version or _NEWEST)

    def _listed(self, path: str, noun: str, **query: Any) -> Iterator[Row]:
        """Yield the rows of a list in Nova's API."""
        return pages.listed(self._compute, path, noun, self._version, **query)

    def flavors(self) -> list[inventory.Flavor]:
        """Return all flavors, private ones too."""
        return nova_records.read_flavors(
            self._listed('/flavors/detail', 'flavors', is_public='None')
        )

    def aggregates(self) -> list[inventory.HostAggregate]:
        """Return all host aggregates."""
        return nova_records.read_aggregates(
            self._listed('/os-aggregates', 'aggregates')
        )

    def hosts(self) -> list[inventory.Host]:
        """Return all compute hosts, without their aggregates."""
        return nova_records.read_hosts(
            self._listed('/os-services', 'services', binary='nova-compute')
        )

    def servers(self) -> list[inventory.Server]:
        """Return the servers of all projects."""
        return nova_records.read_servers(
            self._listed('/servers/detail', 'servers', all_tenants='True')
        )

    def servers_named(self, names: Iterable[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs."""
        servers = []
        for name in names:
            with pages.reading_json():
                server = self._compute.find_server(
                    name,
                    ignore_missing=False,
                    details=False,
                    all_projects=True,
                )
            path = f'/servers/{server.id}'
            answer = pages.ask(self._compute, path, self._version)
            servers.append(columns(answer['server']))
        return nova_records.read_servers(servers)
