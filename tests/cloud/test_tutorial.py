# SPDX-License-Identifier: Apache-2.0

"""The tutorial, typed from its first command to its last."""

import functools
import pathlib
import re
import tempfile

from tests import console
from tests.cloud import (
    base,
    cleaning,
    layout,
    nova_base,
    senlin_base,
    shell,
)
from tests.packaging import base as packaging

PAGE = 'tutorial.rst'

#: What the reader makes, boots and stops the cloud with. These tests run on
#: a cloud that is up, so whoever runs them has typed it, or a tool for them.
BEFORE = (
    'make env ENV=functional-2026.2,cloud',
    '.tox/cloud/bin/python -m tests.cloud install',
    '.tox/cloud/bin/python -m tests.cloud up',
)
AFTER = ('.tox/cloud/bin/python -m tests.cloud down',)
ABOUT_THE_CLOUD = re.compile(r'make env |tests\.cloud (?!logs )')

#: What Senlin's client says when ``--wait`` is over before the action is.
GIVES_UP = 'not achived within polling period'

CREATE_STACK = (
    'openstack stack create --template stack.yaml --wait --poll 1 shop'
)


class TestTutorial(senlin_base.ClusterTest):
    """The page in a clone of this checkout and in a bash.

    Every command is typed as it stands there, and must succeed, unless the
    page shows its error. What the page shows of its output must be printed:
    word by word, save that three dots stand for anything (names that chance
    chooses) and that white space does not count. Where ``--wait`` gives up,
    the action is waited for, as the page tells the reader to do. Behind some
    commands the cloud's APIs and databases are asked as well.
    """

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-tutorial-')
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name) / 'clone'
        packaging.clone_checkout(self.clone)
        # As if the cloud had been booted there.
        (self.clone / '.tox').mkdir()
        (self.clone / '.tox' / 'cloud').symlink_to(layout.ENVIRONMENT)
        (self.clone / '.cloud').symlink_to(layout.FOLDER)
        self.shell = shell.Shell(self.clone)
        self.addCleanup(self.shell.close)

    def test_every_command_does_what_the_page_says(self):
        self.save_files()
        examples = console.examples(PAGE)
        first, *_, last = (one.command for one in examples)
        self.assertEqual((BEFORE[0], AFTER[-1]), (first, last))
        about_the_cloud = [
            one.command
            for one in examples
            if ABOUT_THE_CLOUD.search(one.command)
        ]
        self.assertEqual([*BEFORE, *AFTER], about_the_cloud)

        checks = self.checks()
        for example in examples:
            if example.command in about_the_cloud:
                continue
            self.type(example)
            if checks and example.command == checks[0][0]:
                _, check = checks.pop(0)
                check()
        self.assertEqual([], checks, 'commands that the page does not have')
        # Before the test itself would clean up.
        self.assertEqual([], cleaning.definitions())

    def save_files(self) -> None:
        """Save the files that the page shows under the names it gives."""
        page = (console.PAGES / PAGE).read_text('utf-8')
        blocks = console.blocks(PAGE, 'yaml')
        self.assertEqual(3, len({block.caption for block in blocks}))
        for block in blocks:
            self.assertIn(f'as ``{block.caption}``', page)
            (self.clone / block.caption).write_text(block.text, 'utf-8')

    def type(self, example: console.Example) -> None:
        """Type a command and compare what it does with the page.

        :param example: the command.
        """
        status, printed = self.shell.run(example.command)
        said = f'$ {example.command}\n{printed}'
        if status and GIVES_UP in printed:
            # A busy machine; the page says that Senlin goes on.
            (action,) = re.findall(r'accepted by action: (\S+)', printed)
            self.assert_succeeds(action)
        elif example.output.startswith('Error '):
            self.assertNotEqual(0, status, said)
        else:
            self.assertEqual(0, status, said)
        if example.output and not console.agrees(example.output, printed):
            self.fail(f'{said}\nThe page shows:\n{example.output}')

    # What the cloud says of it.

    def checks(self):
        """Return what is asked behind some of the commands, in order."""
        create = 'openstack server create --flavor'
        options = '--image tiny --no-network \\\n   '
        host = '--wait -f value -c OS-EXT-SRV-ATTR:host'
        return [
            (
                'openstack cluster expand --count 6 --wait c1',
                functools.partial(self.check_regions, 2, 4),
            ),
            (
                'openstack cluster expand --count 3 --wait c1',
                functools.partial(self.check_regions, 5, 4),
            ),
            (
                'openstack cluster shrink --count 3 --wait c1',
                functools.partial(self.check_regions, 2, 4),
            ),
            (
                f'{create} windows {options} {host} licensed-1',
                functools.partial(self.check_host, 'licensed-1', 'one-1'),
            ),
            (
                f'{create} no-os {options} {host} plain-1',
                functools.partial(self.check_host, 'plain-1', 'one-3'),
            ),
            (
                f'{create} bsd {options} --wait bsd-1',
                functools.partial(self.check_host, 'bsd-1', None),
            ),
            (CREATE_STACK, functools.partial(self.check_stack, 3)),
            (CREATE_STACK, functools.partial(self.check_stack, 1)),
        ]

    def check_regions(self, one: int, two: int) -> None:
        """Assert where the servers of the cluster are.

        :param one: how many are in RegionOne.
        :param two: how many are in RegionTwo.
        """
        cluster = self.senlin.get('/clusters/c1')['cluster']['id']
        self.assert_spread(cluster, RegionOne=one, RegionTwo=two)

    def check_host(self, name: str, host: str | None) -> None:
        """Assert where a server is.

        :param name: its name.
        :param host: its host; None if no valid one was found.
        """
        (server,) = (
            one for one in self.servers(base.ONE).values() if one.name == name
        )
        self.assertEqual(host, server.compute_host)
        self.assertEqual('ERROR' if host is None else 'ACTIVE', server.status)
        if host is None:
            # A list does not say it.
            shown = self.admin[base.ONE].compute.get_server(server.id)
            self.assertIn('No valid host', shown.fault['message'])

    def check_stack(self, hosts: int) -> None:
        """Assert that all servers are of one stack, and on how many hosts.

        :param hosts: the number of hosts.
        """
        servers = self.servers(base.ONE)
        self.assertEqual(
            ['web-1', 'web-2', 'web-3'],
            sorted(server.name for server in servers.values()),
        )
        found = {server.compute_host for server in servers.values()}
        self.assertEqual(hosts, len(found), found)
        self.assertLessEqual(found, set(nova_base.HOSTS))
        roots = {
            tuple(self.hints(base.ONE, server)['heat_root_stack_id'])
            for server in servers
        }
        self.assertEqual(1, len(roots), roots)
