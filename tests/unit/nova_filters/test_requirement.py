# SPDX-License-Identifier: Apache-2.0

"""What operators write, beside the cases of ``testing/nova/tables.yaml``."""

import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import requirement


@ddt.ddt
class ParseTest(unittest.TestCase):
    """Text becomes a set over all values and *absent*."""

    def test_alternatives_are_every_other_word(self) -> None:
        for text, literals in (
            ('<or> <or> <or> 2', {'<or>', '2'}),
            ('<or> >= 2', {'>='}),
        ):
            parsed = requirement.parse(text)
            self.assertEqual((literals, ''), (parsed.literals, parsed.problem))

    @ddt.data(
        '<or>', ' <or> ', '>=', 's==', '<in>', '<all-in>', '>= two', '== 1,0',
        '<or> ! <or> 1', '<or> ! <or> ~', '<or> * <or> !', None, 1, b'1', [],
    )  # fmt: skip
    def test_nonsense_is_a_problem_that_nothing_meets(
        self, text: object
    ) -> None:
        parsed = requirement.parse(text)
        self.assertNotEqual('', parsed.problem)
        self.assertFalse(parsed.absence_only)
        self.assertFalse(parsed.accepts_absence)
        for other in ('*', '~', '!', '1', '!= 0', '<or> 1 <or> ~'):
            self.assertFalse(parsed.overlaps(requirement.parse(other)))
            self.assertFalse(requirement.parse(other).overlaps(parsed))

    def test_a_number_too_long_to_be_written_is_a_problem(self) -> None:
        parsed = requirement.parse(10**5_000)
        self.assertEqual('a int is not a string', parsed.problem)
        self.assertEqual('(int)', parsed.text)

    @given(st.text(), st.text())
    def test_any_two_texts_are_compared(self, one: str, two: str) -> None:
        left, right = requirement.parse(one), requirement.parse(two)
        self.assertEqual(one, left.text)
        if left.overlaps(right):
            self.assertFalse(left.problem or right.problem)
        # What a flavor wants and an aggregate has is the same text.
        usable = not left.problem and not left.forbidden
        self.assertEqual(usable, left.overlaps(left))

    def test_a_long_value_is_cut_in_messages(self) -> None:
        parsed = requirement.parse('>= ' + 'x' * 10_000)
        self.assertLess(len(parsed.problem), 100)
