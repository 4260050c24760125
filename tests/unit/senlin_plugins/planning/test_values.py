# SPDX-License-Identifier: Apache-2.0

"""Values, and what only looks like one."""

import unittest

import ddt

from senlin_plugins.planning import values


@ddt.ddt
class Values(unittest.TestCase):
    def assert_wrong(self, message, *arguments):
        """Check that a value is refused with a message."""
        with self.assertRaises(values.WrongValue) as caught:
            values.parse_number(*arguments)
        self.assertEqual(message, str(caught.exception))

    @ddt.unpack
    @ddt.data((3, 3), (-1, -1), ('3', 3), ('+3', 3), (' -1 ', -1))
    def test_a_number_is_read_from_text_too(self, value, number):
        read = values.parse_number(value, 'cap', -1)
        self.assertEqual((int, number), (type(read), read))

    @ddt.data('', 'x', '1.5', 2.0, True, None, [1], '\uff11', '1_0', '1 0')
    def test_what_is_no_whole_number_is_refused(self, value):
        message = f"cap is '{value}': it must be a whole number."
        self.assert_wrong(message, value, 'cap')

    def test_a_message_shows_the_first_20_characters(self):
        for value, problem in (
            ('x' * 21, 'it must be a whole number.'),
            ('9' * 5000, 'it must be a whole number.'),
            ('-' + '9' * 20, 'it must be 0 or greater.'),
        ):
            message = f"cap is '{value[:20]}': {problem}"
            self.assert_wrong(message, value, 'cap', 0)
