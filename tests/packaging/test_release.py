# SPDX-License-Identifier: Apache-2.0

"""What ``make dist`` has made: the sdist, and the wheel that is made of it."""

import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
import zipfile

import runs

ROOT = pathlib.Path(__file__).parents[2]
DIST = ROOT / 'dist'

#: The top-level packages of the distribution, and nothing else.
PACKAGES = {
    'os_placement_plugins',
    'senlin_plugins',
    'nova_filters',
    'heat_hints',
    'osc_placement_plugins',
}


class SourceTest(unittest.TestCase):
    """What can be done with the sdist, where there is no git repository."""

    def setUp(self):
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        (archive,) = DIST.glob('*.tar.gz')
        with tarfile.open(archive) as sdist:
            sdist.extractall(folder, filter='data')
        (self.folder,) = pathlib.Path(folder).iterdir()

    def run_python(self, *arguments, **variables):
        """Run Python in the unpacked sdist."""
        done = runs.run(
            *(sys.executable, '-W', 'ignore', *arguments),
            cwd=self.folder,
            env={**os.environ, **variables},
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_the_unit_tests_pass(self):
        self.run_python(
            '-m', 'unittest', 'discover', '-s', 'tests/unit', '-t', '.'
        )

    def test_the_documentation_is_built(self):
        # Here are neither reno, matplotlib nor the theme of make docs. The
        # options and commands come from the installed package.
        (wheel,) = DIST.glob('*.whl')
        installed = self.folder / 'installed'
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(installed)  # noqa: S202
        self.run_python(
            *('-m', 'sphinx', '-W', '-q', 'doc/source', 'html'),
            PYTHONPATH=str(installed),
        )
        notes = (self.folder / 'html/releasenotes.html').read_text('utf-8')
        self.assertIn('The first release', notes)


class WheelTest(unittest.TestCase):
    def test_wheel_holds_every_module_of_the_packages_and_nothing_else(self):
        listed = runs.run(
            *('git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard'),
            *sorted(PACKAGES),
            check=True,
        )
        tracked = listed.stdout.split()
        (wheel,) = DIST.glob('*.whl')
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        files = {name for name in names if '.dist-info/' not in name}
        self.assertEqual({n for n in tracked if (ROOT / n).exists()}, files)
        self.assertEqual(PACKAGES, {name.split('/')[0] for name in files})
        # A type checker reads the types of a package only with this file.
        self.assertLessEqual({f'{name}/py.typed' for name in PACKAGES}, files)
