# SPDX-License-Identifier: Apache-2.0

"""Run the real ``openstack`` shell and keep what it prints."""

import contextlib
import dataclasses
import io
import json
import logging
import os
import pathlib
import shlex
import tempfile
import unittest
from collections.abc import Mapping
from typing import Any
from unittest import mock

import requests_mock
from openstackclient import shell
from osc_lib import clientmanager

from tests.functional.client import rest_stub

with contextlib.suppress(ImportError):
    # The shell of 2024.1 imports it with a command. It then gives its logger a
    # handler for good.
    import novaclient.api_versions  # noqa: F401


@dataclasses.dataclass(frozen=True)
class Result:
    """What a command left behind: exit code, standard output and error."""

    status: int
    output: str
    error: str


def forget_clients() -> None:
    """Let the next command make its own clients, as a new process does.

    The shell keeps them in its class, with the versions that were asked for.
    """
    for value in vars(clientmanager.ClientManager).values():
        if hasattr(value, '_handle'):
            value._handle = None


class CommandTestCase(unittest.TestCase):
    """Base of tests of commands: no cloud is configured, and no settings."""

    #: What a user sets to log in to a cloud.
    login: Mapping[str, str] = {}

    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-client-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def environment(self) -> dict[str, str]:
        """Return this process's variables less those of any cloud."""
        variables = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith('OS_')
        }
        # Where else the shell would look for clouds.yaml.
        return variables | {'HOME': self.folder, 'COLUMNS': '400'}

    def openstack(self, *arguments: str, **variables: str) -> Result:
        """Run a command in this process, which is quick.

        :param variables: environment variables, beside those of the login.
        """
        forget_clients()
        output, error = io.StringIO(), io.StringIO()
        environment = self.environment() | self.login | variables
        with (
            # The shell sets up logging anew with each command.
            mock.patch.object(logging.getLogger(), 'handlers', []),
            mock.patch.dict(os.environ, environment, clear=True),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(error),
        ):
            try:
                status = shell.main(list(arguments))
            except SystemExit as exc:
                # argparse ends the process when a command line is wrong.
                status = exc.code if isinstance(exc.code, int) else 1
        return Result(status, output.getvalue(), error.getvalue())

    def answer(
        self, words: str, *more: str, status: int = 0
    ) -> tuple[Any, list[str]]:
        """Run a command with ``-f json``.

        :param status: the exit code that the command must have.
        :returns: the rows, and the sentences beside them.
        """
        command = [*shlex.split(words), *more, '-f', 'json']
        result = self.openstack(*command)
        self.assertEqual(status, result.status, result.error)
        return json.loads(result.output), result.error.splitlines()

    def data(self, words: str, *more: str, status: int = 0) -> Any:
        """Run a command with ``-f json`` and return its rows."""
        rows, _ = self.answer(words, *more, status=status)
        return rows

    def run_command(self, words: str, *more: str, status: int = 0) -> str:
        """Run a command in 80 columns, and return what it prints.

        :param status: the exit code that the command must have.
        """
        result = self.openstack(*shlex.split(words), *more, COLUMNS='80')
        self.assertEqual((status, ''), (result.status, result.error))
        return result.output

    def write(self, text: str, name: str) -> str:
        """Write a file and return its path."""
        file = pathlib.Path(self.folder) / name
        file.write_text(text, encoding='utf-8')
        return str(file)

    def assert_one_line(self, result: Result, *words: str) -> None:
        """Check that a command failed with one line, which has words."""
        self.assertNotEqual(0, result.status, result)
        self.assertEqual('', result.output)
        lines = result.error.strip().splitlines()
        self.assertEqual(1, len(lines), result.error)
        for word in words:
            self.assertIn(word, lines[0])


#: The shell's own commands that change a cloud, where an operator follows a
#: page.
CHANGES = (
    'aggregate add host',
    'aggregate create',
    'aggregate set',
    'aggregate unset',
    'flavor set',
    'flavor unset',
)
#: What Nova calls the rows that each option reads.
NOUNS = {
    'flavors': 'flavors',
    'aggregates': 'aggregates',
    'hosts': 'services',
    'servers': 'servers',
}


class CloudTestCase(CommandTestCase):
    """Base of tests of commands that ask a cloud, or files saved from it."""

    login = rest_stub.LOGIN

    def setUp(self) -> None:
        super().setUp()
        self.cloud = rest_stub.examples()
        self.mocker = requests_mock.Mocker()
        self.enterContext(self.mocker)
        self.cloud.install(self.mocker)

    def openstack(self, *arguments: str, **variables: str) -> Result:
        """Run a command, which must only read if it is not a change."""
        before = len(self.mocker.request_history)
        result = super().openstack(*arguments, **variables)
        if not ' '.join(arguments).startswith(CHANGES):
            sent = {
                (request.method, request.url)
                for request in self.mocker.request_history[before:]
                if request.method != 'GET'
            }
            login = ('POST', f'{rest_stub.AUTH_URL}/auth/tokens')
            self.assertLessEqual(sent, {login})
        if 'filter' in arguments and '--help' not in arguments:
            # Who copies an output must not change a cloud.
            printed = result.output + result.error
            self.assertNotRegex(printed, f'openstack ({"|".join(CHANGES)})')
            self.assertNotIn('--property', printed)
        return result

    def files(self, *nouns: str) -> list[str]:
        """Save what Nova's API answers; return the options that read it."""
        options = []
        for noun in nouns:
            rows = getattr(self.cloud, NOUNS[noun])
            answer = json.dumps({NOUNS[noun]: [*rows.values()]})
            options += [f'--{noun}', self.write(answer, f'{noun}.json')]
        return options
