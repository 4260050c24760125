# SPDX-License-Identifier: Apache-2.0

"""What ``make dist`` has made: the sdist, and the wheel that is made of it."""

import email
import os
import pathlib
import re
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


def read_metadata(wheel):
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith('/METADATA'))
        return email.message_from_bytes(archive.read(name))


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
        self.assertIn('ServerGroupWeigher', notes)

    def test_a_second_build_makes_the_same_bytes(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        done = runs.run(
            *(sys.executable, '-m', 'tools.archives', folder), cwd=ROOT
        )
        self.assertEqual(0, done.returncode, done.stderr)
        built = [*pathlib.Path(folder).iterdir()]
        self.assertEqual(2, len(built))
        for path in built:
            first = (DIST / path.name).read_bytes()
            self.assertEqual(first, path.read_bytes(), path.name)

    def test_the_oldest_build_tools_make_the_same_metadata(self):
        # As in an archive of the repository, on Debian 13.
        self.folder.joinpath('PKG-INFO').unlink()
        tools = self.folder / 'tools.txt'
        tools.write_text('pbr==6.1.1\nsetuptools==78.1.1\n')
        for version, code in ('', 1), ('0.1.0', 0):
            done = runs.run(
                *(sys.executable, '-m', 'build', '--wheel'),
                cwd=self.folder,
                env={
                    **os.environ,
                    'PBR_VERSION': version,
                    'PIP_CONSTRAINT': str(tools),
                },
            )
            self.assertEqual(code, done.returncode, done.stderr)
        (built,) = self.folder.glob('dist/*.whl')
        (released,) = DIST.glob('*.whl')
        metadata = read_metadata(released)
        metadata.replace_header('Version', '0.1.0')
        self.assertEqual(metadata.items(), read_metadata(built).items())


class MetadataTest(unittest.TestCase):
    """What a package index shows."""

    def setUp(self):
        super().setUp()
        (wheel,) = DIST.glob('*.whl')
        self.metadata = read_metadata(wheel)

    def test_each_link_of_the_description_leads_somewhere(self):
        # The suites of one service alone import this module, too.
        from readme_renderer import rst

        page = rst.render(self.metadata.get_payload())
        names = {*re.findall(r'(?:id|name)="([^"]+)"', page)}
        links = re.findall(r'href="([^"]+)"', page)
        for link in links:
            _, is_anchor, name = link.partition('#')
            if not link.startswith('https://'):
                self.assertTrue(is_anchor and name in names, link)
        # A page that was not rendered would have no links, either.
        self.assertIn('<h2>', page)

    def test_each_file_that_the_description_names_exists(self):
        text = self.metadata.get_payload()
        files = re.findall(r'``([\w/-]+\.rst)``', text)
        self.assertNotEqual([], files)
        for file in files:
            folders = ROOT, ROOT / 'doc/source'
            self.assertTrue(any((f / file).exists() for f in folders), file)

    def test_no_address_of_a_machine_is_published(self):
        (archive,) = DIST.glob('*.tar.gz')
        with tarfile.open(archive) as sdist:
            names = {name.partition('/')[2] for name in sdist.getnames()}
        self.assertNotIn('AUTHORS', names)
        self.assertEqual(['LICENSE'], self.metadata.get_all('License-File'))
        self.assertEqual('Apache-2.0', self.metadata['License-Expression'])


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
