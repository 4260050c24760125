# SPDX-License-Identifier: Apache-2.0

"""The wheel beside the openstack shell, where no service is installed."""

import json
import pathlib
import subprocess
import sys
import unittest

import ddt

#: Seconds to wait for a process. Only one that hangs needs so long.
LIMIT = 600

#: Each command of the shell, asked about files, and what its first row says.
EXAMPLES = pathlib.Path(__file__).parents[2] / 'doc/source/examples'
AGGREGATES = ('--aggregates', EXAMPLES / 'aggregates.json')
FLAVORS = ('--flavors', EXAMPLES / 'flavors.json', *AGGREGATES)
SERVERS = ('--servers', EXAMPLES / 'servers.json', *AGGREGATES)
COMMANDS = (
    ('aggregate filter explain --summary', FLAVORS, 'Hosts', 2),
    ('aggregate filter lint', FLAVORS, 'Code', 'one-host'),
    ('aggregate filter audit', SERVERS, 'Problem', 'unknown'),
    ('cluster region plan --scale-out 3 --region ONE', (), 'Change', 3),
)


@ddt.ddt
class ClientAloneTest(unittest.TestCase):
    @ddt.data(*COMMANDS)
    @ddt.unpack
    def test_command_answers_from_files(self, command, files, column, cell):
        shell = pathlib.Path(sys.prefix, 'bin', 'openstack')
        done = subprocess.run(
            [shell, *command.split(), '-f', 'json', *files],
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(cell, json.loads(done.stdout)[0][column])
