# SPDX-License-Identifier: Apache-2.0

"""Wrong values in senlin.conf: senlin-conductor does not start."""

import pathlib
import tempfile
import unittest

import ddt

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


CASES = (
    ('enabled_policies', 'nope', CONDUCTOR),
    ('enabled_policies', '$nowhere', CONDUCTOR),
    ('unaware_profile', 'maybe', CONDUCTOR),
    ('check_catalog', 'perhaps', FIRST_ACTION),
)


@ddt.ddt
class WrongOptionTest(unittest.TestCase):
    @ddt.data(*range(len(CASES)))
    def test_the_service_stops_and_names_the_option(self, number):
        name, value, program = CASES[number]
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'senlin.conf'
            conf.write_text(
                '[DEFAULT]\ntransport_url = fake://\n'
                f'[senlin_plugins]\n{name} = {value}\n'
            )
            with self.assertRaises(AssertionError) as caught:
                processes.run_python(program, str(conf))
        text = str(caught.exception)
        self.assertIn(f'[senlin_plugins] Value for option {name} ', text)
        self.assertIn(value.lstrip('$'), text)
