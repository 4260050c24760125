# SPDX-License-Identifier: Apache-2.0

"""The pages show configuration that is allowed."""

import configparser
import tempfile
import unittest

import ddt
from oslo_config import cfg

from heat_hints import conf as heat_conf
from nova_filters import conf as nova_conf
from os_placement_plugins import options
from senlin_plugins import conf as senlin_conf
from tests import console


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
