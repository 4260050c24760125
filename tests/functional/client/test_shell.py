# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import contextlib
import io
from unittest import mock

from osc_placement_plugins import progress
from tests import processes
from tests.functional.client import base

#: Prints the modules that the shell loads for the help of another command.
LOADED = """
import sys
from openstackclient import shell
shell.main(['server', 'list', '--help'])
print(*sys.modules)
"""


class ShellTest(base.CommandTestCase):
    def test_the_shell_loads_little_for_another_command(self) -> None:
        modules = processes.run_python(LOADED)[-1].split()
        self.assertIn('osc_placement_plugins.region_plan', modules)
        late = {
            'osc_placement_plugins.files',
            'nova_filters',
            'senlin_plugins',
            'heat_hints',
        }
        self.assertEqual(set(), late.intersection(modules))

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
