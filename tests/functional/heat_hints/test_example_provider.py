# SPDX-License-Identifier: Apache-2.0

"""The provider that the page shows: built as it is, and in heat-engine."""

import json
import sys
import tomllib
import unittest

from testing import subprocesses
from testing.heat.templates import server, stack, template
from tests import pages, processes
from tests.functional.heat_hints import base, test_pages

EXAMPLE = processes.ROOT / 'doc' / 'source' / 'examples' / 'rack_provider'

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


class TestItsTest(unittest.TestCase):
    def test_it_passes(self) -> None:
        program, *words = COMMANDS[0].split()
        self.assertEqual('python', program)
        done = subprocesses.run(
            *(sys.executable, '-W', 'ignore', *words), cwd=EXAMPLE
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r'Ran 2 tests[^$]*\n\nOK')
