# SPDX-License-Identifier: Apache-2.0

"""Options that are wrong, and the keys among them."""

import pathlib
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
        ('keys = ,', 'keys .*it contains no key'),
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

    def test_there_may_be_several_keys(self):
        config = load(f'keys = {KEY},{KEY}')
        self.assertEqual([KEY, KEY], config.plug_in['keys'])


class LinesTest(unittest.TestCase):
    """The keys on several lines, of which oslo.config takes the last."""

    def find_wrong(self, *texts):
        """Return what is wrong with files of which the last one counts."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        files = []
        for number, text in enumerate(texts):
            file = pathlib.Path(folder, f'{number}.conf')
            file.write_text(f'[plug_in]\n{text}\n')
            files.append(str(file))
        config = cfg.ConfigOpts()
        options.register(config, OPTIONS)
        config([], default_config_files=files, default_config_dirs=[])
        return options.find_wrong(config, OPTIONS)

    def test_one_file_sets_the_keys_once(self):
        line = f'keys = {KEY}'
        for between in '', 'size = 7\n[plug_in]\n':
            (wrong,) = self.find_wrong('', f'{line}\n{between}{line}')
            self.assertRegex(wrong, r'keys .*1\.conf has it on 2 lines')
            self.assertNotIn(KEY, wrong)

    def test_another_file_and_another_option_may_repeat_themselves(self):
        line = f'keys = {KEY},\n  {KEY}'
        sizes = 'size = 1\nsize = 2'
        self.assertEqual([], self.find_wrong(line, f'{line}\n{sizes}'))


class RegisterTest(unittest.TestCase):
    def test_registering_twice_keeps_an_override_in_its_configuration(self):
        config, other = load(), load()
        config.set_override('size', 7, group='plug_in')
        options.register(config, OPTIONS)
        sizes = config.plug_in['size'], other.plug_in['size']
        self.assertEqual((7, 1), sizes)
