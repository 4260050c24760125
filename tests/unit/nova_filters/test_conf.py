# SPDX-License-Identifier: Apache-2.0

"""The options."""

import logging
import pathlib
import tempfile
import unittest

import ddt
from oslo_config import cfg

from nova_filters import conf, stack_hints

_MULTIPLIER = 'stack_affinity_weight_multiplier'


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
            sorted([*config.nova_filters, *config.heat_hints]),
            sorted(opt.dest for opt in listed),
        )
        for opt in listed:
            self.assertIn('Possible values:', opt.help)
            self.assertIn('Related options:', opt.help)


def load(lines: str) -> cfg.ConfigOpts:
    """Return what a nova.conf with these lines holds."""
    config = cfg.ConfigOpts()
    conf.register_opts(config)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'nova.conf'
        path.write_text(lines)
        config(['--config-file', str(path)], default_config_files=[])
    return config


@ddt.ddt
class WrongValuesTest(unittest.TestCase):
    """Values that cannot be used do not end nova-scheduler."""

    @ddt.data(
        ('stack_map_size = plenty', 'stack_map_size', 65536),
        ('stack_map_size = 0', 'stack_map_size', 65536),
        ('stack_map_size = $nothing', 'stack_map_size', 65536),
        (f'{_MULTIPLIER} = strong', _MULTIPLIER, -1.0),
        (f'{_MULTIPLIER} = nan', _MULTIPLIER, -1.0),
        (f'{_MULTIPLIER} = inf', _MULTIPLIER, -1.0),
    )
    @ddt.unpack
    def test_the_default_stands_in(self, line, name, default) -> None:
        config = load(f'[nova_filters]\n{line}\n')
        (wrong,) = conf.reset_wrong_values(config)
        self.assertIn(f'Option {name} in [nova_filters] cannot be', wrong)
        self.assertIn(str(default), wrong)
        self.assertEqual(default, config.nova_filters[name])
        config.log_opt_values(logging.getLogger('dump'), logging.DEBUG)

    def test_right_values_are_left(self) -> None:
        config = load(
            '[nova_filters]\nstack_map_size = 7\n'
            f'{_MULTIPLIER} = 2.5\n[heat_hints]\nsigning_key = a\n'
        )
        self.assertEqual([], conf.reset_wrong_values(config))
        self.assertEqual(7, config.nova_filters.stack_map_size)
        self.assertEqual(2.5, config.nova_filters[_MULTIPLIER])
        self.assertEqual(['a'], config.heat_hints.signing_key)

    def test_keys_that_cannot_be_read_are_no_usable_keys(self) -> None:
        config = load('[heat_hints]\nsigning_key = secret$secret,x\n')
        self.assertEqual([], conf.reset_wrong_values(config))
        given = config.heat_hints.signing_key
        self.assertNotIn('secret', ''.join(given))
        keys, short = stack_hints.read_keys(given)
        self.assertEqual((0, (1,)), (len(keys), short))


class SigningKeyTest(unittest.TestCase):
    """The keys, read from a file and shown to nobody."""

    def test_the_line_of_heat_conf_is_read(self) -> None:
        config = load('[heat_hints]\nsigning_key = old key, new key,\n')
        self.assertEqual(['old key', 'new key'], config.heat_hints.signing_key)

    def test_there_is_no_key_by_default(self) -> None:
        self.assertEqual([], load('').heat_hints.signing_key)

    def test_a_dump_of_all_options_shows_no_key(self) -> None:
        config = load('[heat_hints]\nsigning_key = secret1,secret2\n')
        with self.assertLogs('dump', logging.DEBUG) as logs:
            config.log_opt_values(logging.getLogger('dump'), logging.DEBUG)
        text = '\n'.join(logs.output)
        self.assertRegex(text, r'heat_hints\.signing_key += \*\*\*\*')
        self.assertNotIn('secret', text)
