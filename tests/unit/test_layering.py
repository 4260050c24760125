# SPDX-License-Identifier: Apache-2.0

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
    'senlin_plugins.projection',
    'senlin_plugins.region_spec',
    'senlin_plugins.selection',
    'senlin_plugins.sizing',
    'nova_filters.requirement',
    'nova_filters.matching',
    'nova_filters.judging',
    'nova_filters.memory',
    'nova_filters.batch',
    'nova_filters.server_hints',
    'nova_filters.stack_hints',
    'nova_filters.stack_map',
    'nova_filters.inventory',
    'nova_filters.explanation',
    'nova_filters.mistakes',
    'nova_filters.lint',
    'nova_filters.in_tree',
    'nova_filters.impact',
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
    'senlin_plugins.status',
    'senlin_plugins.client.extension',
    'nova_filters',
    'nova_filters.conf',
    'nova_filters.status',
    'nova_filters.client',
    'nova_filters.client.extension',
    'heat_hints',
    'heat_hints.conf',
    'heat_hints.status',
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
