# SPDX-License-Identifier: Apache-2.0

"""The demo as a user starts it: its result, and its answers to errors."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

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

    @ddt.data((3, 0), (4, 1))
    @ddt.unpack
    def test_exit_code_tells_whether_a_check_failed(self, found, wanted):
        check = {'what': 'sum', 'wanted': 3, 'found': found, 'ok': found == 3}
        step = {'title': 'add', 'columns': ['a'], 'rows': [[1]], 'note': ''}
        part = {'service': 'x', 'real': ['r'], 'stubs': ['s']}
        part |= {'steps': [{**step, 'checks': [check]}]}
        part |= {'checks': 1, 'failed': int(not check['ok'])}
        with mock.patch.object(command, 'run', return_value=[[part]]):
            code, output, error = self.demo('nova')
        self.assertEqual(wanted, code)
        self.assertIn('STUBBED: s', output)
        self.assertIs('wanted: 3' in output, bool(wanted))
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
        (['--json', '/no/x'], 'No such file or directory'),
    )
    @ddt.unpack
    def test_a_wrong_call_is_refused(self, arguments, words):
        code, output, error = self.demo(*arguments)
        self.assertEqual((2, ''), (code, output))
        self.assertIn(words, error)

    def test_a_missing_service_is_named(self):
        with mock.patch('importlib.util.find_spec', return_value=None):
            code, _, error = self.demo('heat')
        self.assertEqual(2, code)
        self.assertIn('heat is not installed here: run "make demo"', error)
