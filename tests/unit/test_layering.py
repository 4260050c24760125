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

"""Which module may load what: pure modules, options, and the packages."""

import ast
import sys
import unittest

import ddt

from tests import processes

PACKAGES = ('senlin_plugins', 'nova_filters', 'heat_hints')
SERVICES = ('senlin', 'nova', 'heat')

#: Modules that decide. They take and return plain data, so that they can be
#: read, tested and reused without any service.
PURE = (
    'senlin_plugins.apportionment',
    'senlin_plugins.selection',
    'senlin_plugins.sizing',
    'nova_filters.requirement',
    'nova_filters.matching',
    'nova_filters.batch',
    'nova_filters.stack_hints',
    'nova_filters.stack_map',
    'heat_hints.hints',
    'heat_hints.lineage',
    'heat_hints.mapping',
    'heat_hints.signature',
)

#: Modules that may use libraries, but load without any service: what the
#: sample-file generator, the documentation and an entry point's scan import.
SERVICE_FREE = (
    'senlin_plugins',
    'senlin_plugins.conf',
    'nova_filters',
    'nova_filters.conf',
    'heat_hints',
    'heat_hints.conf',
    'heat_hints.providers',
)


def loaded_by(module):
    """Return the top-level names that a fresh process has after an import.

    :param module: the module to import.
    :returns: a set of names such as ``nova`` or ``json``.
    """
    program = (
        'import sys; before = set(sys.modules); '
        f'import {module}; '
        'print(*{name.split(".")[0] for name in set(sys.modules) - before})'
    )
    return set(' '.join(processes.run_python(program)).split())


def imports_of(file):
    """Return the top-level names that a source file imports anywhere."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name.split('.')[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.split('.')[0])
    return names


@ddt.ddt
class LayeringTest(unittest.TestCase):
    @ddt.data(*PURE)
    def test_pure_module_loads_standard_library_and_siblings_only(
        self, module
    ):
        own = module.split('.')[0]
        found = loaded_by(module)
        self.assertIn(own, found)
        allowed = sys.stdlib_module_names | {own}
        self.assertEqual(set(), found - allowed)

    @ddt.data(*SERVICE_FREE)
    def test_module_loads_without_a_service(self, module):
        found = loaded_by(module)
        self.assertIn(module.split('.')[0], found)
        self.assertEqual(set(), found & set(SERVICES))

    @ddt.data(*PACKAGES)
    def test_package_imports_neither_of_the_other_two(self, package):
        files = sorted((processes.ROOT / package).rglob('*.py'))
        self.assertTrue(files)
        others = set(PACKAGES) - {package}
        for file in files:
            self.assertEqual(set(), imports_of(file) & others, file)

    @ddt.data(*zip(PACKAGES, SERVICES, strict=True))
    @ddt.unpack
    def test_package_imports_no_service_but_its_own(self, package, service):
        others = set(SERVICES) - {service}
        for file in sorted((processes.ROOT / package).rglob('*.py')):
            self.assertEqual(set(), imports_of(file) & others, file)
            self.assertNotIn('tests', imports_of(file), file)
            self.assertNotIn('demo', imports_of(file), file)
