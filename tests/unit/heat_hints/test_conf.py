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

import re
import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_hints_conf
from heat_hints import hints


def load(**options: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    heat_hints_conf.register_opts(conf)
    conf([], project='heat', default_config_files=[])
    for name, value in options.items():
        conf.set_override(name, value, group='heat_hints')
    return conf


@ddt.ddt
class TestOptions(unittest.TestCase):
    def test_the_defaults_are_those_of_the_design(self):
        group = load().heat_hints
        self.assertEqual(
            {
                'enabled': False,
                'hints': list(hints.NAMES),
                'resource_types': ['OS::Nova::Server', 'AWS::EC2::Instance'],
                'scope': 'all',
                'path_format': 'list',
                'user_hints': 'override',
                'on_error': 'ignore',
                'providers': [],
                'mapping_file': None,
                'cache_size': 4096,
            },
            dict(group),
        )

    def test_registering_twice_changes_nothing(self):
        conf = load()
        heat_hints_conf.register_opts(conf)
        self.assertFalse(conf.heat_hints.enabled)

    @ddt.data(
        ('scope', hints.SCOPES),
        ('path_format', hints.PATH_FORMATS),
        ('user_hints', hints.USER_MODES),
    )
    @ddt.unpack
    def test_the_choices_are_those_that_the_rules_know(self, name, choices):
        (option,) = (o for o in heat_hints_conf.OPTS if o.dest == name)
        self.assertEqual(list(choices), list(option.type.choices))

    @ddt.data(
        ('scope', 'some'),
        ('hints', 'heat_stack_nmae'),
        ('cache_size', '-1'),
        ('enabled', 'perhaps'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        with self.assertRaises(ValueError):
            load(**{name: value})

    def test_every_option_has_help_and_is_listed(self):
        ((group, options),) = heat_hints_conf.list_opts()
        self.assertEqual('heat_hints', group.name)
        self.assertEqual(list(heat_hints_conf.OPTS), list(options))
        self.assertEqual(
            [], [o.name for o in options if not re.search(r'\w\.\s', o.help)]
        )
