# SPDX-License-Identifier: Apache-2.0

"""Read a running cloud through the SDK. No request changes the cloud."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from openstack import utils

from openstack_commands.aggregates.advice import (
    inventory,
    nova_records,
    offers,
)
from openstack_commands.base import pages
from openstack_commands.records.rows import Row, columns

#: The first microversion in which Nova shows the hints of servers. If Nova
#: does not support 2.100, requests use the newest microversion of this Nova.
_NEWEST: Final = '2.100'
#: The microversion of requests to Placement; nova-scheduler uses the same.
_PLACEMENT_VERSION: Final = '1.36'
#: The query for the providers that share their resources with the other
#: providers in the same aggregate of Placement.
_SHARING: Final = {'required': 'MISC_SHARES_VIA_AGGREGATE'}
#: The parameters of a request to Placement.
Query = Mapping[str, str]


class Cloud:
    """Flavors, aggregates, hosts and servers of a running cloud.

    :param connection: the SDK's connection.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        #: How many requests were sent to Placement.
        self.placement_requests = 0
        self._answers: dict[tuple[Any, ...], Any] = {}
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

    def groups(self) -> list[nova_records.Group]:
        """Return the server groups of all projects."""
        path, noun = '/os-server-groups', 'server_groups'
        return nova_records.read_groups(
            self._listed(path, noun, all_projects='True')
        )

    def servers_named(self, names: Iterable[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs."""
        servers = []
        for name in names:
            with pages.reading_json('Nova'):
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

    def candidates(self, query: Query) -> tuple[offers.Answer | None, str]:
        """Ask Placement for allocation candidates.

        :param query: the parameters of ``GET /allocation_candidates``.
        :returns: the answer and an empty text; if Placement refuses the
            request, None and the reason.
        """
        answer = self._ask_placement('/allocation_candidates', query)
        if answer.status_code == HTTPStatus.BAD_REQUEST:
            return None, str(answer.json()['errors'][0]['detail'])
        return pages.read_answer(answer, 'Placement'), ''

    def able(self, queries: Mapping[str, Query]) -> dict[str, offers.Able]:
        """Ask Placement which providers have each resource class and trait.

        Placement may cut a list of allocation candidates, but never a list of
        providers.

        :param queries: class or trait -> the parameters of
            ``GET /resource_providers``.
        :returns: class or trait -> the providers that have it.
        """
        sharing = {provider['uuid'] for provider in self._providers(_SHARING)}
        able = {}
        for name, query in queries.items():
            providers = self._providers(query)
            able[name] = offers.able(providers, name, self.nodes, sharing)
        return able

    def _providers(self, query: Query) -> list[Mapping[str, Any]]:
        """Return the resource providers that match a query."""
        answer = self._ask_placement('/resource_providers', query)
        return list(
            pages.read_answer(answer, 'Placement')['resource_providers']
        )

    def _ask_placement(self, path: str, query: Query) -> Any:
        """Return Placement's answer; an equal request is sent only once."""
        key = path, *sorted(query.items())
        if key not in self._answers:
            self.placement_requests += 1
            self._answers[key] = self._connection.placement.get(
                path, params=dict(query), microversion=_PLACEMENT_VERSION
            )
        return self._answers[key]

    @functools.cached_property
    def nodes(self) -> dict[str, str]:
        """Return for each node: ID of the node -> name of its host.

        The ID of a node is also the ID of its provider in Placement.
        """
        hosts = {}
        for node in self._listed('/os-hypervisors/detail', 'hypervisors'):
            service: Any = node['service']
            hosts[str(node['id'])] = str(service['host'])
        return hosts
