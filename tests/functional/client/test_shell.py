# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import contextlib
import importlib.metadata
import io
from unittest import mock

import ddt

from os_placement_plugins.commands import extension, lister
from tests.functional.client import base


@ddt.ddt
class ShellTest(base.CommandTestCase):
    def test_the_shell_loads_without_a_warning(self) -> None:
        result = self.openstack_process('complete')
        self.assertEqual((0, ''), (result.status, result.error))
        self.assertIn('aggregate', result.output)

    def test_the_extension_is_published_once(self) -> None:
        points = importlib.metadata.entry_points(
            group='openstack.cli.extension', name=extension.API_NAME
        )
        self.assertEqual([extension], [point.load() for point in points])

    @ddt.data((True, 0.0, 2), (True, 60.0, 0), (False, 0.0, 0))
    @ddt.unpack
    def test_a_terminal_is_told_how_far_a_slow_command_is(
        self, terminal: bool, patience: float, lines: int
    ) -> None:
        error = io.StringIO()
        with (
            mock.patch.object(lister, 'PATIENCE', patience),
            mock.patch.object(error, 'isatty', lambda: terminal, create=True),
            contextlib.redirect_stderr(error),
        ):
            self.assertEqual(['a', 'b'], [*lister.progress(['a', 'b'], 'f')])
        self.assertEqual(lines, len(error.getvalue().splitlines()))
