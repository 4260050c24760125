# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Wrong values in nova.conf: the scheduler starts and says what is wrong."""

import pathlib
import tempfile
import unittest

from tests import processes

#: nova.conf is read once per process. Prints what the weigher works with.
PROGRAM = """
import sys
from nova import config, objects
from nova.scheduler import host_manager, weights
from oslo_log import log

config.parse_args(['nova-scheduler'], default_config_files=[sys.argv[1]])
log.setup(config.CONF, 'nova')
objects.register_all()
handler = weights.HostWeightHandler()
classes = handler.get_matching_classes(['nova_filters.all_weighers'])
(weigher,) = (cls() for cls in classes)
host = host_manager.HostState('host', 'node', None)
print('multiplier', weigher.weight_multiplier(host))
print('weights', weigher.weigh_objects([weights.WeighedHost(host, 0.0)], {}))
"""

NOVA_CONF = """
[DEFAULT]
log_file = {log}
[nova_filters]
stack_map_size = plenty
stack_affinity_weight_multiplier = strong
"""


class WrongOptionTest(unittest.TestCase):
    def test_the_weigher_works_with_the_defaults_and_one_error_each(self):
        with tempfile.TemporaryDirectory() as folder:
            conf = pathlib.Path(folder) / 'nova.conf'
            log = pathlib.Path(folder) / 'nova.log'
            conf.write_text(NOVA_CONF.format(log=log))
            lines = processes.run_python(PROGRAM, str(conf))
            errors = [
                line
                for line in log.read_text().splitlines()
                if 'ERROR' in line
            ]
        self.assertEqual(['multiplier -1.0', 'weights [0.0]'], lines)
        self.assertEqual(2, len(errors), errors)
        self.assertRegex(
            errors[0], r'stack_map_size in \[nova_filters\].*plenty.*65536'
        )
        self.assertRegex(
            errors[1], r'weight_multiplier in \[nova_filters\].*strong.*-1\.0'
        )
