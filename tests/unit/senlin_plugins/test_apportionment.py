# SPDX-License-Identifier: Apache-2.0

"""The planner against its objective, by trying all plans of small cases."""

import fractions
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import Region
from testing.senlin import optimum

WEIGHTS = st.one_of(
    st.sampled_from([0, 1, 100]), st.integers(min_value=0, max_value=40)
)
CAPS = st.integers(min_value=-1, max_value=6)


@st.composite
def cases(draw, max_regions=4, max_nodes=4, strays=False):
    """Draw (regions, current counts)."""
    names = draw(
        st.lists(
            st.sampled_from('abcdef'),
            min_size=1,
            max_size=max_regions,
            unique=True,
        )
    )
    regions = [Region(name, draw(WEIGHTS), draw(CAPS)) for name in names]
    present = [*names, 'stray-1', 'stray-2'] if strays else names
    counts = st.integers(min_value=0, max_value=max_nodes)
    return regions, {name: draw(counts) for name in present}


def after(current, outcome, sign=1):
    """Return the distribution after a plan.

    :param sign: 1 for growing, -1 for shrinking.
    """
    plan = outcome.plan
    return {name: n + sign * plan.get(name, 0) for name, n in current.items()}


#: What grows and what shrinks a cluster.
WAYS = (apportionment.grow, 1), (apportionment.shrink, -1)
MANY = cases(max_regions=6, max_nodes=20, strays=True)


class BothWays(unittest.TestCase):
    @hypothesis.given(cases(4, 3, strays=True), st.integers(1, 9))
    def test_is_optimal_and_refuses_only_without_any_plan(self, case, count):
        regions, current = case
        for decide, sign in WAYS:
            outcome = decide(regions, current, count)
            best = optimum.best(regions, current, sign * count)
            self.assertEqual(bool(best), not outcome.refusal)
            if best:
                self.assertIn(after(current, outcome, sign), best)
            else:
                self.assertEqual(
                    'There is no feasible plan to handle all nodes.',
                    outcome.refusal,
                )

    @hypothesis.given(MANY, st.integers(1, 12))
    def test_one_by_one_equals_at_once(self, case, count):
        regions, current = case
        for decide, sign in WAYS:
            at_once = decide(regions, current, count)
            if at_once.refusal:
                continue
            step_by_step = current
            for _ in range(count):
                one = decide(regions, step_by_step, 1)
                step_by_step = after(step_by_step, one, sign)
            self.assertEqual(after(current, at_once, sign), step_by_step)

    @hypothesis.given(MANY, st.integers(1, 30), st.randoms())
    def test_the_order_of_the_input_does_not_matter(self, case, count, rng):
        regions, current = case
        shuffled = rng.sample(regions, len(regions))
        turned = dict(rng.sample(list(current.items()), len(current)))
        for decide, _ in WAYS:
            self.assertEqual(
                decide(regions, current, count),
                decide(shuffled, turned, count),
            )

    @hypothesis.given(cases(6, 40, strays=True), st.integers(0, 80))
    def test_the_sum_is_right_and_no_bound_is_passed(self, case, count):
        regions, current = case
        caps = {region.name: region.cap for region in regions}
        for decide, sign in WAYS:
            outcome = decide(regions, current, count)
            if not outcome.refusal:
                self.assertEqual(count, sum(outcome.plan.values()))
            for name, changed in outcome.plan.items():
                self.assertGreater(changed, 0)
                if sign < 0:
                    self.assertLessEqual(changed, current[name])
                elif caps[name] >= 0:
                    self.assertLessEqual(current[name] + changed, caps[name])

    @hypothesis.given(cases(5, 0), st.integers(1, 40), st.data())
    def test_shrinking_undoes_growing(self, case, size, data):
        regions, nothing = case
        outcome = apportionment.grow(regions, nothing, size)
        hypothesis.assume(not outcome.refusal)
        back = data.draw(st.integers(min_value=0, max_value=size))
        smaller = apportionment.grow(regions, nothing, size - back)
        larger = after(nothing, outcome)
        shrunk = apportionment.shrink(regions, larger, back)
        self.assertEqual(after(nothing, smaller), after(larger, shrunk, -1))


