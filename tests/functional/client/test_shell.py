# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import contextlib
import importlib.metadata
import io
import json
from unittest import mock

import ddt

from nova_filters.matching.inputs import SCOPE
from osc_placement_plugins import extension, progress
from tests import processes
from tests.functional.client import base

#: Prints the modules of this distribution that the shell loads for the help of
#: another command.
LOADED = """
import contextlib, io, sys
from openstackclient import shell
with contextlib.redirect_stdout(io.StringIO()):
    shell.main(['server', 'list', '--help'])
packages = (
    'osc_placement_plugins', 'os_placement_plugins', 'nova_filters',
    'senlin_plugins', 'heat_hints',
)
print(*sorted(
    name for name in sys.modules if name.partition('.')[0] in packages
))
"""


@ddt.ddt
class ShellTest(base.CommandTestCase):
    def test_errors_of_lint_end_a_process_with_exit_code_2(self) -> None:
        flavor = {'Name': 'f', 'Properties': {f'{SCOPE}os': '<or> ! <or> x'}}
        aggregate = {'Name': 'a', 'Properties': {}, 'Hosts': ['h']}
        files = [
            '--flavors',
            self.write(json.dumps([flavor]), 'flavors'),
            '--aggregates',
            self.write(json.dumps([aggregate]), 'others'),
        ]
        command = 'aggregate filter lint -f json'
        result = self.openstack_process(*command.split(), *files)
        # The shell loads without a warning.
        self.assertEqual((2, ''), (result.status, result.error))
        findings = json.loads(result.output)['causes']
        codes = {finding['code'] for finding in findings}
        self.assertEqual({'no-host', 'exclusive-sentinel'}, codes)

    def test_the_shell_loads_little_for_another_command(self) -> None:
        modules = processes.run_python(LOADED)
        self.assertEqual(
            [
                'os_placement_plugins', 'os_placement_plugins.quoting',
                'osc_placement_plugins', 'osc_placement_plugins.audit',
                'osc_placement_plugins.base', 'osc_placement_plugins.explain',
                'osc_placement_plugins.extension',
                'osc_placement_plugins.lint',
                'osc_placement_plugins.region_plan',
            ],
            modules[-1].split(),
        )  # fmt: skip

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
            mock.patch.object(progress, 'PATIENCE', patience),
            mock.patch.object(error, 'isatty', lambda: terminal, create=True),
            contextlib.redirect_stderr(error),
        ):
            self.assertEqual(
                ['a', 'b'], [*progress.progress(['a', 'b'], 'of 2 f')]
            )
        progress_lines = ['1 of 2 f', '2 of 2 f'][:lines]
        self.assertEqual(progress_lines, error.getvalue().splitlines())
