# SPDX-License-Identifier: Apache-2.0

"""What loads without a service; import-linter reads who imports whom.

It does not tell an import in a function from one at the top.
"""

import unittest

from tests import processes

#: What the sample files, the documentation and a search for entry points
#: import.
SERVICE_FREE = (
    *(
        f'{package}.{name}'
        for package in ('senlin_plugins', 'nova_filters', 'heat_hints')
        for name in ('conf', 'status')
    ),
    'heat_hints.providers',
    'osc_placement_plugins.extension',
)
PROGRAM = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*{'senlin', 'nova', 'heat'} & set(sys.modules))
"""


class LayeringTest(unittest.TestCase):
    def test_no_service_is_loaded(self):
        self.assertEqual([''], processes.run_python(PROGRAM, *SERVICE_FREE))
