# SPDX-License-Identifier: Apache-2.0

"""Text as a set over all values and *absent*."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import requirement


class RequirementTest(unittest.TestCase):
    @given(st.text(), st.text())
    def test_any_two_texts_are_compared(self, one: str, two: str) -> None:
        left, right = requirement.parse(one), requirement.parse(two)
        self.assertEqual(one, left.text)
        if left.overlaps(right):
            self.assertFalse(left.problem or right.problem)
        # What a flavor wants and an aggregate has is the same text.
        usable = not left.problem and not left.forbidden
        self.assertEqual(usable, left.overlaps(left))

    def test_a_number_too_long_to_be_written_is_a_problem(self) -> None:
        parsed = requirement.parse(10**5_000)
        self.assertEqual('a int is not a string', parsed.problem)
        self.assertEqual('(int)', parsed.text)

    def test_text_without_a_sign_is_plain(self) -> None:
        for text in ('', '1', 'a b, c', 's', 'or'):
            self.assertIs(True, requirement.is_plain(text), text)
        for text in ('*', '1,~', '!', '<or> 1', '>= 2', 's== 1', '<in> 1'):
            self.assertIs(False, requirement.is_plain(text), text)
