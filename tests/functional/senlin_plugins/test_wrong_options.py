# SPDX-License-Identifier: Apache-2.0

"""Wrong values in senlin.conf: senlin-conductor does not start."""

import tempfile
import unittest

from tests import processes

#: The programs' own start, up to their plug-ins, which asks no database.
#: senlin-engine loads them for its first action.
CONDUCTOR = """
import sys
from senlin.cmd import conductor
sys.argv[:] = ['senlin-conductor', '--config-file', sys.argv[1]]
conductor.main()
"""
FIRST_ACTION = """
import sys
import senlin.cmd
import eventlet
from oslo_config import cfg
from oslo_service import service
from senlin.common import config
from senlin.engine import environment

class Engine(service.Service):
    def start(self):
        super().start()
        self.tg.add_thread(environment.global_env)

config.parse_args(
    ['senlin-engine', '--config-file', sys.argv[1]], 'senlin-engine'
)
launcher = service.launch(cfg.CONF, Engine())
sys.exit(launcher.wait())
"""


class WrongOptionTest(unittest.TestCase):
    def test_the_service_stops_and_names_the_option(self):
        for name, value, program in (
            ('region_timeout', 'soon', CONDUCTOR),
            ('check_catalog', 'perhaps', FIRST_ACTION),
        ):
            with tempfile.NamedTemporaryFile('w', suffix='.conf') as conf:
                conf.write(
                    '[DEFAULT]\ntransport_url = fake://\n'
                    f'[senlin_plugins]\n{name} = {value}\n'
                )
                conf.flush()
                with self.assertRaises(AssertionError) as caught:
                    processes.run_python(program, conf.name)
            text = str(caught.exception)
            self.assertIn(f'[senlin_plugins] Value for option {name} ', text)
            self.assertIn(value, text)
