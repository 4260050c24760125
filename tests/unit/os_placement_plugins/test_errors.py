# SPDX-License-Identifier: Apache-2.0

import unittest

from os_placement_plugins import errors


class TestOneLine(unittest.TestCase):
    def test_a_text_is_one_line_without_control_characters(self):
        text = errors.one_line(ValueError('a\n\x1b[31mb\x85 c\x00'))
        self.assertEqual(r'a \x1b[31mb c\x00', text)

    def test_a_long_text_is_cut(self):
        text = errors.one_line(ValueError('x' * 20_421))
        self.assertEqual('x' * errors.SHOWN + '…', text)

    def test_an_exception_without_a_text_has_its_name(self):
        self.assertEqual('ValueError', errors.one_line(ValueError(' ')))
