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

"""The options, and what importing the package loads."""

import subprocess
import sys
import unittest

from oslo_config import cfg

from nova_filters import conf

_PURE = (
    'nova_filters',
    'nova_filters.conf',
    'nova_filters.requirement',
    'nova_filters.matching',
    'nova_filters.batch',
    'nova_filters.stack_hints',
    'nova_filters.stack_map',
)


class OptionsTest(unittest.TestCase):
    """The group can be registered wherever the scheduler's options are."""

    def test_registering_twice_is_fine(self) -> None:
        config = cfg.ConfigOpts()
        conf.register_opts(config)
        conf.register_opts(config)
        config([])
        self.assertIn(
            'availability_zone', config.nova_filters.exempt_metadata_keys
        )

    def test_every_registered_option_is_listed_with_help(self) -> None:
        listed = [opt for _, opts in conf.list_opts() for opt in opts]
        config = cfg.ConfigOpts()
        conf.register_opts(config)
        self.assertEqual(
            sorted(config.nova_filters), sorted(opt.dest for opt in listed)
        )
        for opt in listed:
            self.assertIn('Possible values:', opt.help)
            self.assertIn('Related options:', opt.help)


class LayeringTest(unittest.TestCase):
    """The modules that decide know nothing of the services."""

    def test_pure_modules_load_no_service(self) -> None:
        program = (
            f'import sys, {", ".join(_PURE)}\n'
            'print([name for name in ("nova", "heat", "senlin", '
            '"heat_hints", "senlin_plugins") if name in sys.modules])'
        )
        done = subprocess.run(
            [sys.executable, '-c', program],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(('[]\n', ''), (done.stdout, done.stderr))
