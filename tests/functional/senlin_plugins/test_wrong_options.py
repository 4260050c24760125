# SPDX-License-Identifier: Apache-2.0

"""Wrong values in senlin.conf: senlin-conductor does not start."""

import tempfile
import unittest

from tests import processes

CONDUCTOR = """
import sys
from senlin.cmd import conductor
sys.argv[:] = ['senlin-conductor', '--config-file', sys.argv[1]]
conductor.main()
"""


class WrongOptionTest(unittest.TestCase):
    def test_the_service_stops_and_names_the_option(self):
        for name, value in (
            ('region_timeout', 'soon'),
            ('check_catalog', 'perhaps'),
        ):
            with tempfile.NamedTemporaryFile('w', suffix='.conf') as conf:
                conf.write(
                    '[DEFAULT]\ntransport_url = fake://\n'
                    f'[senlin_plugins]\n{name} = {value}\n'
                )
                conf.flush()
                with self.assertRaises(AssertionError) as caught:
                    processes.run_python(CONDUCTOR, conf.name)
            text = str(caught.exception)
            self.assertIn(f'[senlin_plugins] Value for option {name} ', text)
            self.assertIn(value, text)
