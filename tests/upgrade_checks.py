# SPDX-License-Identifier: Apache-2.0

"""Run the upgrade checks as an operator does, and read their answer."""

import dataclasses
import functools
import json
import os
import pathlib
import sys
import tempfile
import unittest

from oslo_upgradecheck import upgradecheck

from testing import subprocesses
from tests import processes, signing

#: What each command loads of its service, in its order; ``.*`` stands for all
#: modules of a package.
LOADED = {
    'senlin-plugins-status': (
        'senlin.cmd',
        'senlin.conf',
        'senlin.engine.environment',
        'senlin_plugins.profiles',
    ),
    'nova-filters-status': (
        'nova.conf',
        'nova.scheduler.filters.*',
        'nova.scheduler.weights.*',
        'nova_filters.filters.*',
        'nova_filters.weighers.*',
    ),
    'heat-hints-status': (
        'heat.cmd.engine',
        'heat.engine.clients.os.*',
        'heat.engine.resources.*',
    ),
}

#: Loads the service, which takes seconds, once. Then it runs the console
#: script in a process of its own for each line of its standard input.
SERVER = """
import importlib, importlib.metadata, json, logging, os, pkgutil, signal, sys
from os_placement_plugins import child_process
command, *names = sys.argv[1:]
(point,) = importlib.metadata.entry_points(
    group='console_scripts', name=command
)
main = point.load()
logging.getLogger().addHandler(logging.NullHandler())
for name in names:
    package = name.removesuffix('.*')
    module = importlib.import_module(package)
    if package != name:
        for part in pkgutil.walk_packages(module.__path__, f'{package}.'):
            importlib.import_module(part.name)
for line in sys.stdin:
    if not (child := os.fork()):
        break
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
else:
    sys.exit()
# This process ends even if the command hangs.
signal.alarm(600)
arguments, folder = json.loads(line)
# The home folder of the service's user, where oslo.config looks for files.
os.environ['HOME'] = folder
# However busy the machine is.
child_process.LIMIT = 600
for descriptor, name in (1, 'output'), (2, 'error'):
    os.dup2(os.open(os.path.join(folder, name), os.O_WRONLY), descriptor)
# Where a test puts modules of its own.
sys.path.insert(0, folder)
sys.argv[:] = [command, *arguments]
code = main()
sys.stdout.flush()
# To take the service apart would take longer than the checks.
os._exit(code)
"""


@functools.cache
def server(command: str) -> subprocesses.Server:
    """Return the process that runs a command; it ends with this one."""
    return subprocesses.Server(
        [sys.executable, '-W', 'ignore', '-c', SERVER, command]
        + [*LOADED[command]],
        cwd=processes.ROOT,
        # As the command itself says; it is read when Nova is imported.
        env={**os.environ, 'OS_NOVA_DISABLE_EVENTLET_PATCHING': 'true'},
    )


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
    """Base of tests of one command that reads a service's configuration."""

    #: The console script, and the file that it reads.
    command = ''
    file = ''

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix='opp-status-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def execute(self, *arguments):
        files = [self.folder / name for name in ('output', 'error')]
        for file in files:
            file.write_text('')
        words = [str(word) for word in arguments]
        order = json.dumps([words, str(self.folder)])
        code = int(server(self.command).ask(order))
        return Answer(code, *(file.read_text() for file in files))

    def write(self, text):
        path = self.folder / self.file
        path.write_text(text)
        return path

    def check(self, text):
        """Run all checks on a configuration.

        :returns: an :class:`Answer`; its exit code is known to be that of
            the worst check, and that there is nothing beside the answer. It
            shows no signing key.
        """
        path = self.write(text)
        answer = self.execute(
            '--config-file', path, 'upgrade', 'check', '--json'
        )
        self.assertEqual('', answer.error)
        self.assertNotIn(signing.KEY, answer.output)
        worst = max(
            upgradecheck.Code[name] for name, _ in answer.checks.values()
        )
        self.assertEqual(worst, answer.code, answer.output)
        return answer

    def assert_details(self, answer, name, code, *words):
        result, details = answer.checks[name]
        self.assertEqual(code, result, details)
        for word in words:
            self.assertIn(word, details)

    def check_details(self, text, name, code, *words):
        """Run all checks on a configuration; check the row of one."""
        answer = self.check(text)
        self.assert_details(answer, name, code, *words)
        return answer

    def assert_clean(self, text):
        """Check that there is nothing to do for a configuration."""
        answer = self.check(text)
        self.assertEqual(
            {'SUCCESS'}, {code for code, _ in answer.checks.values()}
        )
        self.assertEqual(0, answer.code)
