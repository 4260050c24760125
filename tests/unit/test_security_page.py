# SPDX-License-Identifier: Apache-2.0

"""The tests that SECURITY.rst names exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]


class SecurityPageTest(unittest.TestCase):
    def test_each_test_that_is_named_exists(self) -> None:
        page = (ROOT / 'SECURITY.rst').read_text()
        named = set(re.findall(r'test_\w+\.py', page))
        found = {path.name for path in (ROOT / 'tests').rglob('test_*.py')}
        self.assertGreater(len(named), 8)
        self.assertEqual(set(), named - found)
