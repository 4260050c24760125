# SPDX-License-Identifier: Apache-2.0

"""Each package works where its own service is the only one installed."""

import json
import pathlib
import subprocess

import ddt

from tests.packaging import base
from tools import environments

#: Programs that do what a service does at its start, run outside the
#: checkout so that only what is installed can be found.
LOADERS = pathlib.Path(__file__).resolve().parent / 'loaders'

NOVA_CONF = """
[filter_scheduler]
available_filters = nova.scheduler.filters.all_filters
available_filters = nova_filters.all_filters
enabled_filters = ComputeFilter,AggregateInstanceTypeFilter
weight_classes = nova_filters.all_weighers
"""

#: Each command of the shell, asked about files.
EXAMPLES = environments.ROOT / 'doc' / 'source' / 'examples'
FILTER_FILES = (
    *('--flavors', EXAMPLES / 'flavors.json'),
    *('--aggregates', EXAMPLES / 'aggregates.json'),
)
COMMANDS = (
    ('aggregate filter explain', ('--summary', *FILTER_FILES)),
    ('aggregate filter lint', FILTER_FILES),
    ('aggregate filter impact', ('--replace-in-tree', *FILTER_FILES)),
    ('cluster region plan', ('--region', 'RegionOne', '--scale-out', '3')),
    ('stack hints show', ('--servers', EXAMPLES / 'stack-servers.json')),
)

HEAT_CONF = """
[heat_hints]
enabled = {enabled}
"""


@ddt.ddt
class SingleServiceTest(base.DistributionTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.installed = {}

    def install(self, name):
        """Install the wheel, with its extra, beside one service.

        :param name: the extra's name.
        :returns: the interpreter of that environment.
        """
        if name not in self.installed:
            environment = environments.ENVIRONMENTS[f'only-{name}']
            python = environments.make(environment)
            pip = [str(python), '-m', 'pip', '--quiet']
            pip += ['--disable-pip-version-check']
            pins = [f'--constraint={file}' for file in environment.constraints]
            wheel = f'{self.wheel}[{name}]'
            self.execute([*pip, 'uninstall', '-y', 'os-placement-plugins'])
            self.execute([*pip, 'install', *pins, wheel])
            self.installed[name] = python
        return self.installed[name]

    def execute(self, command, code=0):
        """Run a program outside the checkout and return what it printed.

        :param command: the program and its arguments.
        :param code: the exit code that is expected.
        """
        result = subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            env=base.clean_environment(),
        )
        self.assertEqual(code, result.returncode, result.stderr)
        return result.stdout.strip()

    def load(self, name):
        """Run a service's loader and return the words of each line."""
        program = LOADERS / f'load_in_{name}.py'
        output = self.execute([self.install(name), '-W', 'ignore', program])
        return [line.split() for line in output.splitlines()]

    @ddt.data('senlin', 'nova', 'heat', 'client')
    def test_environment_holds_one_service(self, name):
        program = (
            'import importlib.util as util; '
            'print(*(name for name in ("senlin", "nova", "heat") '
            'if util.find_spec(name)))'
        )
        wanted = '' if name == 'client' else name
        self.assertEqual(
            wanted, self.execute([self.install(name), '-c', program])
        )

    @ddt.data(
        ('senlin', 'senlin_plugins'),
        ('nova', 'nova_filters'),
        ('heat', 'heat_hints'),
    )
    @ddt.unpack
    def test_package_imports_beside_its_service_alone(self, name, package):
        program = f'import {package}; print({package}.__file__)'
        file = self.execute([self.install(name), '-c', program])
        self.assertIn('site-packages', file)

    def test_senlin_alone_loads_policies_and_profiles(self):
        modules = dict(self.load('senlin'))
        self.assertEqual(
            {
                'senlin_plugins.policy.region_placement-1.0': 'senlin_plugins',
                'senlin_plugins.policy.deletion-1.0': 'senlin_plugins',
                'senlin_plugins.policy.deletion-1.1': 'senlin_plugins',
                'senlin_plugins.nova.server-1.0': 'senlin_plugins',
                'senlin_plugins.heat.stack-1.0': 'senlin_plugins',
                # Installing the package hides nothing of Senlin's own.
                'senlin.policy.region_placement-1.0': 'senlin',
                'os.nova.server-1.0': 'senlin',
            },
            {name: module.split('.')[0] for name, module in modules.items()},
        )

    def test_nova_alone_loads_filter_and_weigher_from_nova_conf(self):
        (self.folder / 'nova.conf').write_text(NOVA_CONF)
        self.assertEqual(
            [
                ['filters', 'ComputeFilter', 'AggregateInstanceTypeFilter'],
                ['weighers', 'StackAffinityWeigher'],
            ],
            self.load('nova'),
        )

    @ddt.data(('true', 'heat_hints'), ('false', 'heat'))
    @ddt.unpack
    def test_heat_alone_loads_the_hook_when_enabled(self, enabled, giver):
        (self.folder / 'heat.conf').write_text(
            HEAT_CONF.format(enabled=enabled)
        )
        (giver_found,), modules = self.load('heat')
        self.assertEqual(giver, giver_found.split('.')[0])
        # It is Heat's own class all the same, or a subclass of it.
        self.assertIn('heat.engine.resources.openstack.nova.server', modules)

    @ddt.data(
        ('senlin', 'senlin-plugins-status', '', 1),
        ('nova', 'nova-filters-status', NOVA_CONF, 1),
        ('heat', 'heat-hints-status', HEAT_CONF.format(enabled='true'), 0),
    )
    @ddt.unpack
    def test_upgrade_check_runs_beside_its_service_alone(
        self, name, command, text, code
    ):
        file = self.folder / f'{name}.conf'
        file.write_text(text)
        script = self.install(name).parent / command
        arguments = ['--config-file', file, 'upgrade', 'check', '--json']
        output = self.execute([script, *arguments], code)
        results = [row['result'] for row in json.loads(output)['checks']]
        # Nothing is a failure; a warning is what the file asks for.
        self.assertEqual(code, max(results))

    @ddt.data(*COMMANDS)
    @ddt.unpack
    def test_command_answers_from_files_without_any_service(
        self, command, arguments
    ):
        shell = self.install('client').parent / 'openstack'
        words = command.split()
        usage = self.execute([shell, *words, '--help'])
        self.assertTrue(usage.startswith(f'usage: openstack {command} '))
        output = self.execute([shell, *words, '-f', 'json', *arguments])
        self.assertIsInstance(json.loads(output), list)
