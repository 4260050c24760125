# SPDX-License-Identifier: Apache-2.0

"""The wheel beside the openstack shell, where no service is installed."""

import email
import json
import os
import pathlib
import subprocess
import sys
import unittest
import zipfile

import ddt

ROOT = pathlib.Path(__file__).resolve().parents[3]

#: The top-level packages of the distribution, and nothing else.
PACKAGES = {
    'os_placement_plugins',
    'senlin_plugins',
    'nova_filters',
    'heat_hints',
}

#: Each command of the shell, asked about files, and what its first row says.
EXAMPLES = ROOT / 'doc' / 'source' / 'examples'
FILTER_FILES = (
    *('--flavors', EXAMPLES / 'flavors.json'),
    *('--aggregates', EXAMPLES / 'aggregates.json'),
)
STACK = ('--servers', EXAMPLES / 'stack-servers.json')
COMMANDS = (
    ('aggregate filter explain --summary', FILTER_FILES, 'Hosts', 2),
    ('aggregate filter lint', FILTER_FILES, 'Code', 'one-host'),
    (
        'aggregate filter impact --replace-in-tree',
        *(FILTER_FILES, 'Effect', 'gains'),
    ),
    ('cluster region plan --scale-out 3 --region ONE', (), 'Change', 3),
    ('stack hints list', STACK, 'Key ID', 'd8fbf8b7'),
)


@ddt.ddt
class ClientAloneTest(unittest.TestCase):
    @ddt.data(*COMMANDS)
    @ddt.unpack
    def test_command_answers_from_files(self, command, files, column, wanted):
        shell = pathlib.Path(sys.prefix, 'bin', 'openstack')
        done = subprocess.run(
            [shell, *command.split(), '-f', 'json', *files],
            capture_output=True,
            text=True,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(wanted, json.loads(done.stdout)[0][column])


class WheelTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        # The wheel that tox has built and installed here.
        self.wheel = zipfile.ZipFile(os.environ['TOX_PACKAGE'])
        self.addCleanup(self.wheel.close)

    def test_wheel_holds_every_module_of_the_packages_and_nothing_else(self):
        tracked = subprocess.run(
            ['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard']
            + sorted(PACKAGES),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        found = {
            name for name in self.wheel.namelist() if '.dist-info/' not in name
        }
        self.assertEqual({n for n in tracked if (ROOT / n).exists()}, found)
        self.assertEqual(PACKAGES, {name.split('/')[0] for name in found})

    def test_services_are_extras_and_never_requirements(self):
        (name,) = (n for n in self.wheel.namelist() if n.endswith('METADATA'))
        metadata = email.message_from_bytes(self.wheel.read(name))
        self.assertEqual(
            {'senlin', 'nova', 'heat', 'client'},
            set(metadata.get_all('Provides-Extra')),
        )
        extras = {
            requirement.partition('>')[0]
            for requirement in metadata.get_all('Requires-Dist')
            if 'extra ==' in requirement
        }
        # Nor does a service need the openstack command.
        self.assertEqual(
            {
                'senlin',
                'nova',
                'openstack-heat',
                'python-openstackclient',
                'osc-lib',
                'openstacksdk',
            },
            {name.partition('<')[0] for name in extras},
        )
