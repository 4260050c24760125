# SPDX-License-Identifier: Apache-2.0

"""What the page says of the rules below the tables, and of reasons."""

import unittest

import ddt

from nova_filters.matching import inputs
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Mismatch, Side, quote_all

_ON = {inputs.FLAG: 'true'}


def mismatch(
    extra_specs: dict[str, str], *metadata: dict[str, str]
) -> Mismatch | None:
    """Return why a host in aggregates named a0, a1, … is refused."""
    aggregates = [
        inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
    ]
    matcher = Matcher(inputs.read_flavor(extra_specs))
    return next(matcher.explain_mismatches(aggregates), None)


class RuleTest(unittest.TestCase):
    def test_a_forced_aggregate_must_accept_every_spelling(self) -> None:
        extra_specs = {'os': 'linux', f'{inputs.SCOPE}os': 'bsd'}
        elsewhere = {'os': 'linux,bsd'}
        self.assertIsNone(mismatch(extra_specs, elsewhere, {'os': 'linux'}))
        reason = mismatch(extra_specs, elsewhere, {'os': 'linux', **_ON})
        self.assertEqual((Side.AGGREGATE, 'os'), (reason.side, reason.key))

    def test_a_scope_is_stripped_once(self) -> None:
        scope = inputs.SCOPE
        metadata = {f'{scope}k': '1', f'{scope}{scope}k': '2', **_ON}
        extra_specs = {f'{scope}k': '1', f'{scope}{scope}k': '1'}
        reason = mismatch(extra_specs, metadata)
        # The first one is about k, which is met; the second about scope:k.
        self.assertEqual(f'{scope}k', reason.key)
        self.assertEqual(('2',), reason.stated_values)
        extra_specs[f'{scope}{scope}k'] = '2'
        self.assertIsNone(mismatch(extra_specs, metadata))

    def test_metadata_that_are_no_text_close_the_host(self) -> None:
        for data in (
            {1: '2', **_ON},
            {'k': 1},
            {inputs.FLAG: True},
            {inputs.FLAG: []},
        ):
            reason = mismatch({'k': '1'}, {'k': '1'}, data)
            self.assertEqual(Cause.UNREADABLE, reason.cause, data)
            self.assertEqual(('a1',), reason.aggregate)


@ddt.ddt
class ReasonTest(unittest.TestCase):
    @ddt.data(
        # Extra specs, metadata, the summary, and what else the reason says.
        ({'gpu': 'a100'}, {}, "'gpu' not in any aggregate"),
        (
            {'gpu': 'a100'},
            {'gpu': 'h100'},
            "'gpu' does not match 'a100'",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '!'},
            {'gpu': 'h100'},
            "'gpu' must not be in an aggregate",
            "; aggregate 'a0' has 'h100'",
        ),
        (
            {'gpu': '>= two'},
            {},
            "'gpu' is malformed in the flavor",
            " ('>= two': 'two' is not a number)",
        ),
        ({}, {'os': 'windows', **_ON}, "aggregate 'a0' demands 'os'"),
        (
            {'n:os': '~'},
            {'n:os': '!', 'os': '!', 'x': '!,~', **_ON},
            "aggregate 'a0' contradicts itself on 'x'",
        ),
        (
            {'n:os': 'linux'},
            {'n:os': '!', **_ON},
            "aggregate 'a0' forbids 'n:os'",
            "; the flavor has 'linux'",
        ),
        (
            {'k': '2'},
            {'k': '1', **_ON},
            "aggregate 'a0' demands 'k' to be '1'",
            "; the flavor has '2'",
        ),
    )
    @ddt.unpack
    def test_the_reason_is_told(
        self, extra_specs, metadata, summary, more=''
    ) -> None:
        # A second aggregate that has what the flavor wants is no way out.
        reason = mismatch(extra_specs, metadata, {'k': '2'})
        self.assertEqual(summary, reason.summary())
        self.assertEqual(summary + more, str(reason))

    def test_the_first_four_values_are_told_in_order(self) -> None:
        text = quote_all('zyxwvutsrqponmlkjihgfedcbaabc')
        self.assertEqual("'a', 'b', 'c', 'd', 22 more", text)
