# SPDX-License-Identifier: Apache-2.0

"""What the page says of the rules between and below the tables."""

import unittest

from nova_filters.matching import inputs
from nova_filters.matching.reason import Kind, Side
from tests.unit.nova_filters.matching.refusals import refusal

FLAG = inputs.FLAG
_ON = {FLAG: 'true'}


class RuleTest(unittest.TestCase):
    def test_a_forced_aggregate_must_accept_every_spelling(self) -> None:
        extra_specs = {'os': 'linux', f'{inputs.SCOPE}os': 'bsd'}
        elsewhere = {'os': 'linux,bsd'}
        self.assertIsNone(refusal(extra_specs, elsewhere, {'os': 'linux'}))
        reason = refusal(extra_specs, elsewhere, {'os': 'linux', **_ON})
        self.assertEqual((Side.AGGREGATE, 'os'), (reason.side, reason.key))

    def test_a_scope_is_stripped_once(self) -> None:
        scope = inputs.SCOPE
        metadata = {f'{scope}k': '1', f'{scope}{scope}k': '2', **_ON}
        extra_specs = {f'{scope}k': '1', f'{scope}{scope}k': '1'}
        reason = refusal(extra_specs, metadata)
        # The first one is about k, which is met; the second about scope:k.
        self.assertEqual(f'{scope}k', reason.key)
        self.assertEqual(('2',), reason.stated_values)
        extra_specs[f'{scope}{scope}k'] = '2'
        self.assertIsNone(refusal(extra_specs, metadata))

    def test_metadata_that_are_no_text_close_the_host(self) -> None:
        for data in ({1: '2', **_ON}, {'k': 1}, {FLAG: True}, {FLAG: []}):
            reason = refusal({'k': '1'}, {'k': '1'}, data)
            self.assertEqual(Kind.UNREADABLE, reason.kind, data)
            self.assertEqual(('a1',), reason.aggregate)
