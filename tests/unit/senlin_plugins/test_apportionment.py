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


def grown(current, outcome):
    """Return the distribution after growing."""
    return {name: n + outcome.plan.get(name, 0) for name, n in current.items()}


def shrunk(current, outcome):
    """Return the distribution after shrinking."""
    return {name: n - outcome.plan.get(name, 0) for name, n in current.items()}


class GrowProperties(unittest.TestCase):
    @hypothesis.given(cases(), st.integers(min_value=1, max_value=6))
    def test_is_optimal_and_refuses_only_without_any_plan(self, case, count):
        regions, current = case
        outcome = apportionment.grow(regions, current, count)
        best = optimum.best(regions, current, count)
        self.assertEqual(bool(best), not outcome.refusal)
        if best:
            self.assertIn(grown(current, outcome), best)
        else:
            self.assertEqual(
                'There is no feasible plan to handle all nodes.',
                outcome.refusal,
            )

    @hypothesis.given(cases(max_regions=6, max_nodes=40), st.integers(0, 60))
    def test_no_cap_is_exceeded_and_the_sum_is_right(self, case, count):
        regions, current = case
        outcome = apportionment.grow(regions, current, count)
        hypothesis.assume(not outcome.refusal)
        self.assertEqual(count, sum(outcome.plan.values()))
        for region in regions:
            added = outcome.plan.get(region.name, 0)
            self.assertGreaterEqual(added, 0)
            if added and region.cap >= 0:
                self.assertLessEqual(current[region.name] + added, region.cap)

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
        # What brute force cannot try: optimal is a plan in which no added
        # node costs more than the next one would cost elsewhere.
        regions = {
            f'r{i}': Region(f'r{i}', weight, cap)
            for i, (weight, cap, _) in enumerate(drawn)
        }
        current = {f'r{i}': now for i, (_, _, now) in enumerate(drawn)}
        outcome = apportionment.grow(list(regions.values()), current, count)
        hypothesis.assume(not outcome.refusal)
        self.assertEqual(count, sum(outcome.plan.values()))
        after = grown(current, outcome)
        dearest = max(
            fractions.Fraction(2 * after[name] - 1, regions[name].weight)
            for name in outcome.plan
        )
        cheapest = min(
            (
                fractions.Fraction(2 * after[name] + 1, region.weight)
                for name, region in regions.items()
                if region.cap < 0 or after[name] < region.cap
            ),
            default=dearest,
        )
        self.assertLessEqual(dearest, cheapest)

    @hypothesis.given(cases(max_regions=6, max_nodes=20), st.integers(1, 12))
    def test_growing_one_by_one_equals_growing_at_once(self, case, count):
        regions, current = case
        at_once = apportionment.grow(regions, current, count)
        hypothesis.assume(not at_once.refusal)
        step_by_step = current
        for _ in range(count):
            step_by_step = grown(
                step_by_step, apportionment.grow(regions, step_by_step, 1)
            )
        self.assertEqual(grown(current, at_once), step_by_step)

    @hypothesis.given(
        cases(max_regions=6, max_nodes=20), st.integers(1, 30), st.randoms()
    )
    def test_the_order_of_the_input_does_not_matter(self, case, count, rng):
        regions, current = case
        shuffled = rng.sample(regions, len(regions))
        turned = dict(rng.sample(list(current.items()), len(current)))
        self.assertEqual(
            apportionment.grow(regions, current, count),
            apportionment.grow(shuffled, turned, count),
        )

    @hypothesis.given(
        cases(max_regions=6, max_nodes=20),
        st.integers(0, 30),
        st.integers(1, 30),
    )
    def test_more_nodes_never_leave_a_region_fewer(self, case, count, more):
        regions, current = case
        fewer = apportionment.grow(regions, current, count)
        larger = apportionment.grow(regions, current, count + more)
        hypothesis.assume(not larger.refusal)
        after = grown(current, larger)
        for name, n in grown(current, fewer).items():
            self.assertLessEqual(n, after[name])

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


