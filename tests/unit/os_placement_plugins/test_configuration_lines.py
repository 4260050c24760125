# SPDX-License-Identifier: Apache-2.0

"""Lines of files that nothing reads."""

import tempfile
import unittest

import ddt
from oslo_config import cfg

from os_placement_plugins import configuration_lines, options

OF_PACKAGE = [
    (
        cfg.OptGroup('plug_in'),
        [cfg.IntOpt('size', default=1), cfg.ListOpt('names', default=[])],
    )
]
OF_SERVICE = [
    (
        cfg.OptGroup('scheduler'),
        [cfg.ListOpt('chosen'), cfg.MultiStrOpt('available_filters')],
    )
]


@ddt.ddt
class UnreadTest(unittest.TestCase):
    def find(self, text: str) -> tuple[list[str], list[str]]:
        """Return what is told of a file of a service."""
        with tempfile.NamedTemporaryFile('w') as file:
            print(text, file=file, flush=True)
            config = cfg.ConfigOpts()
            options.register(config, [*OF_PACKAGE, *OF_SERVICE])
            config.register_opt(cfg.IntOpt('size'), group='scheduler')
            config(['--config-file', file.name], default_config_dirs=[])
            return configuration_lines.find_unread(
                config, OF_PACKAGE, OF_SERVICE
            )

    @ddt.data(
        ('plug_in', 'sizes', '[plug_in] sizes (the nearest is size)'),
        ('plug_in', 'weight', '[plug_in] weight'),
        ('plugin', 'x', 'section [plugin] (the nearest is plug_in)'),
        ('schedule', 'x', 'section [schedule] (the nearest is scheduler)'),
        ('scheduler', 'names', '[scheduler] names (it belongs to [plug_in])'),
        ('scheduler', 'chose', '[scheduler] chose (the nearest is chosen)'),
        ('DEFAULT', 'names', '[DEFAULT] names (it belongs to [plug_in])'),
        # The service's own, and what other parts read.
        ('scheduler', 'size'),
        ('scheduler', 'weight'),
        ('DEFAULT', 'x'),
        ('plug', 'x'),
        ('plug_in_of_a_vendor', 'size'),
        ('vendor', 'names'),
        # As oslo.config reads sections.
        ('Plug_In', 'size'),
    )
    @ddt.unpack
    def test_only_what_nothing_reads_is_told(self, section, name, *told):
        problems = self.find(f'[{section}]\n{name} = 1')
        self.assertEqual(([*told], []), problems)

    def test_a_second_line_is_told_if_only_one_counts(self):
        for section, name, texts in (
            ('plug_in', 'names', ['[plug_in] names has 2 lines']),
            ('scheduler', 'chosen', ['[scheduler] chosen has 2 lines']),
            ('scheduler', 'available_filters', []),
        ):
            problems = self.find(f'[{section}]\n{name} = 1\n{name} = 2')
            self.assertEqual(([], texts), problems)
