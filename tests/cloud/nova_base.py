# SPDX-License-Identifier: Apache-2.0

"""What the tests with aggregates and flavors share."""

import collections
import concurrent.futures
import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

from tests import signing
from tests.cloud import base, layout, logs, mariadb, processes

#: What ComputeCapabilitiesFilter, which the documentation leaves enabled,
#: does not take for a capability.
SCOPE = 'aggregate_instance_extra_specs:'

#: The version of Nova's API in which servers are asked for.
VERSION = '2.90'

#: The hosts of RegionOne, where most tests work.
HOSTS = layout.REGIONS[0].hosts

#: How many requests are on their way at the same time.
WORKERS = 10


class PlacementTest(base.CloudTest):
    """A test that boots servers in a region and looks at their hosts."""

    def setUp(self) -> None:
        super().setUp()
        (self.hosts,) = (
            region.hosts
            for region in layout.REGIONS
            if region.name == self.region
        )
        self.compute = self.admin[self.region].compute
        self._servers: list[str] = []
        self.addCleanup(self.remove_servers)
        self.image = self.admin[self.region].image.find_image(layout.IMAGE).id

    def make_aggregate(
        self, metadata: dict[str, str], *hosts: str, name: str = ''
    ) -> str:
        """Make a host aggregate and return its id."""
        made = self.compute.create_aggregate(
            name=name or base.unique('aggregate')
        ).id
        self.addCleanup(self.compute.delete_aggregate, made)
        if metadata:
            self.compute.set_aggregate_metadata(made, metadata)
        for host in hosts:
            self.compute.add_host_to_aggregate(made, host)
            self.addCleanup(
                self.compute.remove_host_from_aggregate, made, host
            )
        return made

    def make_flavor(
        self,
        extra_specs: dict[str, str],
        name: str = '',
        **size: int,
    ) -> str:
        """Make a flavor and return its id.

        :param extra_specs: keys without a namespace get the scope that the
            documentation recommends.
        :param name: its name, if it matters.
        :param size: what it has more of than one processor, 64 MiB of memory
            and 1 GB of disk.
        """
        made = self.compute.create_flavor(
            name=name or base.unique('flavor'),
            **{'vcpus': 1, 'ram': 64, 'disk': 1, **size},
        ).id
        self.addCleanup(self.compute.delete_flavor, made)
        scoped_specs = {}
        for key, value in extra_specs.items():
            scope = '' if ':' in key else SCOPE
            scoped_specs[scope + key] = value
        if scoped_specs:
            self.compute.create_flavor_extra_specs(made, scoped_specs)
        return made

    def make_group(self, policy: str) -> str:
        """Make a server group and return its id."""
        made = self.compute.create_server_group(
            name=base.unique('group'), policy=policy
        ).id
        self.addCleanup(self.compute.delete_server_group, made)
        return made

    def stack(self, **more: object) -> dict[str, object]:
        """Return the hints of a stack of its own, as Heat would sign them."""
        hints = {'heat_root_stack_id': base.unique('stack')}
        project = self.admin[self.region].current_project_id
        return {**signing.signed(hints, project, signing.KEY), **more}

    def boot(
        self,
        flavor: str,
        hints: dict[str, object] | None = None,
        host: str = '',
    ) -> str:
        """Ask for a server and return its id.

        :param hints: for the scheduler.
        :param host: where it must run, if that is not left to the scheduler.
        """
        server = {
            'name': base.unique('server'),
            'flavorRef': flavor,
            'imageRef': self.image,
            'networks': 'none',
        }
        if host:
            server['host'] = host
        response = self.compute.post(
            '/servers',
            json={'server': server, 'os:scheduler_hints': hints or {}},
            microversion=VERSION,
        )
        self.assertEqual(202, response.status_code, response.text)
        made = response.json()['server']['id']
        self._servers.append(made)
        return made

    def remove_servers(self, *servers: str) -> None:
        """Delete servers, by default all; wait until they are gone."""
        unwanted = servers or self._servers
        self.at_once(self.compute.delete_server, unwanted)
        self.wait_for(
            lambda: self.assertEqual(
                set(),
                base.instances(self.region, unwanted),
                'servers that are not deleted',
            )
        )

    @staticmethod
    def at_once(ask: Callable[[Any], Any], wishes: Iterable[Any]) -> list:
        """Ask for many things, some of them at once; return the answers."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(ask, wishes))

    def host_of(self, server: str) -> str | None:
        """Wait for a server and return its host, as :meth:`hosts_of`."""
        return self.hosts_of([server])[server]

    def hosts_of(self, servers: Iterable[str]) -> dict[str, str | None]:
        """Wait until servers run or have failed, and return where they are.

        :returns: the hosts by the servers' ids; None if there was no valid
            host.
        """
        hosts = dict.fromkeys(servers)
        self.wait_until_ended(hosts)
        listed = self.servers(self.region)
        for server in hosts:
            if listed[server].status == 'ACTIVE':
                hosts[server] = listed[server].compute_host
            else:
                self.wait_for(functools.partial(self.check_refused, server))
        return hosts

    def wait_until_ended(
        self,
        servers: Iterable[str],
        ended: str = "vm_state IN ('active', 'error')",
    ) -> None:
        """Wait until nothing is done with servers any more.

        :param ended: SQL that says in which states they are then.
        """
        # The database is asked: a list costs Nova much more.
        self.wait_for(
            lambda: self.assertEqual(
                set(servers),
                base.instances(
                    self.region, servers, f'{ended} AND task_state IS NULL'
                ),
                f'servers with {ended}',
            )
        )

    def check_refused(self, server: str) -> None:
        """Raise unless no host was valid for a server; a list does not say."""
        fault = self.compute.get_server(server).fault
        self.assertIn('No valid host was found', fault['message'])

    def logged(self, pattern: str) -> re.Match[str]:
        """Return the only match in the logs of the region's schedulers."""
        matches = []
        for number in (1, 2):
            log = processes.log_of(f'{self.region}.nova-scheduler-{number}')
            for line in logs.lines_of(log):
                if match := re.search(pattern, line):
                    matches.append(match)
        (only_match,) = matches
        return only_match


