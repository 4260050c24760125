# SPDX-License-Identifier: Apache-2.0

"""What the tests of the commands share: the real shell, logged in."""

import concurrent.futures
import itertools
import re

from tests.cloud import base, layout, logs, nova_base
from tests.functional.client import base as client_base
from tests.functional.client import pages as documentation

Result = client_base.Result


def login(user: str, region: str = base.ONE) -> dict[str, str]:
    """Return what a user of the cloud sets to log in.

    :param user: who.
    :param region: where commands go.
    """
    return {
        'OS_AUTH_URL': f'{layout.url("keystone")}/v3',
        'OS_IDENTITY_API_VERSION': '3',
        'OS_USERNAME': user,
        'OS_PASSWORD': layout.PASSWORD,
        'OS_PROJECT_NAME': user,
        'OS_USER_DOMAIN_ID': 'default',
        'OS_PROJECT_DOMAIN_ID': 'default',
        'OS_REGION_NAME': region,
    }


class CommandTest(client_base.CommandTestCase, base.CloudTest):
    """A test that runs commands as the administrator, in processes."""

    login = login(layout.ADMIN)
    # What the commands say is compared as a whole.
    maxDiff = None

    def openstack(self, *arguments: str, **variables: str) -> Result:
        """Run a command in a process of its own.

        :param arguments: the words after ``openstack``.
        :param variables: environment variables, such as ``login``.
        :returns: what it left behind.
        """
        return self.openstack_process(*arguments, **variables)


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
        saved = self.print_all(*documentation.saving().values())
        options = [
            word
            for name, text in zip(documentation.saving(), saved, strict=True)
            for word in (
                f'--{name.removesuffix(".json")}',
                self.write(text, name),
            )
        ]
        self.assertEqual(
            {'--flavors', '--aggregates', '--hosts'}, set(options[::2])
        )
        if servers:
            words, _ = documentation.saving_servers()
            texts = self.print_all(*(f'{words} {name}' for name in servers))
            file = self.write(''.join(texts), 'servers.json')
            options += ['--servers', file]
        return options

    def print_all(self, *commands: str) -> list[str]:
        """Return what some commands print, which run at the same time.

        :param commands: the words after ``openstack`` of each.
        """

        def print_one(command: str) -> str:
            result = self.openstack(*command.split(), **self.login)
            self.assertEqual((0, ''), (result.status, result.error))
            return result.output

        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(print_one, commands))

    def refusals(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host, and no other.

        :returns: why it was refused, by the names of flavor and host; empty
            where the server runs.
        """
        servers = self.boot_everywhere()
        chosen = self.hosts_of(servers.values())
        found = {}
        for (name, host), server in servers.items():
            if chosen[server] is None:
                found[name, host] = self.sentence(server)
            else:
                self.assertEqual(host, chosen[server])
                found[name, host] = ''
        self.remove_servers(*servers.values())
        return found

    def boot_everywhere(self) -> dict[tuple[str, str], str]:
        """Ask for a server of each flavor on each host, all at once.

        :returns: the servers' ids by the names of flavor and host.
        """
        wanted = list(itertools.product(self.flavors, nova_base.HOSTS))
        made = self.at_once(
            lambda where: self.boot(self.flavors[where[0]], host=where[1]),
            wanted,
        )
        return dict(zip(wanted, made, strict=True))

    def sentence(self, server: str) -> str:
        """Return why the only host of a request was refused.

        :param server: the server that was to be placed.
        :returns: what the filter has logged at DEBUG.
        """
        # The name of the function that logs a line stands behind it.
        pattern = re.compile(
            rf'Instance {server}: 1 host\(s\) in .* refused: (.*) _report '
        )
        (found,) = (
            match[1]
            for number in (1, 2)
            for line in logs.lines_of(
                layout.LOG / f'{self.region}.nova-scheduler-{number}.log'
            )
            if (match := pattern.search(line))
        )
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
