# SPDX-License-Identifier: Apache-2.0

"""The demo as a user starts it: its result, and its answers to errors."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import ddt
import markupsafe

from demo import __main__ as command
from demo import figure, part, report, spread
from testing import subprocesses
from testing.nova import spread_case
from tests import pages
from tests.pages import NUMBERS

#: Seconds for the whole demo, whose services have a limit of their own.
ALL_SECONDS = command.LIMIT + subprocesses.LIMIT

#: What the pages say above each picture, in the order of the pictures.
SENTENCES = [
    f'on {NUMBERS[spread.HOSTS[spread_case.SOFT]]} hosts. '
    f'{NUMBERS[spread.PROCESSES].capitalize()} scheduler processes of Nova',
    f'{NUMBERS[spread.SERVERS].capitalize()} servers of a group with the '
    f'policy ``{spread_case.STRICT}`` on '
    f'{NUMBERS[spread.HOSTS[spread_case.STRICT]]} hosts:',
    f'servers of a Heat stack on {NUMBERS[spread.HOSTS[""]]} hosts',
    f'on {NUMBERS[len(spread.RACKS)]} racks of '
    f'{NUMBERS[spread.RACKS[0]]} hosts each',
]


@ddt.ddt
class DemoTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-demo-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tell(self, parts, *arguments):
        """Return the exit code of a result, and what is printed."""
        output, error = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            args = command.parse(arguments)
            code = command.tell(parts, not parts, self.folder, args)
        return code, output.getvalue(), error.getvalue()

    def test_all_checks_hold(self):
        # In a process of its own, as make does.
        file = self.folder / 'result.json'
        done = subprocesses.run(
            *(sys.executable, '-W', 'ignore', '-m', 'demo', '--json', file),
            limit=ALL_SECONDS,
            cwd=command.ROOT,
        )
        first, *_ = done.stderr.splitlines()
        self.assertEqual(
            'demo: running spread, nova, heat, senlin, each in a process of '
            'its own. The tables follow when the last one has ended.',
            first,
        )
        result = json.loads(file.read_text())
        parts = result['parts']
        steps = [step for story in parts for step in story['steps']]
        for step in steps:
            self.assertNotEqual([], step['checks'], step['title'])
            for check in step['checks']:
                self.assertEqual(check['wanted'], check['found'], check)
        self.assertIs(True, result['ok'])
        pictures = [
            figure.draw(step['bars'])
            for step in parts[0]['steps']
            if step['bars']
        ]
        self.assertEqual(len(SENTENCES), len(pictures))
        shown = set()
        for page, blocks in pages.select('demo').items():
            for block in blocks:
                number = pictures.index(block.text.rstrip())
                self.assertIn(SENTENCES[number], block.around, page)
                shown.add(number)
        self.assertEqual({*range(len(pictures))}, shown)
        self.assert_start_page(parts[0])
        self.assertEqual((0, ''), (done.returncode, done.stdout))
        self.assertEqual(
            ['spread', 'nova', 'heat', 'stack', 'senlin'],
            [story['name'] for story in parts],
        )
        _, screen, _ = self.tell(parts)
        for words in ('| Scale out by 9 ', *pictures):
            self.assertIn(words, screen)
        page = (command.LOGS / 'report.html').read_text('utf-8')
        for step in steps:
            for sentence in (step['title'], step['note']):
                self.assertIn(markupsafe.escape(sentence), page)
        drawn = [step for step in steps if step['bars'] or step['boots']]
        self.assertEqual(len(drawn), page.count('class="picture"'))
        total = sum(story['checks'] for story in parts)
        self.assertIn(f'{total} of {total} checks hold', page)
        # It needs no network, and each element of it ends.
        self.assertNotRegex(page, r'<(script|link|img|iframe)\b|@import')
        ElementTree.fromstring(page)  # noqa: S314

    def assert_start_page(self, spread_part):
        """Fail if the pictures of the start page are not of this run."""
        figure.write(spread_part, self.folder)
        for name in 'spread.html', 'report.html':
            texts = []
            for folder in self.folder, figure.STATIC:
                text = (folder / name).read_text('utf-8')
                # The last part has the date and the versions.
                texts.append(text.rpartition('<details>')[0] or text)
            self.assertEqual(*texts)
            index = (pages.PAGES / 'index.rst').read_text('utf-8')
            self.assertIn(f'_static/{name}', index)

    @ddt.data((3, 0), (4, 1))
    @ddt.unpack
    def test_exit_code_tells_whether_a_check_failed(self, observed, exit_code):
        story = part.Part('nova', 'Nova', 'boots', ('before', 'after'))
        story.step('add', ('a',)).check('sum', 3, observed)
        parts = [story.result()]
        code, output, error = self.tell(parts)
        self.assertEqual(exit_code, code)
        failed = exit_code == 1
        failure = 'FAIL  add: sum; wanted: 3, found: 4'
        self.assertIs(failure in output, failed)
        self.assertIs('not everything' in error, failed)
        self.assertIs('class="fail"' in report.page(parts), failed)

    def test_a_service_that_breaks_off_is_a_failure(self):
        parts, broken = command.run(['tale'], self.folder)
        self.assertEqual(([], True), (parts, broken))
        self.assertIn('A service broke off', report.page([], broken=True))
        log = (self.folder / 'tale.log').read_text()
        self.assertIn("No module named 'demo.tale'", log)
        code, output, _ = self.tell([], '--json', '-')
        self.assertEqual(
            (1, {'ok': False, 'parts': []}), (code, json.loads(output))
        )
