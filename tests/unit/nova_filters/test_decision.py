# SPDX-License-Identifier: Apache-2.0

"""What the evaluator says beside the tables, and how it says why."""

import fnmatch
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request

FLAG = inputs.FLAG
_ON = {FLAG: 'true'}


def refusal(
    extra_specs: dict[str, str], *metadata: dict[str, str]
) -> Reason | None:
    """Return why a host in aggregates named a0, a1, … is refused."""
    own = [inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)]
    request = Request(inputs.read_flavor(extra_specs))
    return next(request.reasons(own), None)


class ExemptionTest(unittest.TestCase):
    """The patterns of keys that no aggregate may demand."""

    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_may_stand_in_the_option(self, key, pattern) -> None:
        patterns = (pattern, f'[{pattern}', f'[!{pattern}', f'*{pattern}]')
        self.assertEqual(
            any(fnmatch.fnmatchcase(key, one) for one in patterns),
            bool(inputs.exemption(patterns)(key)),
        )


class RequirementTest(unittest.TestCase):
    """Text as a set over all values and *absent*."""

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


class RuleTest(unittest.TestCase):
    """What the page says between and below the tables."""

    def test_a_forced_aggregate_must_accept_every_spelling(self) -> None:
        extra_specs = {'os': 'linux', f'{inputs.SCOPE}os': 'bsd'}
        elsewhere = {'os': 'linux,bsd'}
        self.assertIsNone(refusal(extra_specs, elsewhere, {'os': 'linux'}))
        reason = refusal(extra_specs, elsewhere, {'os': 'linux', **_ON})
        self.assertEqual((Side.AGGREGATE, 'os'), (reason.side, reason.key))

    def test_a_metadata_key_set_to_none_is_absent(self) -> None:
        self.assertIsNone(refusal({'k': '!'}, {'k': None}))
        self.assertIsNone(refusal({}, {'k': None, **_ON}))

    def test_a_scope_is_stripped_once(self) -> None:
        scope = inputs.SCOPE
        metadata = {f'{scope}k': '1', f'{scope}{scope}k': '2', **_ON}
        extra_specs = {f'{scope}k': '1', f'{scope}{scope}k': '1'}
        reason = refusal(extra_specs, metadata)
        # The first one is about k, which is met; the second about scope:k.
        self.assertEqual(f'{scope}k', reason.key)
        self.assertEqual(('2',), reason.found)
        extra_specs[f'{scope}{scope}k'] = '2'
        self.assertIsNone(refusal(extra_specs, metadata))

    def test_metadata_that_are_no_text_close_the_host(self) -> None:
        for data in ({1: '2', **_ON}, {'k': 1}, {FLAG: True}, {FLAG: []}):
            reason = refusal({'k': '1'}, {'k': '1'}, data)
            self.assertEqual(Kind.UNREADABLE, reason.kind, data)
            self.assertEqual(('a1',), reason.aggregate)


@ddt.ddt
class ReasonTest(unittest.TestCase):
    """A refusal says which side, which key, and what was wanted."""

    @ddt.data(
        # Extra specs, metadata, the summary, and what else the reason says.
        ({'gpu': 'a100'}, {}, "'gpu' not in any aggregate"),
        (
            *({'gpu': 'a100'}, {'gpu': 'h100'}),
            "'gpu' does not match 'a100'",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            *({'gpu': '!'}, {'gpu': 'h100'}),
            "'gpu' must not be in an aggregate",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            *({'gpu': '>= two'}, {}, "'gpu' is malformed in the flavor"),
            " ('>= two': 'two' is not a number)",
        ),
        ({}, {'os': 'windows', **_ON}, "aggregate 'a0' demands 'os'"),
        (
            {'n:os': '~'},
            {'n:os': '!', 'os': '!', 'x': '!,~', **_ON},
            "aggregate 'a0' contradicts itself on 'x'",
        ),
        (
            *({'n:os': 'linux'}, {'n:os': '!', **_ON}),
            "aggregate 'a0' forbids 'n:os'",
            "; the flavor has 'linux'",
        ),
        (
            *({'k': '2'}, {'k': '1', **_ON}),
            "aggregate 'a0' demands 'k' to be '1'",
            "; the flavor has '2'",
        ),
    )
    @ddt.unpack
    def test_the_reason_is_told(
        self, extra_specs, metadata, summary, more=''
    ) -> None:
        # A second aggregate that has what the flavor wants is no way out.
        reason = refusal(extra_specs, metadata, {'k': '2'})
        self.assertEqual(summary, reason.summary())
        self.assertEqual(summary + more, str(reason))

    def test_control_characters_do_not_reach_the_log(self) -> None:
        reason = refusal({'a\nb': 'c\x1b[31m'}, {'a\nb': 'd\r'})
        self.assertTrue(str(reason).isprintable())
