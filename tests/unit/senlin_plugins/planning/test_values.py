# SPDX-License-Identifier: Apache-2.0

"""Values, and what only looks like one."""

import unittest

import ddt

from senlin_plugins.planning import values


@ddt.ddt
class Values(unittest.TestCase):
    def assert_wrong(self, message, parse, *arguments):
        """Check that a value is refused with a message."""
        with self.assertRaises(values.WrongValue) as caught:
            parse(*arguments)
        self.assertEqual(message, str(caught.exception))

    @ddt.unpack
    @ddt.data((3, 3), (-1, -1), ('3', 3), ('+3', 3), (' -1 ', -1))
    def test_a_number_is_read_from_text_too(self, value, number):
        read = values.parse_number(value, 'cap', -1)
        self.assertEqual((int, number), (type(read), read))

    @ddt.data('', 'x', '1.5', 2.0, True, None, [1], '\uff11', '1_0', '1 0')
    def test_what_is_no_whole_number_is_refused(self, value):
        message = f"cap is '{value}': it must be a whole number."
        self.assert_wrong(message, values.parse_number, value, 'cap')

    def test_a_message_shows_the_first_20_characters(self):
        for value, problem in (
            ('x' * 21, 'it must be a whole number.'),
            ('9' * 5000, 'it must be a whole number.'),
            ('-' + '9' * 20, 'it must be 0 or greater.'),
        ):
            message = f"cap is '{value[:20]}': {problem}"
            self.assert_wrong(message, values.parse_number, value, 'cap', 0)

    def test_a_choice(self):
        self.assertEqual('b', values.parse_choice('b', 'kind', iter('ab')))
        for value in ('c', None, ['a']):
            message = f"kind is '{value}': it must be one of a, b."
            parse = values.parse_choice
            self.assert_wrong(message, parse, value, 'kind', 'ab')

    def test_a_flag(self):
        for value in (True, False):
            values.check_flag(value, 'out')
        message = 'out must be a boolean.'
        for value in (1, 'true', None):
            self.assert_wrong(message, values.check_flag, value, 'out')

    def test_ids(self):
        for value in ([], ['a', 'b', 'a']):
            self.assertEqual(value, values.parse_ids(value, 'nodes'))
        for value in ('abc', None, {'a': 1}, ['a', ['b']]):
            message = (
                f"The value of nodes is '{value}': it must be a list of node "
                'ids.'
            )
            self.assert_wrong(message, values.parse_ids, value, 'nodes')
