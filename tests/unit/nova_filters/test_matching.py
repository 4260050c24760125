# SPDX-License-Identifier: Apache-2.0

"""What the evaluator says beside the tables, and how it says why."""

import dataclasses
import unittest

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters import batch, matching
from testing.nova import strategies

_ON = {'force_metadata_check': 'true'}


def verdict(
    extra_specs: dict[str, str] | None,
    *metadata: dict[str, str],
    exempt: tuple[str, ...] = (),
) -> matching.Verdict:
    """Return the verdict on a host in aggregates named a0, a1, …

    Whatever is asked here, many hosts at once must be judged alike.
    """
    aggregates = [
        matching.Aggregate(f'a{index}', data)
        for index, data in enumerate(metadata)
    ]
    flavor = matching.read_flavor(extra_specs)
    found = matching.evaluate(flavor, aggregates, exempt)
    sifted = batch.Batch(flavor, exempt).sift([Host(aggregates)])
    if bool(sifted.passed) is not found.passed:
        raise AssertionError(f'{sifted} instead of {found}')
    return found


@dataclasses.dataclass
class Host:
    """A host, as far as the filter looks at it."""

    aggregates: list[matching.Aggregate]


class ExemptionTest(unittest.TestCase):
    """The patterns of keys that no aggregate may demand."""

    def test_exempt_patterns_mind_the_case(self) -> None:
        found = verdict({}, {'Zone': '1', **_ON}, exempt=('zone',))
        self.assertFalse(found.passed)

    @given(st.text(max_size=8), st.text(max_size=8))
    def test_any_text_may_stand_in_the_option(self, key, pattern) -> None:
        patterns = (pattern, f'[{pattern}', f'[!{pattern}', f'*{pattern}]')
        self.assertIsInstance(matching.is_exempt(key, patterns), bool)


class RuleTest(unittest.TestCase):
    """What the page says between and below the tables."""

    def test_no_extra_specs_are_no_requirements(self) -> None:
        for extra_specs in (None, {}):
            self.assertTrue(verdict(extra_specs).passed)
            self.assertTrue(verdict(extra_specs, {'k': '1'}).passed)
            self.assertFalse(verdict(extra_specs, {'k': '1', **_ON}).passed)

    def test_a_metadata_key_set_to_none_is_absent(self) -> None:
        self.assertTrue(verdict({'k': '!'}, {'k': None}).passed)
        self.assertTrue(verdict({}, {'k': None, **_ON}).passed)

    def test_a_scope_is_stripped_once(self) -> None:
        scope = f'{matching.SCOPE}:'
        metadata = {f'{scope}k': '1', f'{scope}{scope}k': '2', **_ON}
        extra_specs = {f'{scope}k': '1', f'{scope}{scope}k': '1'}
        reason = verdict(extra_specs, metadata).reason
        # The first one is about k, which is met; the second about scope:k.
        self.assertEqual(f'{scope}k', reason.key)
        self.assertEqual(('2',), reason.found)
        extra_specs[f'{scope}{scope}k'] = '2'
        self.assertTrue(verdict(extra_specs, metadata).passed)

    def test_a_key_that_is_no_text_is_demanded_of_nobody(self) -> None:
        self.assertTrue(verdict({}, {1: '2', None: '3', **_ON}).passed)

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_there_is_always_a_verdict(self, extra_specs, metadata) -> None:
        found = verdict(extra_specs, *metadata)
        self.assertIs(found.passed, found.reason is None)
        if found.reason is not None:
            self.assertLess(len(str(found.reason)), 2500)
            self.assertTrue(str(found.reason).isprintable())

    @given(strategies.extra_specs(), strategies.metadata_lists())
    def test_the_order_of_aggregates_is_irrelevant(
        self, extra_specs, metadata
    ) -> None:
        self.assertIs(
            verdict(extra_specs, *metadata).passed,
            verdict(extra_specs, *reversed(metadata)).passed,
        )


@ddt.ddt
class ReasonTest(unittest.TestCase):
    """A refusal says which side, which key, and what was wanted."""

    @ddt.data(
        (
            {'gpu': 'a100'},
            {},
            matching.Side.FLAVOR,
            matching.Kind.MISSING,
            "'gpu' not in any aggregate",
            "'gpu' not in any aggregate",
        ),
        (
            {'gpu': 'a100'},
            {'gpu': 'h100'},
            matching.Side.FLAVOR,
            matching.Kind.MISMATCH,
            "'gpu' does not match 'a100'",
            "'gpu' does not match 'a100'; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '!'},
            {'gpu': 'h100'},
            matching.Side.FLAVOR,
            matching.Kind.FORBIDDEN,
            "'gpu' must not be in an aggregate",
            "'gpu' must not be in an aggregate; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '>= two'},
            {},
            matching.Side.FLAVOR,
            matching.Kind.MALFORMED,
            "'gpu' is malformed in the flavor",
            "'gpu' is malformed in the flavor ('>= two': 'two' is not a "
            'number)',
        ),
        (
            {},
            {'os': 'windows', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.MISSING,
            "aggregate 'a0' demands 'os'",
            "aggregate 'a0' demands 'os'",
        ),
        (
            {'n:os': '~'},
            {'n:os': '!', 'os': '!', 'x': '!,~', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.CONTRADICTION,
            "aggregate 'a0' contradicts itself on 'x'",
            "aggregate 'a0' contradicts itself on 'x'",
        ),
        (
            {'n:os': 'linux'},
            {'n:os': '!', **_ON},
            matching.Side.AGGREGATE,
            matching.Kind.FORBIDDEN,
            "aggregate 'a0' forbids 'n:os'",
            "aggregate 'a0' forbids 'n:os'; the flavor has 'linux'",
        ),
    )
    @ddt.unpack
    def test_the_reason_is_told(
        self, extra_specs, metadata, side, kind, summary, text
    ) -> None:
        reason = verdict(extra_specs, metadata).reason
        self.assertIs(side, reason.side)
        self.assertIs(kind, reason.kind)
        self.assertEqual(summary, reason.summary())
        self.assertEqual(text, str(reason))

    def test_an_unmet_demand_names_the_forced_aggregate(self) -> None:
        reason = verdict({'k': '2'}, {'k': '1', **_ON}, {'k': '2'}).reason
        self.assertEqual(('a0',), reason.aggregate)
        self.assertEqual(('1',), reason.wanted)
        self.assertEqual(('2',), reason.found)
        self.assertEqual(
            "aggregate 'a0' demands 'k' to be '1'; the flavor has '2'",
            str(reason),
        )

    def test_control_characters_do_not_reach_the_log(self) -> None:
        reason = verdict({'a\nb': 'c\x1b[31m'}, {'a\nb': 'd\r'}).reason
        self.assertTrue(str(reason).isprintable())
