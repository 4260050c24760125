# SPDX-License-Identifier: Apache-2.0

"""Text as a set over all values and *absent*."""

import string
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import requirement
from nova_filters.matching.requirement import Requirement


class RequirementTest(unittest.TestCase):
    @given(st.text(), st.text())
    def test_any_two_texts_are_compared(self, first: str, second: str) -> None:
        left, right = requirement.parse(first), requirement.parse(second)
        self.assertEqual(first, left.text)
        if left.overlaps(right):
            self.assertFalse(left.problem or right.problem)
        # What a flavor wants and an aggregate has is the same text.
        usable = not left.problem and not left.forbidden
        self.assertEqual(usable, left.overlaps(left))

    def test_text_without_a_sign_is_plain(self) -> None:
        for text in ('', '1', 'a b, c', 's', 'or'):
            self.assertIs(True, requirement.is_plain(text), text)
        for text in ('*', '1,~', '!', '<or> 1', '>= 2', 's== 1', '<in> 1'):
            self.assertIs(False, requirement.is_plain(text), text)

    def test_other_texts_are_plain(self) -> None:
        words = {*string.punctuation, '**', '<and>', '<not>', '>', '<', '=~'}
        for text in words - {'*', '~', '!', '='}:
            for value in text, f'{text} 1', f'<or> {text}':
                expected = {value.removeprefix('<or> ')}
                literals = requirement.parse(value).literals
                self.assertEqual(expected, literals, value)

    def test_a_literal_accepts_one_text_only(self) -> None:
        literal = requirement.literal('<or> *')
        self.assertEqual(
            ('<or> *', {'<or> *'}, None, False, False, False, ''), literal
        )
        self.assertFalse(literal.absence_only or literal.accepts_absence)
        self.assertEqual(
            ('x', frozenset(), None, False, False, False, ''), Requirement('x')
        )


@ddt.ddt
class AcceptsTest(unittest.TestCase):
    @ddt.data(
        # The text, values that it accepts, and values that it does not.
        ('= 2', '2 3 2.0', '1 x'),
        ('== 2', '2 2.0', '1 3 x'),
        ('!= 2', '1 3', '2 2.0 x'),
        ('>= 2', '2 10', '1 x'),
        ('<= 2', '2 1', '10 x'),
        ('s== 2', '2', '2.0'),
        ('s!= 2', '2.0 x', '2'),
        ('s< b', 'a', 'b c'),
        ('s<= b', 'a b', 'c'),
        ('s> b', 'c', 'a b'),
        ('s>= b', 'b c', 'a'),
        ('<in> b', 'abc', 'ac'),
        # Only this operator reads all its operands.
        ('<all-in> a c', 'abc', 'ab'),
        ('<in> a c', 'ab', 'c'),
        ('s== a c', 'a', 'c'),
    )
    @ddt.unpack
    def test_a_value_is_compared(self, text, accepted, refused) -> None:
        parsed = requirement.parse(text)
        for value in accepted.split():
            self.assertTrue(parsed.accepts([value]), value)
        for value in refused.split():
            self.assertFalse(parsed.accepts([value]), value)

    def test_some_words_switch_the_flag_on(self) -> None:
        for text in ('true', 'True', '1', 'T', 'y', 'YES', ' on ', 'x,on'):
            self.assertIs(True, requirement.is_on(text), text)
        for text in (None, '', 'false', '0', 'enabled', 'on on'):
            self.assertIs(False, requirement.is_on(text), text)
