# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from heat_hints import conf as heat_hints_conf
from os_placement_plugins import options, stack_hints
from tests.unit.heat_hints import requests


@ddt.ddt
class TestOptions(unittest.TestCase):
    def test_the_defaults_are_those_of_the_design(self):
        group = requests.configuration().heat_hints
        self.assertEqual(
            {
                'enabled': False,
                'hints': list(stack_hints.NAMES),
                'resource_types': ['OS::Nova::Server', 'AWS::EC2::Instance'],
                'scope': 'all',
                'path_format': 'list',
                'user_hints': 'override',
                'on_error': 'ignore',
                'providers': [],
                'provider_timeout': 10,
                'allowed_nova_hints': [],
                'signing_key': [],
            },
            dict(group),
        )

    @ddt.data(
        ('scope', 'some'),
        ('hints', 'heat_stack_nmae'),
        ('enabled', 'perhaps'),
        ('provider_timeout', '0'),
        ('allowed_nova_hints', 'tier'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        conf = requests.configuration(f'{name} = {value}')
        (wrong,) = options.find_wrong(conf, heat_hints_conf.list_opts())
        self.assertIn(f'option {name} ', wrong)
