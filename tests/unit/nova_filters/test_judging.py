# SPDX-License-Identifier: Apache-2.0
"""One aggregate as flags: what it raises and what it settles."""

import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters import judging, matching
from testing.nova import strategies

_ON = {'force_metadata_check': 'True'}


def judge(extra_specs, *exempt) -> judging.Judge:
    """Return a flavor."""
    return judging.Judge(matching.read_flavor(extra_specs), exempt)


def refused(flavor: judging.Judge, flags: int) -> bool:
    """Tell whether a question of the flavor's own is raised, not settled."""
    demands = flavor.questions & ~flavor.contradictions
    raised = flags | flavor.raised
    return bool(raised & (flags >> 1 ^ demands) & flavor.questions)


@ddt.ddt
class JudgeTest(unittest.TestCase):
    """What an aggregate means to a flavor."""

    @ddt.data(
        ({'k': '1'}, {}, True),
        ({'k': '1'}, {'k': '1'}, False),
        ({'k': '1'}, {'k': '2'}, True),
        ({'hw:k': '1'}, {}, False),
        ({'hw:k': '1'}, {'hw:k': '2'}, True),
        ({'k': '!'}, {}, False),
        ({'k': '!'}, {'k': '1'}, True),
        ({'k': '1'}, {'k': '1,!', **_ON}, True),
        ({'k': '~'}, {'k': '!', **_ON}, False),
        ({'k': '<or> 1 <or> ~'}, {'k': '2', **_ON}, True),
    )
    @ddt.unpack
    def test_a_question_is_raised_and_not_settled(
        self, extra_specs, metadata, wanted
    ) -> None:
        flavor = judge(extra_specs)
        found = flavor.judge(metadata, judging.Memo())
        self.assertIs(wanted, refused(flavor, found.flags))

    def test_another_aggregate_settles_what_one_raises(self) -> None:
        flavor, memo = judge({'hw:k': '1'}), judging.Memo()
        flags = flavor.judge({'hw:k': '2'}, memo).flags
        self.assertTrue(refused(flavor, flags))
        flags |= flavor.judge({'hw:k': '1'}, memo).flags
        self.assertFalse(refused(flavor, flags))

    def test_keys_that_the_flavor_lacks_are_told_apart(self) -> None:
        metadata = {'a': '1', 'b': '~', 'c': '!', 'd': '2', **_ON}
        found = judge({}, 'd').judge(metadata, judging.Memo())
        self.assertEqual(0, found.flags)
        self.assertEqual(
            {'a': 0b1001, 'b': 0b1011, 'c': 0b0100}, dict(found.lacking)
        )

    def test_problems_of_exempt_keys_are_told_too(self) -> None:
        found = judge({}, 'k').judge({'k': '>=', **_ON}, judging.Memo())
        self.assertEqual((('k', "'>=' has no operand"),), found.problems)
        self.assertEqual((), found.lacking)

    def test_nothing_settles_what_could_not_be_read(self) -> None:
        flavor = judge({'k': '1'})
        flags = flavor.judge({'k': '1'}, judging.Memo()).flags
        self.assertFalse(refused(flavor, flags))
        self.assertTrue(refused(flavor, flags | flavor.unreadable))

    @given(strategies.extra_specs(), st.lists(strategies.metadata()))
    def test_what_was_judged_before_changes_nothing(
        self, extra_specs, metadata
    ) -> None:
        flavor, memo = judge(extra_specs), judging.Memo()
        for data in metadata + metadata:
            self.assertEqual(
                flavor.judge(data, judging.Memo()), flavor.judge(data, memo)
            )
