# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from heat_hints import conf as heat_hints_conf
from os_placement_plugins import options
from tests.unit.heat_hints import requests


@ddt.ddt
class TestOptions(unittest.TestCase):
    @ddt.data(
        ('scope', 'some'),
        ('hints', 'heat_stack_nmae'),
        ('provider_timeout', '0'),
        ('allowed_nova_hints', 'tier'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        conf = requests.configuration(f'{name} = {value}')
        (wrong,) = options.find_wrong(conf, heat_hints_conf.list_opts())
        self.assertIn(f'option {name} ', wrong)
