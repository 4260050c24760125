# SPDX-License-Identifier: Apache-2.0

"""The pages whose commands need a cloud, typed in a bash."""

import collections
import os
import pathlib
import re
import tempfile
from collections.abc import Callable

import ddt

from testing import subprocesses
from tests import pages
from tests.cloud import base, catalog, layout

#: How a command is typed: it reads nothing of what is typed next.
TYPED = """\
{{ {command}
}} < /dev/null > {file} 2>&1
echo $?
"""

#: What the pages assume.
FLAVOR, IMAGE = 'm1.tiny', 'cirros'


@ddt.ddt
class PagesTest(pages.Walk, base.CloudTest):
    """The pages, each in a folder and a shell of its own.

    Every command must succeed.
    """

    suite = 'cloud'

    @ddt.data(*pages.select('cloud'))
    def test_the_page_is_true(self, page: str) -> None:
        folder = tempfile.TemporaryDirectory(prefix='opp-pages-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.printed = self.folder / 'printed'
        self.start_shell()
        self.walk(page)

    def start_shell(self) -> None:
        """Start the reader's shell, with what the pages assume."""
        ours = re.compile('PYTHON|VIRTUAL_ENV|OS_')
        variables = {
            name: value
            for name, value in os.environ.items()
            if not ours.match(name)
        }
        # A proxy of the caller's does not lead to the loopback address.
        variables['no_proxy'] = layout.ADDRESS
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
            cwd=self.folder,
            env=variables,
        )
        self.addCleanup(self.shell.close)

    def type(self, command: pages.Command) -> str:
        """Type a command; return what it prints."""
        for name, text in self.files.items():
            (self.folder / name).write_text(text, 'utf-8')
        typed = TYPED.format(command=command.text, file=self.printed)
        status = int(self.shell.ask(typed.rstrip()))
        output = self.printed.read_text('utf-8')
        self.assertEqual(0, status, f'$ {command.text}\n{output}')
        return output

    def check_nine_spread(self, run: Callable[[], str]) -> None:
        self.assert_spread(run())

    def check_group_spread(self, run: Callable[[], str]) -> None:
        self.assert_spread(run())

    def assert_spread(self, printed: str) -> None:
        """Fail unless nine servers are even on the three hosts."""
        hosts = re.findall(r'\| (one-\d) \|$', printed, re.M)
        counts = collections.Counter(hosts)
        self.assertEqual([3, 3, 3], [*counts.values()], printed)
