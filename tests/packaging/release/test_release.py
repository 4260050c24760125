# SPDX-License-Identifier: Apache-2.0

"""What ``make dist`` has made: the sdist passes its tests, the wheel goes."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv

DIST = pathlib.Path(__file__).parents[3] / 'dist'
#: Prints which files and entry points of the distribution are there.
LOOK = """
import importlib.metadata, importlib.util
for found in importlib.metadata.distributions():
    if found.name == 'os-placement-plugins':
        print(*(point.name for point in found.entry_points))
names = 'os_placement_plugins senlin_plugins nova_filters heat_hints'.split()
print(*(name for name in names if importlib.util.find_spec(name)))
"""


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.enterContext(tempfile.TemporaryDirectory())
        )

    def run_here(self, *command):
        """Run a program in the folder and return what it prints."""
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_the_unit_tests_pass_in_the_sdist(self):
        (archive,) = DIST.glob('*.tar.gz')
        with tarfile.open(archive) as sdist:
            sdist.extractall(self.folder, filter='data')
        (self.folder,) = self.folder.iterdir()
        # The summary goes to standard error.
        self.run_here(
            *(sys.executable, '-W', 'ignore', '-m', 'unittest'),
            *('discover', '-s', 'tests/unit', '-t', '.'),
        )

    def test_pip_installs_the_wheel_and_removes_all_of_it(self):
        (wheel,) = DIST.glob('*.whl')
        venv.create(self.folder / 'env', with_pip=True)
        python = self.folder / 'env' / 'bin' / 'python'
        before = self.run_here(python, '-c', LOOK)
        pip = (python, '-m', 'pip', '--quiet')
        self.run_here(*pip, 'install', wheel)
        installed = self.run_here(python, '-c', LOOK)
        self.assertIn('nova-filters-status', installed)
        self.assertIn('heat_hints', installed.splitlines()[-1])
        self.run_here(*pip, 'uninstall', '--yes', 'os-placement-plugins')
        self.assertEqual(before, self.run_here(python, '-c', LOOK))
