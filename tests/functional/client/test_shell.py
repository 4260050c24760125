# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

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
        self.assertIn('osc_placement_plugins.region_plan.command', modules)
        late = {
            'osc_placement_plugins.source.files',
            'nova_filters',
            'senlin_plugins',
            'heat_hints',
        }
        self.assertEqual(set(), late.intersection(modules))
