# SPDX-License-Identifier: Apache-2.0

"""The provider that the page shows, in heat-engine."""

import os
import sys
import tomllib
import unittest

from testing import subprocesses
from testing.heat.templates import server, stack, template, volume
from tests import processes
from tests.functional.heat_hints import base

EXAMPLE = processes.ROOT / 'doc' / 'source' / 'examples' / 'rack_provider'
PROJECT = tomllib.loads((EXAMPLE / 'pyproject.toml').read_text())['project']


class TestExampleProvider(base.ScenarioCase):
    options = {'providers': 'rack'}
    settings = {'rack_provider': {'racks': 'p1:r7'}}
    files = {'rack_provider.py': (EXAMPLE / 'rack_provider.py').read_text()}
    entry_points = PROJECT['entry-points']
    stacks = (
        {**base.ONE, 'project': 'p1'},
        stack('others', template(two=server(name='two'), disk=volume())),
    )

    def test_the_servers_of_one_project_get_the_rack(self) -> None:
        self.assert_created('root', 'others')
        self.assertEqual('r7', self.outcome.hints('web')['rack'])
        self.assertNotIn('rack', self.outcome.hints('two'))
        for level in ('ERROR', 'WARNING'):
            self.assertEqual([], self.outcome.lines(level))


class TestWithoutRacks(base.ScenarioCase):
    options = TestExampleProvider.options
    files = TestExampleProvider.files
    entry_points = TestExampleProvider.entry_points

    def test_heat_engine_does_not_start(self) -> None:
        self.assert_not_started(
            *base.REFUSED, 'provider "rack"', '[rack_provider] racks'
        )


class TestItsOwnTest(unittest.TestCase):
    def test_it_passes(self) -> None:
        done = subprocesses.run(
            'the test of the example',
            [sys.executable, '-W', 'ignore', '-m', 'unittest'],
            cwd=EXAMPLE,
            env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'},
        )
        self.assertRegex(done.stderr, r'Ran 2 tests[^$]*\n\nOK')
