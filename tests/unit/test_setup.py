# SPDX-License-Identifier: Apache-2.0

"""A checkout whose version git cannot tell is refused in one line."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import ddt

SETUP = pathlib.Path(__file__).parents[2] / 'setup.py'


@ddt.ddt
class SetupTest(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = pathlib.Path(folder.name)
        shutil.copy(SETUP, self.checkout)

    @ddt.data(
        ('no git on the machine', '/nowhere'),
        ('a folder that git refuses', os.environ['PATH']),
    )
    @ddt.unpack
    def test_one_line_says_what_to_do(self, _case: str, path: str) -> None:
        (self.checkout / '.git').mkdir()
        environment = {**os.environ, 'PATH': path}
        environment.pop('PBR_VERSION', None)
        result = subprocess.run(
            [sys.executable, 'setup.py', '--version'],
            cwd=self.checkout,
            env=environment,
            capture_output=True,
            text=True,
        )
        self.assertEqual(1, result.returncode, result.stderr)
        (line,) = result.stderr.splitlines()
        self.assertIn(
            f'has no version: git cannot read {self.checkout} ', line
        )
        self.assertIn('Install a wheel instead', line)
