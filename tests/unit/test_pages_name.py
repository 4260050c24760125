# SPDX-License-Identifier: Apache-2.0

"""The tests and files that pages name exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
CONTRIBUTOR = ROOT / 'doc/source/contributor'


class PagesTest(unittest.TestCase):
    def test_each_test_that_is_named_exists(self) -> None:
        found = {path.name for path in (ROOT / 'tests').rglob('test_*.py')}
        for page in (ROOT / 'SECURITY.rst', CONTRIBUTOR / 'seams.rst'):
            named = set(re.findall(r'test_\w+\.py', page.read_text()))
            self.assertGreater(len(named), 7)
            self.assertEqual(set(), named - found)

    def test_each_file_to_change_exists(self) -> None:
        page = (CONTRIBUTOR / 'index.rst').read_text()
        named = re.findall(r'``(\w+/[\w/.]+)``', page)
        self.assertGreater(len(named), 20)
        self.assertEqual([], [n for n in named if not (ROOT / n).exists()])
