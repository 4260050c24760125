# SPDX-License-Identifier: Apache-2.0

"""What the evaluator says beside the tables, and how it says why."""

import fnmatch
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.matching import inputs
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request
from testing.nova import strategies

FLAG = inputs.FLAG
_ON = {FLAG: 'true'}


def refusal(
    extra_specs: dict[str, str] | None,
    *metadata: dict[str, str],
    exempt: tuple[str, ...] = (),
) -> Reason | None:
    """Return why a host in aggregates named a0, a1, … is refused."""
    aggregates = [
        inputs.Aggregate(f'a{index}', data)
        for index, data in enumerate(metadata)
    ]
    flavor = inputs.read_flavor(extra_specs)
    return next(Request(flavor, exempt).reasons(aggregates), None)


class ExemptionTest(unittest.TestCase):
    """The patterns of keys that no aggregate may demand."""

    def test_exempt_patterns_mind_the_case(self) -> None:
        found = refusal({}, {'Zone': '1', **_ON}, exempt=('zone',))
        self.assertIsNotNone(found)

    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_may_stand_in_the_option(self, key, pattern) -> None:
        patterns = (pattern, f'[{pattern}', f'[!{pattern}', f'*{pattern}]')
        self.assertEqual(
            any(fnmatch.fnmatchcase(key, one) for one in patterns),
            bool(inputs.exemption(patterns)(key)),
        )


class RuleTest(unittest.TestCase):
    """What the page says between and below the tables."""

    def test_no_extra_specs_are_no_requirements(self) -> None:
        for extra_specs in (None, {}):
            self.assertIsNone(refusal(extra_specs))
            self.assertIsNone(refusal(extra_specs, {'k': '1'}))
            self.assertIsNotNone(refusal(extra_specs, {'k': '1', **_ON}))

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

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_the_order_of_aggregates_is_irrelevant(
        self, extra_specs, metadata
    ) -> None:
        self.assertIs(
            refusal(extra_specs, *metadata) is None,
            refusal(extra_specs, *reversed(metadata)) is None,
        )


@ddt.ddt
class ReasonTest(unittest.TestCase):
    """A refusal says which side, which key, and what was wanted."""

    @ddt.data(
        # (extra specs, metadata, side, kind, the summary, what else it says)
        (
            *({'gpu': 'a100'}, {}, Side.FLAVOR, Kind.MISSING),
            "'gpu' not in any aggregate",
        ),
        (
            *({'gpu': 'a100'}, {'gpu': 'h100'}, Side.FLAVOR, Kind.MISMATCH),
            "'gpu' does not match 'a100'",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            *({'gpu': '!'}, {'gpu': 'h100'}, Side.FLAVOR, Kind.FORBIDDEN),
            "'gpu' must not be in an aggregate",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            *({'gpu': '>= two'}, {}, Side.FLAVOR, Kind.MALFORMED),
            "'gpu' is malformed in the flavor",
            " ('>= two': 'two' is not a number)",
        ),
        (
            *({}, {'os': 'windows', **_ON}, Side.AGGREGATE, Kind.MISSING),
            "aggregate 'a0' demands 'os'",
        ),
        (
            {'n:os': '~'},
            {'n:os': '!', 'os': '!', 'x': '!,~', **_ON},
            *(Side.AGGREGATE, Kind.CONTRADICTION),
            "aggregate 'a0' contradicts itself on 'x'",
        ),
        (
            *({'n:os': 'linux'}, {'n:os': '!', **_ON}),
            *(Side.AGGREGATE, Kind.FORBIDDEN),
            "aggregate 'a0' forbids 'n:os'",
            "; the flavor has 'linux'",
        ),
    )
    @ddt.unpack
    def test_the_reason_is_told(
        self, extra_specs, metadata, side, kind, summary, more=''
    ) -> None:
        reason = refusal(extra_specs, metadata)
        self.assertIs(side, reason.side)
        self.assertIs(kind, reason.kind)
        self.assertEqual(summary, reason.summary())
        self.assertEqual(summary + more, str(reason))

    def test_an_unmet_demand_names_the_forced_aggregate(self) -> None:
        reason = refusal({'k': '2'}, {'k': '1', **_ON}, {'k': '2'})
        self.assertEqual(('a0',), reason.aggregate)
        self.assertEqual(('1',), reason.wanted)
        self.assertEqual(('2',), reason.found)
        self.assertEqual(
            "aggregate 'a0' demands 'k' to be '1'; the flavor has '2'",
            str(reason),
        )

    def test_control_characters_do_not_reach_the_log(self) -> None:
        reason = refusal({'a\nb': 'c\x1b[31m'}, {'a\nb': 'd\r'})
        self.assertTrue(str(reason).isprintable())
