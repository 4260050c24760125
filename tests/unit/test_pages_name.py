# SPDX-License-Identifier: Apache-2.0

"""What pages name exists."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ROOT / 'doc/source'
CONTRIBUTOR = PAGES / 'contributor'


class PagesTest(unittest.TestCase):
    def test_each_test_that_is_named_exists(self) -> None:
        tests = {path.name for path in (ROOT / 'tests').rglob('test_*.py')}
        for page in (ROOT / 'SECURITY.rst', CONTRIBUTOR / 'seams.rst'):
            named = set(re.findall(r'test_\w+\.py', page.read_text()))
            self.assertGreater(len(named), 7)
            self.assertEqual(set(), named - tests)

    def test_each_file_to_change_exists(self) -> None:
        page = (CONTRIBUTOR / 'index.rst').read_text()
        named = re.findall(r'``(\w+/[\w/.]+)``', page)
        self.assertGreater(len(named), 20)
        self.assertEqual([], [n for n in named if not (ROOT / n).exists()])


class ReadmeTest(unittest.TestCase):
    """What the first page says of the source tree."""

    def setUp(self) -> None:
        super().setUp()
        self.readme = (ROOT / 'README.rst').read_text()

    def test_each_file_exists_and_no_link_is_relative(self) -> None:
        # An index shows this page without the files beside it.
        self.assertNotRegex(self.readme, r'<(?!https?:)[^>]*>`_')
        named = re.findall(r'``((?:doc/source/)?[\w-]+\.rst)``', self.readme)
        self.assertEqual('doc/source/soft-anti-affinity.rst', named[0])
        for name in named:
            beside = (ROOT / name).exists()
            self.assertTrue(beside or (PAGES / name).exists(), name)
