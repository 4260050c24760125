# SPDX-License-Identifier: Apache-2.0

"""What a decision says if nobody asks for more."""

import unittest

from senlin_plugins.planning.decision import Decision


class DecisionTest(unittest.TestCase):
    def test_each_new_node_has_a_region(self):
        decision = Decision({'A': 2, 'B': 0, 'C': 1})
        self.assertEqual(['A', 'A', 'C'], decision.placements)

    def test_an_empty_decision_changes_nothing(self):
        decision = Decision()
        self.assertEqual(({}, ()), (decision.plan, decision.candidates))
        self.assertEqual(({}, {}), (decision.shortage, decision.regions))
        self.assertEqual('', decision.refusal)
        self.assertEqual([], decision.placements)
