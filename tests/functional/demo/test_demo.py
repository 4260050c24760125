# SPDX-License-Identifier: Apache-2.0

"""The demo as a user starts it: its result, and its answers to errors."""

import contextlib
import html
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

import ddt

from demo import __main__ as command

ROOT = pathlib.Path(__file__).resolve().parents[3]


@ddt.ddt
class DemoTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-demo-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def demo(self, *arguments):
        """Run the command in this process; return its exit code and output."""
        output, error = io.StringIO(), io.StringIO()
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            try:
                code = command.main(arguments)
            except SystemExit as exc:
                code = exc.code
        return code, output.getvalue(), error.getvalue()

    def test_all_checks_hold(self):
        file = self.folder / 'result.json'
        result = subprocess.run(
            [sys.executable, '-W', 'ignore', '-m', 'demo', '--json', file],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        data = json.loads(file.read_text())
        failed = [
            check
            for part in data['parts']
            for step in part['steps']
            for check in step['checks']
            if check['wanted'] != check['found']
        ]
        self.assertEqual([], failed)
        self.assertIs(True, data['ok'])
        self.assertEqual((0, ''), (result.returncode, result.stdout))
        # Senlin, Nova, Heat, and both of the last together.
        self.assertEqual(
            [35, 89, 18, 12], [part['checks'] for part in data['parts']]
        )
        *progress, verdict = result.stderr.splitlines()
        for line in progress:
            self.assertRegex(
                line, r'^\[(senlin|nova|heat|stack) *\d+\.\d s\] '
            )
        self.assertEqual('Every table is what the specs demand.', verdict)
        self.assert_fits(data['parts'])

    def assert_fits(self, parts):
        """Check the screen and the page that the same run would fill."""
        with mock.patch.object(command, 'run', return_value=[parts]):
            code, screen, error = self.demo()
            _, everything, _ = self.demo('--all')
        self.assertEqual(0, code)
        lines = (screen + error).splitlines()
        self.assertLessEqual(len(lines), 60)
        self.assertLessEqual(max(map(len, lines[:-2])), 80)
        self.assertGreater(len(everything.splitlines()), 500)
        self.assertIn('| Scale out by 6 ', screen)
        path = pathlib.Path(screen.splitlines()[-1].rpartition(': ')[2])
        page = path.read_text('utf-8')
        for part in parts:
            for step in part['steps']:
                self.assertIn(html.escape(step['title']), page)
                self.assertIn(html.escape(step['note']), page)
        pictures = [
            step
            for part in parts
            for step in part['steps']
            if step['bars'] or step['boots']
        ]
        self.assertGreater(len(pictures), 15)
        self.assertEqual(len(pictures), page.count('<svg'))
        # It needs no network, and each element of it ends.
        self.assertNotRegex(page, r'<(script|link|img|iframe)\b|@import')
        ElementTree.fromstring(page)  # noqa: S314

    @ddt.data((3, 0), (4, 1))
    @ddt.unpack
    def test_exit_code_tells_whether_a_check_failed(self, found, wanted):
        check = {'what': 'sum', 'wanted': 3, 'found': found, 'ok': found == 3}
        step = {'title': 'add', 'columns': ['a'], 'rows': [[1]], 'note': ''}
        part = {'service': 'x', 'real': ['r'], 'stubs': ['s']}
        part |= {'steps': [{**step, 'checks': [check]}]}
        part |= {'checks': 1, 'failed': int(not check['ok'])}
        part |= {'unit': 'u', 'compared': ['a', 'b'], 'beside': []}
        with (
            mock.patch.object(command, 'run', return_value=[[part]]),
            mock.patch.object(command, 'LOGS', self.folder),
        ):
            code, output, error = self.demo('nova')
            _, everything, _ = self.demo('nova', '--all')
        self.assertEqual(wanted, code)
        told = 'FAIL  add: sum; wanted: 3, found: 4'
        self.assertIs(told in output, bool(wanted))
        self.assertIn('STUBBED: s', everything)
        self.assertIs('wanted: 3' in everything, bool(wanted))
        self.assertIs('not everything' in error, bool(wanted))

    def test_a_service_that_breaks_off_is_a_failure(self):
        with (
            mock.patch.object(command, 'SERVICES', ['tale']),
            mock.patch.object(command, 'LOGS', self.folder),
            mock.patch('importlib.util.find_spec'),
        ):
            code, output, _ = self.demo('--json', '-')
        self.assertEqual(
            (1, {'ok': False, 'parts': []}), (code, json.loads(output))
        )
        log = (self.folder / 'tale.log').read_text()
        self.assertIn("No module named 'demo.tale'", log)

    @ddt.data(
        (['cinder'], 'there is no service "cinder" in the demo'),
        (['--json', '/no/x'], 'cannot write to /no/x: No such file'),
        (['--json', '-', '--all'], 'not allowed with'),
    )
    @ddt.unpack
    def test_a_wrong_call_is_refused(self, arguments, words):
        code, output, error = self.demo(*arguments)
        self.assertEqual((2, ''), (code, output))
        self.assertIn(words, error)

    def test_a_folder_that_cannot_be_written_is_one_line(self):
        file = self.folder / 'file'
        file.write_text('')
        for logs in (file, file / 'below'):
            with mock.patch.object(command, 'LOGS', logs):
                code, output, error = self.demo('--json', '-')
            self.assertEqual((2, ''), (code, output))
            self.assertEqual(1, len(error.splitlines()))
            self.assertIn(f'cannot write {logs}', error)

    def test_an_old_result_stays_until_there_is_a_new_one(self):
        file = self.folder / 'result.json'
        file.write_text('old')
        stopped = mock.Mock(side_effect=KeyboardInterrupt)
        with mock.patch.object(command, 'run', stopped):
            code, _, _ = self.demo('--json', str(file))
        self.assertEqual((130, 'old'), (code, file.read_text()))

    def test_a_missing_service_is_named(self):
        with mock.patch('importlib.util.find_spec', return_value=None):
            code, _, error = self.demo('heat')
        self.assertEqual(2, code)
        self.assertIn('heat is not installed here: run "make demo"', error)
