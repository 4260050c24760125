# SPDX-License-Identifier: Apache-2.0

"""Each block of a page runs, or the page says why not."""

import unittest

from tests import pages


class PagesTest(unittest.TestCase):
    def test_each_block_runs_or_says_why_not(self) -> None:
        self.assertEqual([], [*pages.problems()])
