# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import contextlib
import io
import json
import sys
from unittest import mock

from nova_filters.matching.inputs import SCOPE
from osc_placement_plugins import progress
from testing import subprocesses
from tests import processes
from tests.functional.client import base

#: Prints the modules of this distribution that the shell loads for the help of
#: another command.
LOADED = """
import sys
from openstackclient import shell
shell.main(['server', 'list', '--help'])
packages = (
    'osc_placement_plugins', 'os_placement_plugins', 'nova_filters',
    'senlin_plugins', 'heat_hints',
)
print(*sorted(
    name for name in sys.modules if name.partition('.')[0] in packages
))
"""


class ShellTest(base.CommandTestCase):
    def test_errors_of_lint_end_a_process_with_exit_code_2(self) -> None:
        flavor = {'Name': 'f', 'Properties': {f'{SCOPE}os': '<or> ! <or> x'}}
        aggregate = {'Name': 'a', 'Properties': {}, 'Hosts': ['h']}
        result = subprocesses.run(
            *(sys.executable, '-m', 'openstackclient.shell'),
            *('aggregate', 'filter', 'lint', '-f', 'json'),
            *('--flavors', self.write(json.dumps([flavor]), 'flavors')),
            *('--aggregates', self.write(json.dumps([aggregate]), 'others')),
            env=self.environment(),
        )
        # The shell loads without a warning.
        self.assertEqual((2, ''), (result.returncode, result.stderr))
        self.assertIn('2 errors found', json.loads(result.stdout)['verdict'])

    def test_the_shell_loads_little_for_another_command(self) -> None:
        modules = processes.run_python(LOADED)
        self.assertEqual(
            [
                'os_placement_plugins',
                'os_placement_plugins.quoting',
                'osc_placement_plugins',
                'osc_placement_plugins.audit',
                'osc_placement_plugins.base',
                'osc_placement_plugins.explain',
                'osc_placement_plugins.extension',
                'osc_placement_plugins.lint',
                'osc_placement_plugins.region_plan',
            ],
            modules[-1].split(),
        )

    def test_a_terminal_is_told_how_far_a_slow_command_is(self) -> None:
        for is_terminal, patience, lines in (
            (True, 0.0, ['1 of 2 f', '2 of 2 f']),
            (True, 60.0, []),
            (False, 0.0, []),
        ):
            error = io.StringIO()
            error.isatty = lambda: is_terminal  # noqa: B023
            with (
                mock.patch.object(progress, 'PATIENCE', patience),
                contextlib.redirect_stderr(error),
            ):
                items = [*progress.progress(['a', 'b'], 'of 2 f')]
            self.assertEqual(['a', 'b'], items)
            self.assertEqual(lines, error.getvalue().splitlines())