class LargeClusters(unittest.TestCase):
    """What brute force cannot try."""

    @hypothesis.given(
        st.lists(
            st.tuples(
                st.integers(1, 10**6),
                st.one_of(st.just(-1), st.integers(0, 10**5)),
                st.integers(0, 10**5),
            ),
            min_size=1,
            max_size=60,
        ),
        st.integers(1, 10**6),
    )
    def test_no_node_could_be_moved_to_a_better_place(self, drawn, count):
        # Optimal: no added node costs more than the next one elsewhere.
        regions = {
            f'r{i}': Region(f'r{i}', weight, cap)
            for i, (weight, cap, _) in enumerate(drawn)
        }
        current = {f'r{i}': now for i, (_, _, now) in enumerate(drawn)}
        outcome = apportionment.grow(list(regions.values()), current, count)
        hypothesis.assume(not outcome.refusal)
        self.assertEqual(count, sum(outcome.plan.values()))
        new = after(current, outcome)
        dearest = max(
            fractions.Fraction(2 * new[name] - 1, regions[name].weight)
            for name in outcome.plan
        )
        cheapest = min(
            (
                fractions.Fraction(2 * new[name] + 1, region.weight)
                for name, region in regions.items()
                if region.cap < 0 or new[name] < region.cap
            ),
            default=dearest,
        )
        self.assertLessEqual(dearest, cheapest)

    @hypothesis.given(
        st.lists(
            st.tuples(st.integers(1, 10**6), st.integers(0, 10**5)),
            min_size=1,
            max_size=60,
        ),
        st.floats(0, 1),
    )
    def test_no_other_node_would_have_been_a_better_one(self, drawn, share):
        # Optimal: what is removed costs at least as much as what stays.
        weights = {f'r{i}': weight for i, (weight, _) in enumerate(drawn)}
        current = {f'r{i}': now for i, (_, now) in enumerate(drawn)}
        regions = [Region(name, weight) for name, weight in weights.items()]
        count = int(share * sum(current.values()))
        hypothesis.assume(count)
        outcome = apportionment.shrink(regions, current, count)
        new = after(current, outcome, -1)
        cheapest = min(
            fractions.Fraction(2 * new[name] + 1, weights[name])
            for name in outcome.plan
        )
        dearest = max(
            fractions.Fraction(2 * n - 1, weights[name])
            for name, n in new.items()
        )
        self.assertGreaterEqual(cheapest, dearest)

    @hypothesis.given(
        cases(6, 20),
        st.integers(0, 30),
        st.integers(1, 30),
    )
    def test_more_nodes_never_leave_a_region_fewer(self, case, count, more):
        regions, current = case
        fewer = apportionment.grow(regions, current, count)
        larger = apportionment.grow(regions, current, count + more)
        hypothesis.assume(not larger.refusal)
        new = after(current, larger)
        for name, n in after(current, fewer).items():
            self.assertLessEqual(n, new[name])

    @hypothesis.given(
        st.lists(st.integers(1, 10**30), min_size=2, max_size=6, unique=True),
        st.integers(1, 10**20),
    )
    def test_numbers_past_any_float_are_exact(self, weights, count):
        # A fair share is missed by less than one node per region.
        regions = [Region(f'r{i}', w) for i, w in enumerate(weights)]
        plan = apportionment.grow(regions, {}, count).plan
        self.assertEqual(count, sum(plan.values()))
        for region in regions:
            share = fractions.Fraction(count * region.weight, sum(weights))
            self.assertLess(
                abs(plan.get(region.name, 0) - share), len(regions)
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
        self.assertEqual(plan, apportionment.grow(regions, {}, count).plan)

    @ddt.data(apportionment.grow, apportionment.shrink)
    def test_no_region_is_refused_with_the_documented_reason(self, decide):
        outcome = decide([], {'a': 1}, 1)
        self.assertTrue(outcome.refusal)
        self.assertEqual('No region is found usable.', outcome.refusal)
