# SPDX-License-Identifier: Apache-2.0

"""Values, and what only looks like one."""

import unittest

import ddt

from senlin_plugins.planning import values


@ddt.ddt
class Number(unittest.TestCase):
    @ddt.unpack
    @ddt.data((3, 3), (0, 0), (-1, -1), ('3', 3), ('+3', 3), (' -7 ', -7))
    def test_a_number_is_read_from_text_too(self, value, number):
        read = values.parse_number(value, 'count')
        self.assertEqual((int, number), (type(read), read))

    @ddt.data('', 'two', '1.5', 1.5, 2.0, True, False, None, [1], {})
    def test_what_is_no_whole_number_is_refused(self, value):
        with self.assertRaises(values.WrongValue) as caught:
            values.parse_number(value, "'cap' of region 'a'")
        self.assertEqual(
            f"'cap' of region 'a' is '{value}': it must be a whole number.",
            str(caught.exception),
        )

    @ddt.data('\uff11\uff12', '1_0', '--1', '1 0')
    def test_what_only_python_or_nobody_reads_is_refused(self, value):
        with self.assertRaisesRegex(values.WrongValue, 'a whole number'):
            values.parse_number(value, 'cap')

    def test_only_the_first_20_characters_are_shown(self):
        with self.assertRaises(values.WrongValue) as caught:
            values.parse_number('x' * 21, 'cap')
        self.assertEqual(
            f"cap is '{'x' * 20}': it must be a whole number.",
            str(caught.exception),
        )
        with self.assertRaises(values.WrongValue) as caught:
            values.parse_number('-' + '9' * 20, 'cap', 0)
        self.assertEqual(
            f"cap is '-{'9' * 19}': it must be 0 or greater.",
            str(caught.exception),
        )

    def test_the_smallest_number_is_accepted(self):
        self.assertEqual(-1, values.parse_number('-1', 'cap', -1))
        with self.assertRaisesRegex(ValueError, 'must be -1 or greater'):
            values.parse_number(-2, 'cap', -1)


class Others(unittest.TestCase):
    def test_a_choice(self):
        self.assertEqual('b', values.parse_choice('b', 'kind', iter('ab')))
        for value in ('c', 5, None, ['a'], 'ab'):
            with self.assertRaises(values.WrongValue) as caught:
                values.parse_choice(value, 'kind', 'ab')
            self.assertEqual(
                f"kind is '{value}': it must be one of a, b.",
                str(caught.exception),
            )

    def test_a_flag(self):
        for value in (True, False):
            self.assertIs(value, values.parse_flag(value, 'out'))
        for value in (1, 0, 'true', None):
            with self.assertRaises(values.WrongValue) as caught:
                values.parse_flag(value, 'out')
            self.assertEqual('out must be a boolean.', str(caught.exception))

    def test_ids(self):
        for value in ([], ['a', 'b', 'a']):
            self.assertEqual(value, values.parse_ids(value, "'nodes'"))
        for value in ('abc', 5, None, {'a': 1}, [7], ['a', ['b']]):
            with self.assertRaises(values.WrongValue) as caught:
                values.parse_ids(value, "'nodes'")
            self.assertEqual(
                f"The value of 'nodes' is '{value}': it must be a list of "
                'node ids.',
                str(caught.exception),
            )
