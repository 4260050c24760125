# SPDX-License-Identifier: Apache-2.0

"""The measure of plan quality is right where it is known by hand."""

import fractions
import random
import unittest

from benchmarks import quality
from senlin_plugins.apportionment import Region


class Plans(unittest.TestCase):
    def test_growing_keeps_within_caps(self):
        case = quality.Case(
            [Region('a', 100, 2), Region('b', 200)], {'a': 1, 'b': 0}, 2
        )
        self.assertCountEqual(
            [{'a': 1, 'b': 1}, {'b': 2}], list(quality.plans(case))
        )

    def test_shrinking_takes_no_more_than_there_is(self):
        case = quality.Case(
            [Region('a', 100, 0), Region('b', 200)], {'a': 1, 'b': 2}, -2
        )
        self.assertCountEqual(
            [{'a': 1, 'b': 1}, {'b': 2}], list(quality.plans(case))
        )

    def test_cost_is_nodes_squared_over_weight(self):
        case = quality.Case(
            [Region('a', 100), Region('b', 200)], {'a': 1, 'b': 0}, 3
        )
        self.assertEqual(
            fractions.Fraction(4, 100) + fractions.Fraction(4, 200),
            quality.cost(case, {'a': 1, 'b': 2}),
        )


class Compare(unittest.TestCase):
    def test_trying_all_plans_scores_full_and_refusing_scores_nothing(self):
        def best(regions, current, change):
            case = quality.Case(regions, current, change)
            return min(
                quality.plans(case),
                key=lambda plan: quality.cost(case, plan),
                default=None,
            )

        scores = quality.compare(
            {'best': best, 'never': lambda *_: None, 'always': lambda *_: {}},
            cases=200,
            seed=1,
        )
        for (_direction, name), score in scores.items():
            with self.subTest(name):
                self.assertGreater(score.feasible, 0)
                self.assertGreater(score.infeasible, 0)
                full = name == 'best'
                self.assertEqual(full * score.feasible, score.optimal)
                none = name == 'never'
                self.assertEqual(none * score.feasible, score.refused)
                bogus = name == 'always'
                self.assertEqual(bogus * score.infeasible, score.invented)

    def test_cases_are_the_same_for_the_same_seed(self):
        self.assertEqual(
            [quality.draw(random.Random(3)) for _ in range(2)],
            [quality.draw(random.Random(3))] * 2,
        )
