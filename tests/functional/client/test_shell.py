# SPDX-License-Identifier: Apache-2.0

"""The shell finds the plug-in, and nothing else changes."""

import importlib.metadata

from os_placement_plugins.commands import extension
from tests.functional.client import base


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
