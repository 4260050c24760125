# SPDX-License-Identifier: Apache-2.0

"""What the tests of the commands share: the real shell, logged in."""

from collections.abc import Mapping

from tests.cloud import base, layout, nova_base, senlin_base
from tests.functional.client import base as client_base
from tests.functional.client import pages as documentation


class CommandTest(client_base.CommandTestCase, base.CloudTest):
    """A test that runs commands, as the administrator unless it says."""

    who = layout.ADMIN
    # What the commands say is compared as a whole.
    maxDiff = None

    @property
    def login(self) -> Mapping[str, str]:
        """Return what the user sets to log in."""
        # A proxy of the caller's does not lead to the cloud.
        return {
            'no_proxy': layout.ADDRESS,
            **layout.login(self.who, self.region),
        }


class FilterCommandTest(CommandTest, nova_base.PlacementTest):
    """A test that compares what commands say with what Nova does."""

    def setUp(self) -> None:
        super().setUp()
        #: The ids of the flavors in question, by name.
        self.flavors = {
            layout.FLAVOR: self.compute.find_flavor(layout.FLAVOR).id
        }

    def make_flavors(self, **extra_specs: dict[str, str]) -> None:
        """Make flavors.

        :param extra_specs: the extra specs by the flavor's name.
        """
        for name, wanted in extra_specs.items():
            self.flavors[name] = self.make_flavor(wanted, name)

    def files(self, *servers: str) -> list[str]:
        """Save the cloud as the documentation says.

        :param servers: the names of the servers to save.
        :returns: the options that read the files.
        """
        options = []
        for name, command in documentation.saving().items():
            options += [
                f'--{name.removesuffix(".json")}',
                self.write(self.printed(command), name),
            ]
        self.assertEqual(
            {'--flavors', '--aggregates', '--hosts'}, set(options[::2])
        )
        if servers:
            words, _ = documentation.saving_servers()
            texts = [self.printed(f'{words} {name}') for name in servers]
            file = self.write(''.join(texts), 'servers.json')
            options += ['--servers', file]
        return options

    def printed(self, command: str) -> str:
        """Return what a command prints."""
        result = self.openstack(*command.split(), **self.login)
        self.assertEqual((0, ''), (result.status, result.error))
        return result.output

    def refusals(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host, and no other.

        :returns: why it was refused, by the names of flavor and host; empty
            where the server runs.
        """
        servers = self.boot_everywhere(self.flavors)
        chosen = self.hosts_of(servers.values())
        found = {}
        for (name, host), server in servers.items():
            if chosen[server] is None:
                # The name of the function that logs a line stands behind it.
                found[name, host] = self.logged(
                    rf'Instance {server}: 1 host\(s\) in .* refused:'
                    ' (.*) _report '
                )[1]
            else:
                self.assertEqual(host, chosen[server])
                found[name, host] = ''
        self.remove_servers(*servers.values())
        return found

    def migrates(self, server: str, host: str) -> bool:
        """Ask Nova to move a server; tell whether it does.

        :param server: its id.
        :param host: where it shall run.
        """
        response = self.compute.post(
            f'/servers/{server}/action',
            json={'migrate': {'host': host}},
            microversion=nova_base.VERSION,
        )
        self.assertEqual(202, response.status_code, response.text)

        def check_done() -> None:
            found = self.compute.get_server(server)
            self.assertIsNone(found.task_state)
            self.assertIn(found.status, ('ACTIVE', 'VERIFY_RESIZE'))

        self.wait_for(check_done)
        return self.compute.get_server(server).compute_host == host


class PlanTest(CommandTest, senlin_base.ClusterTest):
    """A test that compares what a user is told with what Senlin does."""

    who = layout.USER

    def plan(self, *arguments: str) -> list[dict]:
        """Return what the command says."""
        return self.live('cluster', 'region', 'plan', *arguments)

    def assert_foretold(self, cluster: str, rows: list[dict]) -> None:
        """Scale a cluster; the policy must plan what the command has said.

        :param cluster: its id.
        :param rows: what the command has said.
        """
        count = sum(row['Change'] for row in rows)
        verb, data = (
            ('scale_out', 'creation')
            if count > 0
            else ('scale_in', 'deletion')
        )
        action = self.do(cluster, verb, count=abs(count))
        self.assertEqual(
            {
                row['Region']: abs(row['Change'])
                for row in rows
                if row['Change']
            },
            action['data'][data]['regions'],
        )
        self.assert_spread(
            cluster, **{row['Region']: row['Result'] for row in rows}
        )
