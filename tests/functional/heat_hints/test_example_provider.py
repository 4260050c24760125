# SPDX-License-Identifier: Apache-2.0

"""The provider that the page shows: built as it is, and in heat-engine."""

import os
import pathlib
import shutil
import sys
import tempfile
import tomllib
import unittest
from importlib import metadata

from testing import subprocesses
from testing.heat.templates import server, stack, template
from tests import processes
from tests.functional.heat_hints import base

EXAMPLE = processes.ROOT / 'doc' / 'source' / 'examples' / 'rack_provider'
PROJECT = tomllib.loads((EXAMPLE / 'pyproject.toml').read_text())['project']
SETUPTOOLS = tuple(
    int(number) for number in metadata.version('setuptools').split('.')[:2]
)


class TestExampleProvider(base.ScenarioCase):
    options = {'providers': 'rack'}
    settings = {'rack_provider': {'file': '{folder}/racks.json'}}
    files = {
        'rack_provider.py': (EXAMPLE / 'rack_provider.py').read_text(),
        'racks.json': '{"p1": "r7"}',
    }
    entry_points = PROJECT['entry-points']
    stacks = (
        {**base.ONE, 'project': 'p1'},
        stack('others', template(two=server(name='two'))),
    )

    def test_the_servers_of_one_project_get_the_rack(self) -> None:
        self.assert_created('root', 'others')
        self.assertEqual('r7', self.outcome.hints('web')['rack'])
        self.assertNotIn('rack', self.outcome.hints('two'))
        for level in ('ERROR', 'WARNING'):
            self.assertEqual([], self.outcome.lines(level))


class TestWithoutRacks(base.ScenarioCase):
    options = TestExampleProvider.options
    settings = {'rack_provider': {'file': '{folder}/gone.json'}}
    files = TestExampleProvider.files
    entry_points = TestExampleProvider.entry_points

    def test_heat_engine_does_not_start(self) -> None:
        self.assert_not_started(
            *base.REFUSED, 'provider "rack"', '[rack_provider] file', 'gone'
        )


class TestPackage(unittest.TestCase):
    def setUp(self) -> None:
        super().setUp()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.folder = pathlib.Path(folder, 'rack_provider')
        shutil.copytree(EXAMPLE, self.folder)

    def run_python(self, what: str, *arguments: str) -> str:
        """Run Python in the copy, and return what it prints."""
        done = subprocesses.run(
            what,
            [sys.executable, '-W', 'ignore', *arguments],
            cwd=self.folder,
            env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'},
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout + done.stderr

    def test_its_test_passes(self) -> None:
        output = self.run_python('the test of the example', '-m', 'unittest')
        self.assertRegex(output, r'Ran 2 tests[^$]*\n\nOK')

    @unittest.skipIf(
        SETUPTOOLS < (70, 1), 'this release of setuptools builds no wheels'
    )
    def test_its_wheel_publishes_the_provider(self) -> None:
        # "pip wheel" and "build" call this function of the build backend.
        build = 'from setuptools import build_meta as m; m.build_wheel(".")'
        self.run_python('the build of the wheel', '-c', build)
        (wheel,) = self.folder.glob('rack_provider-1.0-*.whl')
        (distribution,) = metadata.distributions(path=[str(wheel)])
        (point,) = distribution.entry_points
        self.assertEqual(
            ('heat_hints.providers', 'rack', 'rack_provider:RackProvider'),
            (point.group, point.name, point.value),
        )
        self.assertIn('rack_provider.py', map(str, distribution.files))