class ShrinkProperties(unittest.TestCase):
    @hypothesis.given(
        cases(max_regions=3, strays=True),
        st.integers(min_value=1, max_value=9),
    )
    def test_is_optimal_and_refuses_only_without_any_plan(self, case, count):
        regions, current = case
        outcome = apportionment.shrink(regions, current, count)
        best = optimum.best(regions, current, -count)
        self.assertEqual(bool(best), not outcome.refusal)
        if best:
            self.assertIn(shrunk(current, outcome), best)
        else:
            self.assertEqual(apportionment.NO_FEASIBLE_PLAN, outcome.refusal)

    @hypothesis.given(
        cases(max_regions=5, max_nodes=0), st.integers(1, 40), st.data()
    )
    def test_undoes_growing(self, case, size, data):
        regions, nothing = case
        outcome = apportionment.grow(regions, nothing, size)
        hypothesis.assume(not outcome.refusal)
        back = data.draw(st.integers(min_value=0, max_value=size))
        smaller = grown(
            nothing, apportionment.grow(regions, nothing, size - back)
        )
        larger = grown(nothing, outcome)
        self.assertEqual(
            smaller,
            shrunk(larger, apportionment.shrink(regions, larger, back)),
        )

    @hypothesis.given(
        cases(max_regions=5, max_nodes=20, strays=True), st.integers(1, 20)
    )
    def test_shrinking_one_by_one_equals_shrinking_at_once(self, case, count):
        regions, current = case
        at_once = apportionment.shrink(regions, current, count)
        hypothesis.assume(not at_once.refusal)
        step_by_step = current
        for _ in range(count):
            step_by_step = shrunk(
                step_by_step, apportionment.shrink(regions, step_by_step, 1)
            )
        self.assertEqual(shrunk(current, at_once), step_by_step)

    @hypothesis.given(
        cases(max_regions=6, max_nodes=40, strays=True), st.integers(0, 80)
    )
    def test_no_region_gives_more_than_it_has_and_the_sum_is_right(
        self, case, count
    ):
        regions, current = case
        outcome = apportionment.shrink(regions, current, count)
        hypothesis.assume(not outcome.refusal)
        self.assertEqual(count, sum(outcome.plan.values()))
        for name, removed in outcome.plan.items():
            self.assertGreater(removed, 0)
            self.assertLessEqual(removed, current[name])

    @hypothesis.given(
        st.lists(
            st.tuples(st.integers(1, 10**6), st.integers(0, 10**5)),
            min_size=1,
            max_size=60,
        ),
        st.floats(0, 1),
    )
    def test_no_other_node_would_have_been_a_better_one(self, drawn, share):
        # What brute force cannot try: optimal is a plan in which each node
        # that is removed costs at least as much as any that stays.
        weights = {f'r{i}': weight for i, (weight, _) in enumerate(drawn)}
        current = {f'r{i}': now for i, (_, now) in enumerate(drawn)}
        regions = [Region(name, weight) for name, weight in weights.items()]
        count = int(share * sum(current.values()))
        hypothesis.assume(count)
        outcome = apportionment.shrink(regions, current, count)
        after = shrunk(current, outcome)
        cheapest = min(
            fractions.Fraction(2 * after[name] + 1, weights[name])
            for name in outcome.plan
        )
        dearest = max(
            fractions.Fraction(2 * n - 1, weights[name])
            for name, n in after.items()
        )
        self.assertGreaterEqual(cheapest, dearest)

    @hypothesis.given(
        cases(max_regions=6, max_nodes=20, strays=True),
        st.integers(1, 30),
        st.randoms(),
    )
    def test_the_order_of_the_input_does_not_matter(self, case, count, rng):
        regions, current = case
        shuffled = rng.sample(regions, len(regions))
        turned = dict(rng.sample(list(current.items()), len(current)))
        self.assertEqual(
            apportionment.shrink(regions, current, count),
            apportionment.shrink(shuffled, turned, count),
        )


