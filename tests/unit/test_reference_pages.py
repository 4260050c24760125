# SPDX-License-Identifier: Apache-2.0

"""The pages show configuration that is allowed, and the limits of the code."""

import configparser
import re
import tempfile
import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_conf
from heat_hints.providers import mapping_file
from nova_filters import conf as nova_conf
from nova_filters.matching import report, requirement
from os_placement_plugins import options, signature
from senlin_plugins import conf as senlin_conf
from tests import console, processes

MIB = 1024 * 1024


def flat(name: str) -> str:
    """Return the text of a page in one line."""
    return ' '.join((console.PAGES / name).read_text('utf-8').split())


@ddt.ddt
class ExamplesTest(unittest.TestCase):
    @ddt.data(
        ('senlin.rst', senlin_conf),
        ('nova.rst', nova_conf),
        ('heat.rst', heat_conf),
        ('heat-providers.rst', heat_conf),
    )
    @ddt.unpack
    def test_the_values_of_the_examples_are_allowed(self, page, module):
        examples = [
            block.text
            for block in console.blocks(page, 'ini')
            # No entry points of other packages, and no shortened keys.
            if 'entry_points' not in block.text and '...' not in block.text
        ]
        self.assertTrue(examples)
        for text in examples:
            config = cfg.ConfigOpts()
            options.register(config, module.list_opts())
            with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
                file.write(text)
                file.flush()
                config(['--config-file', file.name], default_config_files=[])
            shown = configparser.ConfigParser(
                strict=False, interpolation=None, default_section='-'
            )
            shown.read_string(text)
            for group, _ in module.list_opts():
                if group.name in shown:
                    # Raises for what is unknown and what is not allowed.
                    for option in shown[group.name]:
                        config[group.name][option]


class LimitsTest(unittest.TestCase):
    def test_those_of_the_filter(self):
        text = flat('nova.rst')
        words = re.search(r'The flag is on for (.*?), regardless', text)
        self.assertEqual(
            requirement._TRUE, {*re.findall(r'``(\w+)``', words[1])}
        )
        self.assertEqual(10, report.EXPLAINED)
        self.assertIn('the ten sets with the most hosts are named', text)
        exempt = re.search(r'by default (.*?)\. An empty list', text)
        self.assertEqual(
            nova_conf.DEFAULTS['exempt_metadata_keys'],
            re.findall(r'``(.+?)``', exempt[1]),
        )

    def test_those_of_the_keys(self):
        length = signature.MIN_KEY_LENGTH
        for page in ('nova.rst', 'heat.rst'):
            self.assertIn(f'at least {length} characters', flat(page))

    def test_that_of_the_mapping_file(self):
        self.assertIn(
            f'The file can be up to {mapping_file.MAX_BYTES / MIB:g} MiB',
            flat('heat.rst'),
        )

    def test_that_of_the_instances_in_one_question(self):
        # Its module needs Nova.
        file = processes.ROOT / 'nova_filters/weighers/stack_rows.py'
        number = re.search(
            r'READ_AT_ONCE: Final = (\w+)', file.read_text('utf-8')
        )
        self.assertIn(
            f'asks for at most {int(number[1]):,} instances',
            flat('nova.rst'),
        )
