# SPDX-License-Identifier: Apache-2.0

"""A refusal says which side, which key, and what was wanted."""

import unittest

import ddt

from nova_filters.matching import inputs
from nova_filters.matching.reason import quote_all
from tests.unit.nova_filters.matching.refusals import refusal

_ON = {inputs.FLAG: 'true'}


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
        reason = refusal(extra_specs, metadata, {'k': '2'})
        self.assertEqual(summary, reason.summary())
        self.assertEqual(summary + more, str(reason))

    def test_control_characters_do_not_reach_the_log(self) -> None:
        reason = refusal({'a\nb': 'c\x1b[31m'}, {'a\nb': 'd\r'})
        self.assertTrue(str(reason).isprintable())

    def test_the_first_four_values_are_told_in_order(self) -> None:
        text = quote_all('zyxwvutsrqponmlkjihgfedcbaabc')
        self.assertEqual("'a', 'b', 'c', 'd', 22 more", text)
