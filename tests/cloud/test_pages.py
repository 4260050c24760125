# SPDX-License-Identifier: Apache-2.0

"""The pages whose commands need a cloud, typed in a bash."""

import collections
import os
import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable

import ddt

from testing import subprocesses
from tests import pages
from tests.cloud import base, catalog, layout

#: What Senlin's client says when ``--wait`` is over before the action is.
GIVES_UP = re.compile(
    'not achived within polling period.*action: (\\S+)', re.S
)

#: How a command is typed: it reads nothing of what is typed next.
TYPED = """\
{{ {command}
}} < /dev/null > {file} 2>&1
echo $?
"""

#: What pages assume that do not begin with a new cloud, as the tutorial does.
FLAVOR, IMAGE = 'm1.tiny', 'cirros'
TUTORIAL = 'doc/source/tutorial.rst'


@ddt.ddt
class PagesTest(pages.Walk, base.CloudTest):
    """The pages in a copy of this checkout, each in a shell of its own.

    Every command must succeed.
    """

    suite = 'cloud'

    @ddt.data(*pages.select('cloud'))
    def test_the_page_is_true(self, page: str) -> None:
        folder = tempfile.TemporaryDirectory(prefix='opp-pages-')
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name, 'copy')
        # What make and the services have written stays here.
        hidden = shutil.ignore_patterns('.[!g]*', 'build', '*.egg-info')
        shutil.copytree(layout.ROOT, self.copy, ignore=hidden)
        # As if the cloud had been booted there.
        (self.copy / '.tox').mkdir()
        (self.copy / '.tox' / 'cloud').symlink_to(layout.ENVIRONMENT)
        (self.copy / '.cloud').symlink_to(layout.FOLDER)
        self.printed = pathlib.Path(folder.name, 'printed')
        self.start_shell(page)
        self.walk(page)

    def start_shell(self, page: str) -> None:
        """Start the reader's shell, with what the page assumes."""
        ours = re.compile('PYTHON|VIRTUAL_ENV|OS_')
        variables = {
            name: value
            for name, value in os.environ.items()
            if not ours.match(name)
        }
        # A proxy of the caller's does not lead to the loopback address.
        variables['no_proxy'] = layout.ADDRESS
        if page != TUTORIAL:
            admin = self.admin[self.region]
            flavor = catalog.add_flavor(admin, FLAVOR)
            self.addCleanup(admin.compute.delete_flavor, flavor)
            image = catalog.add_image(admin, IMAGE)
            self.addCleanup(admin.image.delete_image, image)
            variables |= layout.login(layout.ADMIN)
            scripts = layout.ENVIRONMENT / 'bin'
            variables['PATH'] = f'{scripts}:{variables["PATH"]}'
        self.shell = subprocesses.Server(
            # It looks into its history as a reader's does, so that "!" is
            # replaced where it would be replaced for them.
            ['bash', '--noprofile', '--norc', '-o', 'history', '-H'],
            cwd=self.copy,
            env=variables,
        )
        self.addCleanup(self.shell.close)

    def type(self, command: pages.Command) -> str:
        """Type a command; return what it prints."""
        for name, text in self.files.items():
            (self.copy / name).write_text(text, 'utf-8')
        typed = TYPED.format(command=command.text, file=self.printed)
        status = int(self.shell.ask(typed.rstrip()))
        output = self.printed.read_text('utf-8')
        if late := GIVES_UP.search(output):
            # The page tells the reader to wait.
            senlin = self.user[self.region].clustering
            senlin.wait_for_status(
                senlin.get_action(late[1]), 'SUCCEEDED', wait=300
            )
        else:
            self.assertEqual(0, status, f'$ {command.text}\n{output}')
        return output

    def check_two_and_four(self, run: Callable[[], str]) -> None:
        _, *tables = run().split('| Name')
        counts = [table.count(' ACTIVE ') for table in tables]
        self.assertEqual([2, 4], counts)
        self.assert_says('RegionOne has two, and RegionTwo has four:')

    def check_nine_spread(self, run: Callable[[], str]) -> None:
        self.assert_spread(run())

    def check_group_spread(self, run: Callable[[], str]) -> None:
        self.assert_spread(run())

    def assert_spread(self, printed: str) -> None:
        """Fail unless nine servers are even on the three hosts."""
        hosts = re.findall(r'\| (one-\d) \|$', printed, re.M)
        counts = collections.Counter(hosts)
        self.assertEqual([3, 3, 3], [*counts.values()], printed)
        self.assert_says('servers on any two hosts differ by at most one.')
