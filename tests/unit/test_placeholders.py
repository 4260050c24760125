# SPDX-License-Identifier: Apache-2.0

"""Nobody can copy a signing key from a page or an example."""

import re
import unittest

from os_placement_plugins import signature
from tests import processes

#: A line that sets the option, in a configuration file or in YAML.
LINE = re.compile(r"""(?m)^[\s#>]*signing_key\s*[=:]\s*['"]?(.*?)['"]?$""")
#: A variable of Ansible, which the reader has to set.
VARIABLE = re.compile(r'\{\{ \w+ \}\}')


class PlaceholderTest(unittest.TestCase):
    def test_every_check_refuses_what_stands_in_place_of_a_key(self):
        root = processes.ROOT
        files = [
            *root.glob('*.rst'),
            *(root / 'devstack').iterdir(),
            *(root / 'doc' / 'source').rglob('*.rst'),
            *(root / 'doc' / 'source' / 'examples').rglob('*.*'),
        ]
        values: list[str] = []
        for file in files:
            if file.is_file() and file.suffix != '.pyc':
                values += LINE.findall(file.read_text())
        self.assertIn('REPLACE-ME', values)
        for value in values:
            if VARIABLE.fullmatch(value):
                continue
            for key in value.split(','):
                with self.assertRaises(ValueError, msg=value):
                    signature.Keys([key])
