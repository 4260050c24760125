# SPDX-License-Identifier: Apache-2.0

"""``make demo`` says what it does before it does it."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from tests import pages

#: Stand for tox, and for the Python of the environment that tox makes.
STUBS = {
    'tox': 'echo "tox runs" >&2\n',
    '.tox/functional-2026.2/bin/python': 'echo "the demo runs" >&2\n',
}
#: What the environment depends on. The last one stands for make's own tox.
RECIPE = (
    'tox.ini',
    'setup.cfg',
    'pyproject.toml',
    'requirements.txt',
    'test-requirements.txt',
    'stamp',
)
INSTALLS = (
    'installing Nova, Heat and Senlin in .tox/functional-2026.2/; the first '
    'time, this can take minutes ...'
)


@unittest.skipUnless(shutil.which('make'), 'make is not installed')
class MakefileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix='opp-make-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in STUBS.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'#!/bin/sh\n{text}')
            path.chmod(0o755)
        makefile = pages.ROOT / 'Makefile'
        shutil.copy(makefile, self.folder)
        shutil.copytree(
            pages.ROOT / 'constraints', self.folder / 'constraints'
        )
        for name in RECIPE:
            (self.folder / name).touch()

    def make_demo(self) -> list[str]:
        """Return the lines that ``make demo`` prints."""
        done = subprocess.run(
            ['make', 'demo', 'TOX=./tox', 'STAMP=stamp'],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertEqual('', done.stdout)
        return done.stderr.splitlines()

    def test_the_first_line_comes_before_the_work(self) -> None:
        self.assertEqual(
            [INSTALLS, 'tox runs', 'the demo runs'], self.make_demo()
        )
        # Nothing is to be installed any more.
        self.assertEqual(['the demo runs'], self.make_demo())