class PreferenceTest(PlacementTest):
    """A test with one host that all other weighers prefer."""

    def prefer(self, preferred: str) -> None:
        """Fill the other hosts."""
        other_hosts = [host for host in self.hosts if host != preferred]
        self.make_aggregate(
            # The fake computes never get done with their servers.
            {'io_ops_weight_multiplier': '0.0'},
            *self.hosts,
        )
        big = self.make_flavor({}, vcpus=100, ram=100000)
        filling = self.at_once(
            lambda host: self.boot(big, host=host), other_hosts
        )
        self.assertEqual(other_hosts, list(self.hosts_of(filling).values()))
        small = self.compute.find_flavor('small').id
        # Without a stack everything goes to the one that is empty.
        self.assertEqual(preferred, self.host_of(self.boot(small)))

    def assert_even(self, servers: Iterable[str]) -> None:
        """Fail unless the hosts have equally many servers, or one more."""
        counts = collections.Counter(dict.fromkeys(self.hosts, 0))
        counts.update(self.hosts_of(servers).values())
        self.assertEqual(set(self.hosts), set(counts))
        self.assertLessEqual(max(counts.values()) - min(counts.values()), 1)

    def boot_before_claims(
        self, boot: Callable[[Any], str], wishes: Iterable[Any]
    ) -> list[str]:
        """Ask for servers, and let no host claim one before all have hosts.

        :returns: the ids of the servers, in the order of the wishes.
        """
        self.pause(*self.computes())
        servers = self.at_once(boot, wishes)
        self.wait_for(lambda: self.check_scheduled(servers))
        self.go_on(*self.computes())
        return servers

    def computes(self) -> list[str]:
        """Return the names of the compute services of the region."""
        return [f'{self.region}.nova-compute-{host}' for host in self.hosts]

    def check_scheduled(self, servers: list[str]) -> None:
        """Raise unless a scheduler has chosen the host of each server."""
        rows = mariadb.query(
            f'nova_api_{self.region}',
            'SELECT cell_id FROM instance_mappings WHERE instance_uuid IN %s',
            servers,
        )
        self.assertNotIn((None,), rows, 'servers without a host')
