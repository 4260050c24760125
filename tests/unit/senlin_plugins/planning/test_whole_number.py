# SPDX-License-Identifier: Apache-2.0

"""Whole numbers, and what only looks like one."""

import unittest

import ddt

from senlin_plugins.planning import whole_number


@ddt.ddt
class WholeNumberTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data((3, 3), (0, 0), (-1, -1), ('3', 3), (' -7 ', -7))
    def test_a_number_is_read_from_text_too(self, value, number):
        read = whole_number.read(value, 'count')
        self.assertEqual((int, number), (type(read), read))

    @ddt.data('', 'two', '1.5', 1.5, 2.0, True, False, None, [1], {})
    def test_what_is_no_whole_number_is_refused(self, value):
        with self.assertRaises(ValueError) as caught:
            whole_number.read(value, "'cap' of region 'a'")
        self.assertEqual(
            f"'cap' of region 'a' is '{value}': it must be a whole number.",
            str(caught.exception),
        )

    def test_only_the_first_20_characters_are_shown(self):
        with self.assertRaises(ValueError) as caught:
            whole_number.read('x' * 21, 'cap')
        self.assertEqual(
            f"cap is '{'x' * 20}': it must be a whole number.",
            str(caught.exception),
        )
