# SPDX-License-Identifier: Apache-2.0

import unittest

import ddt

from nova_filters import conf
from os_placement_plugins import options
from tests import configurations

_MULTIPLIER = 'stack_affinity_weight_multiplier'
#: Wrong values, at least one of each option.
WRONG = (
    ('stack_spread_over', ''),
    ('exempt_metadata_keys', 'a,aggregate_instance_extra_specs:b,c'),
    ('exempt_metadata_keys', '"a",b'),
    ('exempt_metadata_keys', 'rack zone'),
    ('exempt_metadata_keys', 'rack;zone,a'),
    (_MULTIPLIER, 'strong'),
    (_MULTIPLIER, 'nan'),
    (_MULTIPLIER, '-inf'),
    (_MULTIPLIER, ''),
    ('server_group_weight_multiplier', '-1'),
    ('preference_weight_multiplier', '-1'),
)


@ddt.ddt
class OptionsTest(unittest.TestCase):
    @ddt.data(*WRONG)
    @ddt.unpack
    def test_a_wrong_value_is_found(self, name, value) -> None:
        text = f'[nova_filters]\n{name} = {value}\n'
        config = configurations.load(conf.list_opts(), text)
        (wrong,) = options.find_wrong(config, conf.list_opts())
        self.assertIn(f'[nova_filters] Value for option {name} ', wrong)

    def test_each_option_has_its_values_and_a_wrong_value(self) -> None:
        for opt in conf.OPTS:
            self.assertIn('\nPossible values:\n\n* ', opt.help, opt.name)
            self.assertIn(opt.name, [name for name, _ in WRONG])

    def test_nothing_is_switched_on_by_default(self) -> None:
        for name, default in conf.DEFAULTS.items():
            if name.endswith('_multiplier'):
                self.assertEqual(0, default, name)
