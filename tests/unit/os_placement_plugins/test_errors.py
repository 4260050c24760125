# SPDX-License-Identifier: Apache-2.0

import traceback
import unittest

from os_placement_plugins import errors


class OneLineTest(unittest.TestCase):
    def test_a_text_is_one_printable_line_of_some_length(self):
        for text, line in (
            ('a\n\x1b[31mb\x85 c\x00', r'a \x1b[31mb c\x00'),
            ('x' * 20_421, 'x' * errors.SHOWN + '…'),
            (' ', 'ValueError'),
            ("no A (['Traceback (most recent call last)'])", 'no A'),
            ("no number: 'mysql://nova:pw@db'", "no number: 'mysql://***@db'"),
        ):
            self.assertEqual(line, errors.one_line(ValueError(text)))


class DatabaseErrorTest(unittest.TestCase):
    def test_nothing_of_the_cause_is_shown(self):
        with (
            self.assertRaises(errors.DatabaseError) as caught,
            errors.of_database(),
        ):
            int('retpw@db')
        self.assertEqual('ValueError', errors.one_line(caught.exception))
        text = ''.join(traceback.format_exception(caught.exception))
        self.assertNotIn('retpw', text)
