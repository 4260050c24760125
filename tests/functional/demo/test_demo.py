# SPDX-License-Identifier: Apache-2.0

"""The demo as a user starts it: its result, its data, its answers to errors.

The whole demo runs once; the tests read what it printed.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
import venv

import ddt

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def demo(*arguments, python=sys.executable):
    """Run the demo and return the finished process."""
    # stestr's own variables would reach the services.
    env = {key: os.environ[key] for key in os.environ if key != 'PYTHON'}
    return subprocess.run(
        [python, '-W', 'ignore', '-m', 'demo', *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=env,
    )


class DemoResultTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='opp-demo-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.file = cls.folder / 'result.json'
        cls.result = demo(
            '--json', cls.file, '--work-dir', cls.folder / 'work'
        )
        if not cls.file.exists():
            raise AssertionError(cls.result.stderr)
        cls.data = json.loads(cls.file.read_text())

    def test_every_check_holds_and_the_exit_code_says_so(self):
        failed = [
            check
            for part in self.data['parts']
            for step in part['steps']
            for check in step['checks']
            if not check['ok']
        ]
        self.assertEqual([], failed)
        self.assertIs(True, self.data['ok'])
        self.assertEqual(0, self.result.returncode, self.result.stderr)

    def test_each_service_tells_its_story(self):
        services = [part['service'].split()[0] for part in self.data['parts']]
        # The last part is that of Heat and Nova together.
        self.assertEqual(['Senlin', 'Nova', 'Heat', 'Heat'], services)
        for part in self.data['parts']:
            self.assertTrue(part['real'], part['service'])
            for step in part['steps']:
                for row in step['rows']:
                    self.assertEqual(len(step['columns']), len(row), row)

    def test_what_heat_sent_is_what_nova_places(self):
        heat, together = self.data['parts'][2:]
        told = {row[0] for row in heat['steps'][0]['rows']}
        placed = {row[0] for row in together['steps'][0]['rows']}
        self.assertEqual(told, placed)

    def test_progress_goes_to_standard_error_and_nothing_else_does(self):
        self.assertEqual('', self.result.stdout)
        lines = self.result.stderr.splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(
                line, r'^\[(senlin|nova|heat|stack) *\d+\.\d s\] '
            )

    def test_no_process_needs_400_mib(self):
        for part in self.data['parts']:
            self.assertGreater(part['peak_mib'], 0)
            self.assertLess(part['peak_mib'], 400, part['service'])


@ddt.ddt
class DemoErrorTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='opp-demo-'))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def assertOneLine(self, result, pattern):
        """Assert that a run ended with one line on standard error."""
        self.assertEqual(2, result.returncode, result.stderr)
        self.assertEqual('', result.stdout)
        self.assertEqual(1, len(result.stderr.splitlines()), result.stderr)
        self.assertRegex(result.stderr, pattern)

    def test_missing_folder_of_the_json_file_is_told(self):
        result = demo('--json', self.folder / 'nowhere' / 'x.json')
        self.assertOneLine(result, r'nowhere" does not exist, create it first')

    def test_folder_as_the_json_file_is_told(self):
        result = demo('--json', self.folder)
        self.assertOneLine(result, 'it is a folder, give a file name')

    def test_busy_port_is_told(self):
        with socket.socket() as busy:
            busy.bind(('127.0.0.1', 0))
            busy.listen()
            port = busy.getsockname()[1]
            result = demo('heat', '--port', port)
        self.assertOneLine(result, f'port {port} on 127.0.0.1 is busy: stop')

    @ddt.data('-1', '65536')
    def test_impossible_port_is_told(self, port):
        result = demo('heat', f'--port={port}')
        self.assertOneLine(result, f'--port {port} is no TCP port')

    def test_unknown_part_is_told(self):
        self.assertOneLine(demo('cinder'), 'there is no part "cinder"')

    def test_part_behind_json_is_not_taken_for_a_file(self):
        self.assertOneLine(demo('--json', 'nova'), 'put the parts in front')
        self.assertFalse((ROOT / 'nova').exists())

    def test_file_as_the_work_folder_is_told(self):
        file = self.folder / 'file'
        file.write_text('')
        result = demo('nova', '--work-dir', file)
        self.assertOneLine(result, 'give another one with --work-dir')

    def test_missing_service_is_told(self):
        venv.create(self.folder / 'bare', symlinks=True)
        python = self.folder / 'bare' / 'bin' / 'python'
        result = demo('nova', 'heat', python=python)
        self.assertOneLine(result, 'not installed here: nova, heat. Run "make')

    def test_part_that_goes_on_brings_the_one_before_along(self):
        venv.create(self.folder / 'bare', symlinks=True)
        python = self.folder / 'bare' / 'bin' / 'python'
        result = demo('stack', python=python)
        self.assertOneLine(result, 'not installed here: heat, nova. Run "make')
        self.assertOneLine(demo('stack', '--port=-1'), 'is no TCP port')

    def test_help_names_the_parts_and_the_exit_codes(self):
        result = demo('--help')
        self.assertEqual(0, result.returncode)
        self.assertIn('senlin, nova, heat, stack', result.stdout)
        self.assertIn('Exit code: 0', result.stdout)
