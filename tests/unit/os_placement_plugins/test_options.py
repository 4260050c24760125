# SPDX-License-Identifier: Apache-2.0

"""Options that are wrong, and the keys among them."""

import logging
import tempfile
import unittest

import ddt
from oslo_config import cfg

from os_placement_plugins import options
from tests import configurations

KEY = 'a key that nobody else may see: 7'
OPTIONS = [
    (
        cfg.OptGroup('plug_in'),
        [
            cfg.IntOpt('size', default=1, min=0),
            cfg.ListOpt('names', default=[]),
            cfg.StrOpt('file'),
            cfg.Opt('keys', type=options.SigningKeys(), secret=True),
        ],
    )
]


def load(*lines: str) -> cfg.ConfigOpts:
    """Return what a file with these lines holds."""
    return configurations.load(OPTIONS, '\n'.join(['[plug_in]', *lines]))


@ddt.ddt
class WrongValuesTest(unittest.TestCase):
    @ddt.data(
        ('size = many', "size .*'many'"),
        ('size = -1', 'size .*greater than or equal to 0'),
        ('size =', 'size .*is empty'),
        ('names = $nowhere', 'names .*nowhere'),
        ('size = $size', 'size .*recursion'),
        ('keys = secret', 'keys .*number 1 has fewer than 32 characters'),
        ('keys = $secret_of_32_characters_and_more', 'keys .*cannot be read'),
    )
    @ddt.unpack
    def test_a_wrong_value_is_told_and_stops(self, line, pattern):
        config = load(line)
        (wrong,) = options.find_wrong(config, OPTIONS)
        with self.assertRaises(cfg.ConfigFileValueError) as caught:
            options.check(config, OPTIONS)
        for text in (wrong, str(caught.exception)):
            self.assertRegex(text, rf'^\[plug_in\] .* option {pattern}')
            self.assertNotIn('secret', text)
            self.assertNotIn('LocationInfo', text)

    @ddt.data('', 'size = 0', f'keys = {KEY}, {KEY},', 'keys =', 'file =')
    def test_right_values_stay(self, line):
        config = load(line)
        self.assertEqual([], options.find_wrong(config, OPTIONS))
        options.check(config, OPTIONS)

    def test_all_wrong_values_are_told_at_once(self):
        with self.assertRaisesRegex(ValueError, 'size .*; .*names'):
            options.check(load('size = many', 'names = $no'), OPTIONS)

    def test_a_dump_of_all_options_shows_no_key(self):
        config = load(f'keys = {KEY},{KEY}')
        self.assertEqual([KEY, KEY], config.plug_in['keys'])
        with self.assertLogs('dump', logging.DEBUG) as logs:
            config.log_opt_values(logging.getLogger('dump'), logging.DEBUG)
        text = '\n'.join(logs.output)
        self.assertRegex(text, r'plug_in\.keys += \*\*\*\*')
        self.assertNotIn(KEY, text)


#: Options of the service that the plug-in needs.
OF_SERVICE = {'scheduler': {'chosen'}}


@ddt.ddt
class UnreadTest(unittest.TestCase):
    def find(self, text: str) -> tuple[list[str], list[str]]:
        """Return what is told of a file of a service."""
        with tempfile.NamedTemporaryFile('w') as file:
            print(text, file=file, flush=True)
            config = cfg.ConfigOpts()
            options.register(config, OPTIONS)
            config.register_opts(
                [cfg.ListOpt('chosen', default=[]), cfg.IntOpt('size')],
                group='scheduler',
            )
            config(['--config-file', file.name], default_config_dirs=[])
            return options.find_unread(config, OPTIONS, OF_SERVICE)

    @ddt.data(
        ('plug_in', 'sizes', ['[plug_in] sizes (the nearest is size)']),
        ('plug_in', 'weight', ['[plug_in] weight']),
        ('plugin', 'x', ['section [plugin] (the nearest is plug_in)']),
        ('schedule', 'x', ['section [schedule] (the nearest is scheduler)']),
        (
            'scheduler',
            'names',
            ['[scheduler] names (it belongs to [plug_in])'],
        ),
        (
            'scheduler',
            'chosens',
            ['[scheduler] chosens (the nearest is chosen)'],
        ),
        ('DEFAULT', 'names', ['[DEFAULT] names (it belongs to [plug_in])']),
        # The service's own, and what other parts read.
        ('scheduler', 'size', []),
        ('scheduler', 'weight', []),
        ('DEFAULT', 'x', []),
        ('plug', 'x', []),
        ('plug_in_of_a_vendor', 'size', []),
        ('vendor', 'names', []),
        # As oslo.config reads sections.
        ('Plug_In', 'size', []),
    )
    @ddt.unpack
    def test_what_nothing_reads_is_told(self, section, name, unread):
        problems = self.find(f'[{section}]\n{name} = 1')
        self.assertEqual((unread, []), problems)

    @ddt.data(
        ('plug_in', 'names', 'write all values into one line, with commas'),
        ('plug_in', 'size', 'keep one line'),
        ('scheduler', 'chosen', 'write all values into one line, with commas'),
    )
    @ddt.unpack
    def test_a_second_line_is_told(self, section, name, remedy):
        unread, (text,) = self.find(f'[{section}]\n{name} = 1\n{name} = 2')
        self.assertEqual([], unread)
        self.assertTrue(text.startswith(f'[{section}] {name} has 2 lines'))
        self.assertIn(remedy, text)


class ServiceValuesTest(unittest.TestCase):
    def test_a_reference_to_nothing_is_told_with_the_option(self):
        config = cfg.ConfigOpts()
        config.register_opt(cfg.ListOpt('chosen'), group='scheduler')
        config.register_opt(cfg.StrOpt('home'))
        names = {'scheduler': {'chosen'}, 'DEFAULT': {'home'}}
        for chosen, home, pattern in (
            ('a,$foo', 'here', r'^\[scheduler\] .* option chosen .*foo'),
            ('a', '$foo', r'^\[DEFAULT\] .* option home .*foo'),
        ):
            config.set_override('chosen', chosen, group='scheduler')
            config.set_override('home', home)
            (text,) = options.find_wrong(config, [], names)
            self.assertRegex(text, pattern)
        config.set_override('home', 'here')
        self.assertEqual([], options.find_wrong(config, [], names))


class RegisterTest(unittest.TestCase):
    def test_registering_twice_keeps_an_override_in_its_configuration(self):
        config, other = load(), load()
        config.set_override('size', 7, group='plug_in')
        options.register(config, OPTIONS)
        sizes = config.plug_in['size'], other.plug_in['size']
        self.assertEqual((7, 1), sizes)
