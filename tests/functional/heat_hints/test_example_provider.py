# SPDX-License-Identifier: Apache-2.0

"""The provider that the page shows: built as it is, and in heat-engine."""

import json
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
from tests import pages, processes
from tests.functional.heat_hints import base, test_pages

EXAMPLE = processes.ROOT / 'doc' / 'source' / 'examples' / 'rack_provider'
SETUPTOOLS = tuple(
    int(number) for number in metadata.version('setuptools').split('.')[:2]
)


#: What the page says to write: which rack each project has, and an option.
BLOCKS = pages.select('example_provider')['doc/source/heat-providers.rst']
FILES = {block.marks.get('file'): block.text for block in BLOCKS}
((PROJECT_ID, RACK),) = json.loads(FILES['racks.json']).items()
COMMANDS = [
    command.words
    for block in BLOCKS
    if block.kind == 'console'
    for command in block.commands
]


class TestExampleProvider(base.ScenarioCase):
    options = test_pages.read_sections(FILES['heat.conf'])['heat_hints']
    settings = {'rack_provider': {'file': '{folder}/racks.json'}}
    files = {
        'rack_provider.py': FILES['rack_provider.py'],
        'racks.json': FILES['racks.json'],
    }
    entry_points = tomllib.loads(FILES['pyproject.toml'])['project'][
        'entry-points'
    ]
    stacks = (
        {**base.ONE, 'project': PROJECT_ID},
        stack('others', template(two=server(name='two'))),
    )

    def test_the_servers_of_one_project_get_the_rack(self) -> None:
        self.assert_created('root', 'others')
        self.assertEqual(RACK, self.outcome.hints('web')['rack'])
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
        program, *words = COMMANDS[0].split()
        self.assertEqual('python', program)
        output = self.run_python('the test of the example', *words)
        self.assertRegex(output, r'Ran 2 tests[^$]*\n\nOK')

    @unittest.skipIf(
        SETUPTOOLS < (70, 1), 'this release of setuptools builds no wheels'
    )
    def test_its_wheel_publishes_the_provider(self) -> None:
        self.assertEqual('pip install .', COMMANDS[1])
        # pip calls this function of the build backend.
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
