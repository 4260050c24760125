# SPDX-License-Identifier: Apache-2.0

"""A stub cloud with three regions, at Senlin's driver seam.

The only stub of the Senlin demo and of its functional tests. Senlin talks to
a cloud through a driver: an object with one factory per service, each given
the connection parameters, ``region_name`` among them. This one keeps
servers and stacks in dictionaries, one per region. A call for a server that
lives in another region gets what a real region would answer: 404.

A region can be told to fail.
"""

import collections
import dataclasses
import types
from collections.abc import Iterable
from typing import Any

from testing.senlin import driver

SERVICES = ('compute', 'image', 'network', 'orchestration', 'block-storage')


@dataclasses.dataclass
class Region:
    """What one region holds.

    :param name: the region's name.
    :param catalog: the services that have an endpoint there.
    :param servers: id -> server.
    :param ports: id -> port.
    :param floating: id -> floating IP.
    :param stacks: id -> stack.
    :param failures: driver method -> the message with which such calls fail.
        ``probe compute`` stands for the question whether Nova answers, and so
        for each service.
    """

    name: str
    catalog: set[str] = dataclasses.field(
        default_factory=lambda: set(SERVICES)
    )
    servers: dict[str, driver.Thing] = dataclasses.field(default_factory=dict)
    ports: dict[str, driver.Thing] = dataclasses.field(default_factory=dict)
    floating: dict[str, driver.Thing] = dataclasses.field(default_factory=dict)
    stacks: dict[str, driver.Thing] = dataclasses.field(default_factory=dict)
    failures: dict[str, str] = dataclasses.field(default_factory=dict)


class Cloud:
    """Three regions, and the driver that leads there."""

    #: What the catalog of a region offers unless told otherwise.
    services = SERVICES

    def __init__(self, names: Iterable[str]) -> None:
        """Build the cloud."""
        self.names = list(names)
        self.reset()
        self.driver = types.SimpleNamespace(
            compute=self._factory(driver.Compute),
            glance=self._factory(driver.Image),
            network=self._factory(driver.Network),
            orchestration=self._factory(driver.Orchestration),
            identity=self._factory(driver.Identity),
            message=self._factory(driver.Queue),
            block_storage=self._factory(driver.Client),
            workflow=self._factory(driver.Client),
            loadbalancing=self._factory(driver.LoadBalancer),
            octavia=self._factory(driver.Client),
        )

    def reset(self) -> None:
        """Become a new cloud."""
        self.regions = {name: Region(name) for name in self.names}
        #: Regions that Keystone knows; take one out to make it unknown.
        self.keystone_regions = set(self.names)
        #: Set to a message to let every call of Keystone fail.
        self.keystone_failure = ''
        #: Region and service of each question whether a service is there.
        self.probes: list[tuple[str, str]] = []
        #: Queue name -> bodies of the messages posted there.
        self.queues: dict[str, list[Any]] = collections.defaultdict(list)
        #: Pool -> member id -> id of the member's server.
        self.pools: dict[str, dict[str, str]] = collections.defaultdict(dict)

    def heal(self) -> None:
        """Take all faults out."""
        self.keystone_failure = ''
        for region in self.regions.values():
            region.failures.clear()

    def _factory(self, client: type[driver.Client]) -> type[driver.Client]:
        """Return a driver class that is bound to this cloud."""
        return type(client.__name__, (client,), {'cloud': self})

    def region_of_server(self, server_id: str) -> str | None:
        """Return the name of the region that holds a server, or ``None``."""
        for region in self.regions.values():
            if server_id in region.servers:
                return region.name
        return None

    def servers_of(self, cluster_id: str) -> dict[str, int]:
        """Count the servers of a cluster in each region.

        :param cluster_id: the cluster's id, which Senlin's server profile
            writes into the metadata of each server.
        :returns: region name -> number of servers, for every region.
        """
        counts = {}
        for name, region in self.regions.items():
            owners = [
                server.metadata.get('cluster_id')
                for server in region.servers.values()
            ]
            counts[name] = owners.count(cluster_id)
        return counts