@ddt.ddt
class Examples(unittest.TestCase):
    @ddt.data(
        # (regions, current, count, plan)
        ('heavier region first on a tie', {'a': 1, 'b': 3}, {}, 2, {'b': 2}),
        ('first name first on a tie', {'b': 1, 'a': 1}, {}, 1, {'a': 1}),
        ('weight 0 waits', {'a': 0, 'b': 1}, {'b': 50}, 3, {'b': 3}),
        ('imbalance is evened out', {'a': 1, 'b': 1}, {'a': 5}, 3, {'b': 3}),
        (
            *('a million nodes', {'a': 1, 'b': 3}, {}, 1_000_000),
            {'a': 250_000, 'b': 750_000},
        ),
    )
    @ddt.unpack
    def test_grow(self, _why, weights, current, count, plan):
        regions = [Region(name, weight) for name, weight in weights.items()]
        self.assertEqual(
            plan, apportionment.grow(regions, current, count).plan
        )

    def test_weight_0_is_the_last_resort(self):
        regions = [Region('a', 100, 2), Region('b', 0)]
        self.assertEqual(
            {'a': 2, 'b': 3}, apportionment.grow(regions, {}, 5).plan
        )

    def test_regions_with_room_share_in_proportion(self):
        regions = [Region('a', 100, 1), Region('b', 100), Region('c', 200)]
        self.assertEqual(
            {'a': 1, 'b': 3, 'c': 6}, apportionment.grow(regions, {}, 10).plan
        )

    def test_a_region_past_its_cap_keeps_what_it_has(self):
        regions = [Region('a', 100, 2), Region('b', 100)]
        self.assertEqual(
            {'b': 4}, apportionment.grow(regions, {'a': 5}, 4).plan
        )

    @ddt.data(
        ({'a': 5, 'b': 5}, 2, {'a': 2}),
        ({'a': 5, 'b': 5}, 4, {'a': 3, 'b': 1}),
        ({'a': 5, 'b': 5, 'c': 1}, 3, {'a': 3}),
        ({'a': 5, 'b': 5, 'c': 3}, 3, {'a': 1, 'c': 2}),
        ({'a': 5, 'gone': 1}, 2, {'a': 1, 'gone': 1}),
    )
    @ddt.unpack
    def test_what_is_above_its_cap_goes_after_the_strays(
        self, current, count, plan
    ):
        regions = [Region('a', 100, 2), Region('b', 100), Region('c', 0, 1)]
        self.assertEqual(
            plan, apportionment.shrink(regions, current, count).plan
        )

    def test_strays_go_first_then_weight_0(self):
        regions = [Region('a', 100), Region('b', 0)]
        current = {'a': 3, 'b': 1, 'gone': 2}
        self.assertEqual(
            {'b': 1, 'gone': 2}, apportionment.shrink(regions, current, 3).plan
        )

    @ddt.data(apportionment.grow, apportionment.shrink)
    def test_no_region_is_refused_with_the_documented_reason(self, decide):
        outcome = decide([], {'a': 1}, 1)
        self.assertTrue(outcome.refusal)
        self.assertEqual('No region is found usable.', outcome.refusal)

    @ddt.data(
        ([], "'regions' is empty: name at least one region."),
        ([Region('')], "'name' of a region is empty: give the region's name."),
        (
            [Region('a'), Region('b'), Region('a')],
            "'name' of a region is 'a' 2 times: name each region once.",
        ),
        (
            [Region('a', -1)],
            "'weight' of region 'a' is '-1': it must be from 0 to 1000000.",
        ),
        (
            [Region('a', 1, -2)],
            "'cap' of region 'a' is '-2': it must be from 0 to 1000000, or "
            '-1 for no cap.',
        ),
        (
            [Region('a', 10**4298)],
            "'weight' of region 'a' is '10000000000000000000': it must be "
            'from 0 to 1000000.',
        ),
        (
            [Region('a', 1, 10**6 + 1)],
            "'cap' of region 'a' is '1000001': it must be from 0 to 1000000, "
            'or -1 for no cap.',
        ),
        ([Region('a', 10**6, 10**6)], ''),
        ([Region('a', 0, 0), Region('\u00fc', 1, -1)], ''),
    )
    @ddt.unpack
    def test_find_problem_names_field_and_value(self, regions, problem):
        self.assertEqual(problem, apportionment.find_problem(regions))
