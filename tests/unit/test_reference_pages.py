# SPDX-License-Identifier: Apache-2.0

"""The pages show configuration that is allowed."""

import configparser
import unittest

import ddt

from heat_hints import conf as heat_conf
from nova_filters import conf as nova_conf
from senlin_plugins import conf as senlin_conf
from tests import configurations, console, signing


@ddt.ddt
class ExamplesTest(unittest.TestCase):
    @ddt.data(
        ('senlin.rst', senlin_conf),
        ('nova.rst', nova_conf),
        ('nova-spread.rst', nova_conf),
        ('preferences.rst', nova_conf),
        ('soft-anti-affinity.rst', nova_conf),
        ('quickstart-stack.rst', heat_conf),
        ('heat.rst', heat_conf),
        ('heat-providers.rst', heat_conf),
    )
    @ddt.unpack
    def test_the_values_of_the_examples_are_allowed(self, page, module):
        examples = [
            block.text.replace('REPLACE-ME', signing.KEY)
            for block in console.blocks(page, 'ini')
            # No entry points of other packages, and no shortened keys.
            if 'entry_points' not in block.text and '...' not in block.text
        ]
        self.assertTrue(examples)
        for text in examples:
            config = configurations.load(module.list_opts(), text)
            shown = configparser.ConfigParser(
                strict=False, interpolation=None, default_section='-'
            )
            shown.read_string(text)
            for group, _ in module.list_opts():
                if group.name in shown:
                    # Raises for what is unknown and what is not allowed.
                    for option in shown[group.name]:
                        config[group.name][option]
