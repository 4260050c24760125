# SPDX-License-Identifier: Apache-2.0

"""What is loaded with a module; import-linter reads who imports whom."""

import sys
import unittest

from tests import processes

#: Modules that decide. They take and return plain data, so that they can be
#: read, tested and reused without any service.
PURE = {
    'senlin_plugins': (
        'planning.apportionment planning.decision planning.placement '
        'planning.projection planning.region_spec planning.region_state '
        'planning.relocation planning.selection '
        'planning.sizing planning.snapshot planning.whole_number'
    ),
    'nova_filters': (
        'matching.report advice.explanation advice.impact advice.lint '
        'advice.remedy stacks.members stacks.places'
    ),
    'heat_hints': (
        'deciding.hints deciding.lineage deciding.mapping deciding.plan '
        'deciding.resource'
    ),
    'os_placement_plugins': (
        'signature stack_hints commands.rows commands.hint_members'
    ),
}
#: Modules that may use libraries, but load without any service: what the
#: sample files, the documentation and a search for entry points import.
SERVICE_FREE = {
    'senlin_plugins': 'conf status',
    'nova_filters': 'conf status',
    'heat_hints': 'conf status providers.group providers.mapping_file',
    'os_placement_plugins': 'options upgrade_check commands.extension',
}
#: Prints what the imports of each argument have loaded, one line for each.
PROGRAM = """
import importlib, sys
for names in sys.argv[1:]:
    before = set(sys.modules)
    for name in names.split():
        importlib.import_module(name)
    print(*{name.split('.')[0] for name in set(sys.modules) - before})
"""


class LayeringTest(unittest.TestCase):
    def test_no_service_is_loaded_and_nothing_at_all_by_pure_modules(self):
        pure, service_free = (
            set(line.split())
            for line in processes.run_python(
                PROGRAM,
                *(
                    ' '.join(
                        f'{package}.{name}'
                        for package, names in group.items()
                        for name in names.split()
                    )
                    for group in (PURE, SERVICE_FREE)
                ),
            )
        )
        self.assertLessEqual(set(PURE), pure)
        self.assertEqual(set(PURE), pure - sys.stdlib_module_names)
        self.assertEqual(set(), service_free & {'senlin', 'nova', 'heat'})
