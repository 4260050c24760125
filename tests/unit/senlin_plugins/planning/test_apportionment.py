# SPDX-License-Identifier: Apache-2.0

"""The planner against its objective, by trying all plans of small cases."""

import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning.apportionment import plan_growth, plan_shrinkage
from senlin_plugins.planning.spec import Region
from testing.senlin import optimum

WEIGHTS = st.one_of(
    st.sampled_from([0, 1, 100]), st.integers(min_value=0, max_value=40)
)
CAPS = st.integers(min_value=-1, max_value=6)
CASES = 30_000 if os.environ.get('OPP_ALL') == '1' else 300
examples = hypothesis.settings(max_examples=CASES, deadline=None)


@st.composite
def clusters(draw, max_regions=4, max_nodes=3):
    """Draw regions, current counts, and how many nodes are of no use."""
    names = draw(
        st.lists(
            st.sampled_from('abcdef'),
            min_size=1,
            max_size=max_regions,
            unique=True,
        )
    )
    regions = [Region(name, draw(WEIGHTS), draw(CAPS)) for name in names]
    names += ['stray-1', 'stray-2']
    current = {name: draw(st.integers(0, max_nodes)) for name in names}
    useless = {
        name: draw(st.integers(0, number)) for name, number in current.items()
    }
    return regions, current, useless


NO_FEASIBLE_PLAN = 'There is no feasible plan to handle all nodes.'
LARGER = clusters(max_regions=6, max_nodes=20)


def after(current, decision, sign):
    """Return the distribution after a plan.

    :param sign: 1 for growing, -1 for shrinking.
    """
    return {
        name: number + sign * decision.plan.get(name, 0)
        for name, number in current.items()
    }


class Optimum(unittest.TestCase):
    @examples
    @hypothesis.given(clusters(), st.integers(1, 9))
    def test_a_plan_is_optimal_and_refused_only_without_any_plan(
        self, cluster, count
    ):
        regions, current, useless = cluster

        def leaving(distribution):
            """Return how many nodes of no use leave."""
            return sum(
                min(number, current[name] - distribution[name])
                for name, number in useless.items()
            )

        for decision, sign in (
            (plan_growth(regions, current, count), 1),
            (plan_shrinkage(regions, current, count, useless), -1),
        ):
            best = optimum.best(regions, current, sign * count)
            if not best:
                self.assertEqual(NO_FEASIBLE_PLAN, decision.refusal)
                continue
            self.assertEqual('', decision.refusal)
            result = after(current, decision, sign)
            self.assertIn(result, best)
            if sign < 0:
                self.assertEqual(max(map(leaving, best)), leaving(result))


class Steps(unittest.TestCase):
    @hypothesis.given(LARGER, st.integers(1, 12))
    def test_one_by_one_equals_at_once(self, cluster, count):
        regions, current, useless = cluster
        growing = plan_growth(regions, current, count)
        if not growing.refusal:
            larger = current
            for _ in range(count):
                larger = after(larger, plan_growth(regions, larger, 1), 1)
            self.assertEqual(after(current, growing, 1), larger)
        shrinking = plan_shrinkage(regions, current, count, useless)
        if not shrinking.refusal:
            smaller, left = current, dict(useless)
            for _ in range(count):
                step = plan_shrinkage(regions, smaller, 1, left)
                (name,) = step.plan
                smaller = after(smaller, step, -1)
                left[name] = max(0, left[name] - 1)
            self.assertEqual(after(current, shrinking, -1), smaller)

    @hypothesis.given(LARGER, st.integers(1, 30), st.randoms())
    def test_the_order_of_the_input_does_not_matter(self, cluster, count, rng):
        regions, current, useless = cluster
        shuffled = rng.sample(regions, len(regions))
        turned = dict(rng.sample(list(current.items()), len(current)))
        self.assertEqual(
            plan_growth(regions, current, count),
            plan_growth(shuffled, turned, count),
        )
        self.assertEqual(
            plan_shrinkage(regions, current, count, useless),
            plan_shrinkage(shuffled, turned, count, useless),
        )


@ddt.ddt
class Examples(unittest.TestCase):
    @ddt.data(
        ({'a': 1, 'b': 3}, 2, {'b': 2}),
        ({'b': 1, 'a': 1}, 1, {'a': 1}),
        ({'a': 1, 'b': 3}, 1_000_000, {'a': 250_000, 'b': 750_000}),
    )
    @ddt.unpack
    def test_on_a_tie_the_heavier_region_or_the_first_name_goes_first(
        self, weights, count, plan
    ):
        regions = [Region(name, weight) for name, weight in weights.items()]
        decision = plan_growth(regions, {}, count)
        self.assertEqual(plan, decision.plan)
        self.assertEqual(sorted(plan), list(decision.plan))

    @ddt.data(
        ({}, {'b': 1}),
        ({'a': 1}, {'a': 1}),
        ({'a': 2, 'b': 1}, {'b': 1}),
    )
    @ddt.unpack
    def test_on_a_tie_the_region_with_a_node_of_no_use_loses_it(
        self, useless, plan
    ):
        regions = [Region('a'), Region('b')]
        decision = plan_shrinkage(regions, {'a': 2, 'b': 2}, 1, useless)
        self.assertEqual(plan, decision.plan)

    def test_use_decides_a_tie_before_weight(self):
        regions = [Region('a', 1), Region('b', 3)]
        decision = plan_shrinkage(regions, {'a': 1, 'b': 2}, 1, {'b': 1})
        self.assertEqual({'b': 1}, decision.plan)

    @ddt.data(plan_growth, plan_shrinkage)
    def test_no_region_is_refused_with_the_documented_reason(self, decide):
        decision = decide([], {'a': 1}, 1)
        self.assertEqual('No region is found usable.', decision.refusal)
