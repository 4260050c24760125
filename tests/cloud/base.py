# SPDX-License-Identifier: Apache-2.0

"""What the tests on the cloud share."""

import concurrent.futures
import functools
import json
import signal
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import testtools
from openstack.compute.v2 import server as compute_server

from tests.cloud import databases, layout, processes

REGIONS = {region.name: region for region in layout.REGIONS}
ONE, TWO = REGIONS

#: The version of Nova's API in which servers are asked for.
VERSION = '2.90'

#: How many requests are on their way at the same time.
WORKERS = 10

#: A login and the looks at what there is are made once for all tests.
connect = functools.cache(layout.connect)


class CloudTest(testtools.TestCase):
    #: Where a test works that is about one region.
    region = ONE

    def setUp(self) -> None:
        super().setUp()
        self.user = {name: connect(name, layout.USER) for name in REGIONS}
        self.admin = {name: connect(name) for name in REGIONS}

    wait_until = staticmethod(processes.wait_until)

    def servers(self, region: str) -> dict[str, compute_server.Server]:
        """Return the servers of a region as Nova lists them, by id."""
        compute = self.admin[region].compute
        servers = compute.servers(all_projects=True)
        return {server.id: server for server in servers}

    def hints(self, region: str, server: str) -> dict[str, list[str]]:
        """Return the scheduler hints that Nova has stored for a server."""
        ((spec,),) = databases.query(
            f'nova_api_{region}',
            'SELECT spec FROM request_specs WHERE instance_uuid = %s',
            server,
        )
        return json.loads(spec)['nova_object.data']['scheduler_hints']


class ServerTest(CloudTest):
    """A test that boots servers in a region and looks at their hosts."""

    def setUp(self) -> None:
        super().setUp()
        self.hosts = REGIONS[self.region].hosts
        self.compute = self.admin[self.region].compute
        self.small = self.compute.find_flavor(layout.FLAVOR).id
        self.image = self.admin[self.region].image.find_image(layout.IMAGE).id
        self._servers: list[str] = []
        self.addCleanup(self.remove_servers)

    def make_aggregate(self, metadata: dict[str, str]) -> str:
        """Make an aggregate of all hosts and return its id."""
        made = self.compute.create_aggregate(name=unique('aggregate')).id
        self.addCleanup(self.compute.delete_aggregate, made)
        self.compute.set_aggregate_metadata(made, metadata)
        for host in self.hosts:
            self.compute.add_host_to_aggregate(made, host)
            self.addCleanup(
                self.compute.remove_host_from_aggregate, made, host
            )
        return made

    def make_group(self, policy: str, **rules: int) -> str:
        made = self.compute.create_server_group(
            name=unique('group'), policy=policy, rules=rules
        ).id
        self.addCleanup(self.compute.delete_server_group, made)
        return made

    def boot(
        self, hints: dict[str, object], flavor: str = '', **more: object
    ) -> str:
        """Ask for a server and return its id.

        :param hints: for the scheduler.
        :param more: what else is asked for.
        """
        server = {
            'name': unique('server'),
            'flavorRef': flavor or self.small,
            'imageRef': self.image,
            'networks': 'none',
            **more,
        }
        response = self.compute.post(
            '/servers',
            json={'server': server, 'os:scheduler_hints': hints},
            microversion=VERSION,
        )
        self.assertEqual(202, response.status_code, response.text)
        made = response.json()['server']['id']
        self._servers.append(made)
        return made

    def remove_servers(self, *servers: str) -> None:
        """Delete servers, by default all; wait until they are gone."""
        # Nova fails if two requests delete the same server at once.
        unwanted = {*(servers or self._servers)}
        self.at_once(self.compute.delete_server, unwanted)
        self.wait_until(
            lambda: self.assertEqual(
                set(), unwanted & set(self.servers(self.region))
            )
        )

    @staticmethod
    def at_once(ask: Callable[[Any], Any], wishes: Iterable[Any]) -> list:
        """Ask for many things, some of them at once; return the answers."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(ask, wishes))

    def hosts_of(self, servers: Iterable[str]) -> list[str | None]:
        """Wait until servers run or have failed, and return their hosts.

        :returns: None for each that is in ERROR.
        """
        listed = self.wait_for_statuses(servers, 'ACTIVE', 'ERROR')
        return [
            server.compute_host if server.status == 'ACTIVE' else None
            for server in listed
        ]

    def wait_for_statuses(
        self, servers: Iterable[str], *statuses: str
    ) -> list[compute_server.Server]:
        """Wait until nothing is done with servers any more; return them."""

        def check() -> list[compute_server.Server]:
            by_id = self.servers(self.region)
            listed = [by_id[server] for server in servers]
            for server in listed:
                self.assertIn(server.status, statuses)
                self.assertIsNone(server.task_state)
            return listed

        return self.wait_until(check)

    def boot_before_claims(
        self, boot: Callable[[Any], str], wishes: Iterable[Any]
    ) -> list[str]:
        """Ask for servers, and let no host claim one before all have hosts.

        :returns: the ids of the servers, in the order of the wishes.
        """
        computes = [
            f'{self.region}.nova-compute-{host}' for host in self.hosts
        ]
        self.addCleanup(processes.send, signal.SIGCONT, *computes)
        processes.send(signal.SIGSTOP, *computes)
        servers = self.at_once(boot, wishes)
        self.wait_until(lambda: self.check_scheduled(servers))
        processes.send(signal.SIGCONT, *computes)
        return servers

    def check_scheduled(self, servers: list[str]) -> None:
        """Raise unless a scheduler has chosen the host of each server."""
        rows = databases.query(
            f'nova_api_{self.region}',
            'SELECT cell_id FROM instance_mappings WHERE instance_uuid IN %s',
            servers,
        )
        self.assertNotIn((None,), rows, 'servers without a host')


def unique(word: str) -> str:
    """Return a name that nothing else has."""
    return f'{word}-{uuid.uuid4().hex[:8]}'
