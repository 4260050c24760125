# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The shell finds the plug-in, and nothing else changes."""

import importlib.metadata

from nova_filters.client import extension
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
