# SPDX-License-Identifier: Apache-2.0

"""The wheel in an environment where Senlin is the only service."""

# The import patches the process for eventlet, so it stands first.
import senlin.cmd  # noqa: F401  isort: skip

import json
import pathlib
import subprocess
import sys
import unittest

from senlin.common import config
from senlin.engine import environment


class SenlinAloneTest(unittest.TestCase):
    def test_senlin_engine_finds_policies_and_profiles_beside_its_own(self):
        config.parse_args(['senlin-engine'], 'senlin-engine', [])
        environment.initialize()
        loaded = environment.global_env()
        for package, get, names in (
            (
                'senlin_plugins',
                loaded.get_policy,
                (
                    'senlin_plugins.policy.region_placement-1.0',
                    'senlin_plugins.policy.deletion-1.0',
                    'senlin_plugins.policy.deletion-1.1',
                ),
            ),
            (
                'senlin_plugins',
                loaded.get_profile,
                (
                    'senlin_plugins.nova.server-1.0',
                    'senlin_plugins.heat.stack-1.0',
                ),
            ),
            ('senlin', loaded.get_policy, ('senlin.policy.deletion-1.1',)),
            ('senlin', loaded.get_profile, ('os.nova.server-1.0',)),
        ):
            for name in names:
                module = get(name).__module__
                self.assertEqual(package, module.split('.')[0], name)

    def test_the_upgrade_check_warns_of_nothing_worse_than_defaults(self):
        script = pathlib.Path(sys.prefix, 'bin', 'senlin-plugins-status')
        done = subprocess.run(
            [script, '--config-file', '/dev/null', 'upgrade', 'check']
            + ['--json'],
            capture_output=True,
            text=True,
        )
        rows = json.loads(done.stdout)['checks']
        self.assertEqual(done.returncode, max(r['result'] for r in rows))
        self.assertIn(done.returncode, (0, 1), done.stdout)
