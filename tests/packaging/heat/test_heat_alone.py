# SPDX-License-Identifier: Apache-2.0

"""The wheel in an environment where Heat is the only service."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import ddt

#: Loads resource types as heat-engine does when it starts, in a process of
#: its own, because Heat does it once. It prints the module of the method
#: that gives a server its hints, and those of the server's classes.
LOADER = """
import heat.cmd.engine
from heat.engine import resources
from oslo_config import cfg

cfg.CONF([], project='heat', default_config_files=['heat.conf'])
resources.initialise()
server = resources.global_env().get_class('OS::Nova::Server')
print(server._scheduler_hints.__module__)
print(*(cls.__module__ for cls in server.__mro__))
"""


@ddt.ddt
class HeatAloneTest(unittest.TestCase):
    def run_beside(self, text, *command):
        """Run a program beside a heat.conf; return its code and output."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'heat.conf').write_text(text)
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True
            )
        return done.returncode, done.stdout

    @ddt.data(('true', 'heat_hints'), ('false', 'heat'))
    @ddt.unpack
    def test_heat_engine_loads_the_hook_when_enabled(self, enabled, giver):
        code, output = self.run_beside(
            f'[heat_hints]\nenabled = {enabled}\n',
            *(sys.executable, '-W', 'ignore', '-c', LOADER),
        )
        self.assertEqual(0, code)
        found, modules = output.splitlines()
        self.assertEqual(giver, found.split('.')[0])
        # It is Heat's own class all the same, or a subclass of it.
        self.assertIn('heat.engine.resources.openstack.nova.server', modules)

    def test_the_upgrade_check_is_content(self):
        code, output = self.run_beside(
            '[heat_hints]\nenabled = true\n',
            pathlib.Path(sys.prefix, 'bin', 'heat-hints-status'),
            *('--config-file', 'heat.conf', 'upgrade', 'check', '--json'),
        )
        rows = json.loads(output)['checks']
        self.assertEqual((0, 0), (code, max(row['result'] for row in rows)))
