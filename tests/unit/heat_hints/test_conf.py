# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from heat_hints import conf as heat_hints_conf
from os_placement_plugins import options
from tests.unit.heat_hints import requests


@ddt.ddt
class TestOptions(unittest.TestCase):
    @ddt.data(
        ('on_error', 'stop'),
        ('provider_timeout', '0'),
    )
    @ddt.unpack
    def test_other_values_are_refused(self, name, value):
        conf = requests.configuration(f'{name} = {value}')
        (wrong,) = options.find_wrong(conf, heat_hints_conf.list_opts())
        self.assertIn(f'option {name} ', wrong)

    def test_no_hints_are_sent_by_default(self):
        self.assertFalse(requests.configuration().heat_hints.enabled)
