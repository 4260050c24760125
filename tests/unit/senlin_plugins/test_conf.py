# SPDX-License-Identifier: Apache-2.0

"""The options, without any service."""

import unittest

from senlin_plugins import conf
from tests import configurations


class Options(unittest.TestCase):
    def test_defaults_are_those_of_the_documentation(self):
        options = configurations.load(conf.list_opts()).senlin_plugins
        self.assertIs(True, options.check_catalog)
        self.assertEqual(3, options.region_timeout)

    def test_wrong_values_end_the_service_and_are_told(self):
        wrong = configurations.load(
            conf.list_opts(),
            '[senlin_plugins]\ncheck_catalog = maybe\n'
            'region_timeout = $nowhere\n',
        )
        with (
            self.assertLogs('senlin_plugins.conf', 'CRITICAL'),
            self.assertRaises(SystemExit) as caught,
        ):
            conf.load_options(wrong)
        # What Python prints when it ends.
        text = str(caught.exception)
        self.assertRegex(
            text, 'check_catalog .*maybe.*; .*region_timeout .*nowhere'
        )
