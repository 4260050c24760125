# SPDX-License-Identifier: Apache-2.0

"""The wheel beside the openstack shell, where no service is installed."""

import pathlib
import sys
import unittest

import ddt
import runs

#: Each command of the shell, asked about files, and what its verdict says.
EXAMPLES = pathlib.Path(__file__).parents[2] / 'doc/source/examples'
HOSTS = (
    '--aggregates',
    EXAMPLES / 'aggregates.json',
    '--hosts',
    EXAMPLES / 'hosts.json',
)
FLAVORS = ('--flavors', EXAMPLES / 'flavors.json', *HOSTS)
SERVERS = ('--servers', EXAMPLES / 'servers.json', *HOSTS)
POLICY = ('--spec', EXAMPLES / 'policy.yaml')
COMMANDS = (
    ('aggregate filter explain m1.small', FLAVORS, '4 of 6 hosts take'),
    ('aggregate filter lint', FLAVORS, 'Nothing found in 4 flavors'),
    ('aggregate filter audit', SERVERS, '0 of 3 running servers'),
    ('cluster region plan --scale-out 3', POLICY, '3 nodes are added'),
)


@ddt.ddt
class ClientAloneTest(unittest.TestCase):
    @ddt.data(*COMMANDS)
    @ddt.unpack
    def test_command_answers_from_files(self, command, files, words):
        shell = pathlib.Path(sys.prefix, 'bin', 'openstack')
        done = runs.run(shell, *command.split(), *files)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue(done.stdout.startswith(words), done.stdout)
