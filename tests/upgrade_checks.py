# SPDX-License-Identifier: Apache-2.0

"""Run the upgrade checks as an operator does, and read their answer."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from oslo_upgradecheck import upgradecheck

from tests import processes

#: Runs a console script through its published entry point.
PROGRAM = """
import importlib.metadata, sys
(point,) = importlib.metadata.entry_points(
    group='console_scripts', name=sys.argv[1]
)
sys.argv[:] = sys.argv[1:]
sys.exit(point.load()())
"""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one run of the command left behind.

    :param code: its exit code.
    :param output: what it printed to standard output.
    :param error: what it printed to standard error.
    """

    code: int
    output: str
    error: str

    @property
    def checks(self) -> dict[str, tuple[str, str]]:
        """Return the result and the details of each check, by its name."""
        return {
            row['check']: (
                upgradecheck.Code(row['result']).name,
                row['details'] or '',
            )
            for row in json.loads(self.output)['checks']
        }


class UpgradeCheckCase(unittest.TestCase):
    """Base of tests of one ``upgrade check`` command."""

    #: The console script, and the file that it reads.
    command = ''
    file = ''

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-status-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def execute(self, *arguments, output=subprocess.PIPE):
        """Run the command.

        :param arguments: those of the command line.
        :param output: the file that it prints to, if not into the answer.
        :returns: an :class:`Answer`.
        """
        result = subprocess.run(
            # -u: a command learns at once that nobody reads.
            [sys.executable, '-u', '-W', 'ignore', '-c', PROGRAM]
            + [self.command, *map(str, arguments)],
            cwd=processes.ROOT,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            # Where a test puts modules of its own.
            env={**os.environ, 'PYTHONPATH': str(self.folder)},
        )
        return Answer(result.returncode, result.stdout, result.stderr)

    def write(self, text):
        """Write the configuration file and return its path."""
        path = self.folder / self.file
        path.write_text(text)
        return path

    def check(self, text):
        """Run all checks on a configuration.

        :param text: the content of the configuration file.
        :returns: an :class:`Answer`; its exit code is known to be that of
            the worst check, and that there is nothing beside the answer.
        """
        path = self.write(text)
        answer = self.execute(
            '--config-file', path, 'upgrade', 'check', '--json'
        )
        self.assertEqual('', answer.error)
        worst = max(
            upgradecheck.Code[name] for name, _ in answer.checks.values()
        )
        self.assertEqual(worst, answer.code, answer.output)
        return answer

    def assert_details(self, answer, name, code, *words):
        """Check the row of one check.

        :param answer: what the command said.
        :param name: the check's name.
        :param code: the result that is expected.
        :param words: what the details must say.
        """
        found, details = answer.checks[name]
        self.assertEqual(code, found, details)
        for word in words:
            self.assertIn(word, details)

    def assert_clean(self, answer):
        """Check that there is nothing to do."""
        self.assertEqual(
            {'SUCCESS'}, {code for code, _ in answer.checks.values()}
        )
        self.assertEqual(0, answer.code)

    def assert_one_line(self, answer, *words):
        """Check that the command gave up with one clear line."""
        self.assertEqual((255, ''), (answer.code, answer.output))
        (line,) = answer.error.splitlines()
        self.assertIn(self.command, line)
        for word in words:
            self.assertIn(word, line)


class FileTests:
    """What every command does with its file; mixed into its test case."""

    def test_a_missing_file_is_one_line(self):
        path = self.folder / 'gone.conf'
        answer = self.execute('--config-file', path, 'upgrade', 'check')
        self.assert_one_line(answer, str(path))

    def test_a_folder_instead_of_a_file_is_one_line(self):
        answer = self.execute('--config-file', self.folder, 'upgrade', 'check')
        self.assert_one_line(answer, str(self.folder))

    def test_a_broken_file_is_one_line_without_what_stands_in_it(self):
        path = self.write("[heat_hints]\nsigning_key \"my 'secret'\n")
        answer = self.execute('--config-file', path, 'upgrade', 'check')
        self.assert_one_line(answer, f'{path}:2')
        self.assertNotIn('secret', answer.error)

    def test_no_file_at_all_is_a_failure(self):
        # As on a host where the service is not configured.
        answer = self.execute('upgrade', 'check', '--json')
        self.assertEqual('', answer.error)
        self.assert_details(
            answer, 'Configuration file', 'FAILURE', self.file, '--config-file'
        )

    def test_nothing_is_said_when_nobody_reads_any_more(self):
        path = self.write('')
        reading, writing = os.pipe()
        os.close(reading)
        answer = self.execute(
            *('--config-file', path, 'upgrade', 'check'), output=writing
        )
        os.close(writing)
        self.assertEqual((255, ''), (answer.code, answer.error))

    def test_the_table_says_the_same_as_the_data(self):
        path = self.write('')
        answer = self.execute('--config-file', path, 'upgrade', 'check')
        data = self.check('')
        self.assertEqual(data.code, answer.code)
        for name in data.checks:
            self.assertIn(f'Check: {name}', answer.output)
