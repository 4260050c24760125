# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_hints_conf
from os_placement_plugins import options, stack_hints
from tests import configurations


def load(*lines: str) -> cfg.ConfigOpts:
    """Return a configuration read from a file, as that of heat-engine."""
    return configurations.load(
        heat_hints_conf.list_opts(), '\n'.join(['[heat_hints]', *lines])
    )


@ddt.ddt
class TestOptions(unittest.TestCase):
    def test_the_defaults_are_those_of_the_design(self):
        group = load().heat_hints
        self.assertEqual(
            {
                'enabled': False,
                'hints': list(stack_hints.NAMES),
                'resource_types': ['OS::Nova::Server', 'AWS::EC2::Instance'],
                'scope': 'all',
                'path_format': 'list',
                'user_hints': 'override',
                'hint_precedence': 'template',
                'on_error': 'ignore',
                'providers': [],
                'provider_timeout': 10,
                'allowed_nova_hints': [],
                'mapping_file': None,
                'group_places': [],
                'signing_key': [],
            },
            dict(group),
        )

    @ddt.data(
        ('scope', 'some'),
        ('hints', 'heat_stack_nmae'),
        ('mapping_file', '$no_such_option'),
        ('enabled', 'perhaps'),
        ('provider_timeout', '0'),
        ('allowed_nova_hints', 'tier'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        (wrong,) = options.find_wrong(
            load(f'{name} = {value}'), heat_hints_conf.list_opts()
        )
        self.assertIn(f'option {name} ', wrong)
