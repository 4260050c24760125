# SPDX-License-Identifier: Apache-2.0

"""Each promise of the pages and of the help has a test."""

import itertools
import pathlib
import unittest

import yaml

from tests import promises

FILE = pathlib.Path(promises.__file__).with_suffix('.yaml')


class PromisesTest(unittest.TestCase):
    def test_each_promise_has_a_test_and_each_test_exists(self) -> None:
        tests = yaml.safe_load(FILE.read_text('utf-8'))
        for test in tests:
            self.assertTrue(promises.exists(test), test)
        shown = {*itertools.chain(*tests.values())}
        self.assertEqual({*promises.find_promises()}, shown)
