# SPDX-License-Identifier: Apache-2.0

"""The options."""

import unittest

import ddt
from oslo_config import cfg

from nova_filters import conf
from os_placement_plugins import options
from tests import configurations, signing

_MULTIPLIER = 'stack_affinity_weight_multiplier'


class OptionsTest(unittest.TestCase):
    """The group can be registered wherever the scheduler's options are."""

    def test_every_registered_option_is_listed_with_help(self) -> None:
        listed = [opt for _, opts in conf.list_opts() for opt in opts]
        config = cfg.ConfigOpts()
        options.register(config, conf.list_opts())
        self.assertEqual(
            sorted([*config.nova_filters, *config.heat_hints]),
            sorted(opt.dest for opt in listed),
        )
        for opt in listed:
            self.assertIn('Possible values:', opt.help)
            self.assertIn('Related options:', opt.help)


@ddt.ddt
class WrongValuesTest(unittest.TestCase):
    """Values that cannot be used are found before a request meets them."""

    @ddt.data(
        (_MULTIPLIER, 'strong'),
        (_MULTIPLIER, 'nan'),
        (_MULTIPLIER, '-inf'),
        (_MULTIPLIER, ''),
        ('stack_place_weight_multiplier', '-1'),
        ('server_group_weight_multiplier', '-1'),
        ('preference_weight_multiplier', '-1'),
        ('max_skew', '-1'),
    )
    @ddt.unpack
    def test_a_wrong_value_is_found(self, name, value) -> None:
        config = configurations.load(
            conf.list_opts(), f'[nova_filters]\n{name} = {value}\n'
        )
        (wrong,) = options.find_wrong(config, conf.list_opts())
        self.assertIn(f'[nova_filters] Value for option {name} ', wrong)

    def test_right_values_are_left(self) -> None:
        config = configurations.load(
            conf.list_opts(),
            '[nova_filters]\nstack_spread_over = rack, host\n'
            f'{_MULTIPLIER} = 2.5\n'
            f'[heat_hints]\nsigning_key = {signing.KEY}\n',
        )
        self.assertEqual([], options.find_wrong(config, conf.list_opts()))
        self.assertEqual(
            ['rack', 'host'], config.nova_filters.stack_spread_over
        )
        self.assertEqual(2.5, config.nova_filters[_MULTIPLIER])
        self.assertEqual([signing.KEY], config.heat_hints.signing_key)
