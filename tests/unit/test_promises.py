# SPDX-License-Identifier: Apache-2.0

"""Each promise of the pages and of the help has a test."""

import unittest

from tests import promises


class PromisesTest(unittest.TestCase):
    def test_each_promise_has_a_test_and_each_test_exists(self) -> None:
        self.assertEqual([], [*promises.find_problems()])
