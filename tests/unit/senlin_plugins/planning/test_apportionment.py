# SPDX-License-Identifier: Apache-2.0

"""The planner against its objective, by trying all plans of small cases."""

import itertools
import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment, spec, values
from senlin_plugins.planning.spec import Region
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


CASES = 30_000 if os.environ.get('OPP_ALL') == '1' else 100
examples = hypothesis.settings(max_examples=CASES, deadline=None)
#: What grows and what shrinks a cluster.
WAYS = (apportionment.grow, 1), (apportionment.shrink, -1)
MANY = cases(max_regions=6, max_nodes=20, strays=True)


@st.composite
def shrinking(draw, max_regions=4, max_nodes=3):
    """Draw (regions, current counts, nodes of no use, nodes to remove)."""
    regions, current = draw(cases(max_regions, max_nodes, strays=True))
    useless = {
        name: draw(st.integers(0, number)) for name, number in current.items()
    }
    return regions, current, useless, draw(st.integers(1, 9))


class Useless(unittest.TestCase):
    """A cluster with nodes of no use shrinks."""

    @examples
    @hypothesis.given(shrinking())
    def test_as_many_leave_as_a_best_distribution_allows(self, case):
        regions, current, useless, count = case
        outcome = apportionment.shrink(regions, current, count, useless)
        best = optimum.best(regions, current, -count)
        self.assertEqual(bool(best), not outcome.refusal)
        if not best:
            return
        smaller = after(current, outcome, -1)
        self.assertIn(smaller, best)

        def leaving(distribution):
            return sum(
                min(number, current[name] - distribution[name])
                for name, number in useless.items()
            )

        self.assertEqual(max(map(leaving, best)), leaving(smaller))

    @hypothesis.given(shrinking(6, 20))
    def test_one_by_one_equals_at_once(self, case):
        regions, current, useless, count = case
        at_once = apportionment.shrink(regions, current, count, useless)
        hypothesis.assume(not at_once.refusal)
        smaller, left = dict(current), dict(useless)
        for _ in range(count):
            step = apportionment.shrink(regions, smaller, 1, left)
            (name,) = step.plan
            smaller[name] -= 1
            left[name] = max(0, left[name] - 1)
        self.assertEqual(after(current, at_once, -1), smaller)


class BothWays(unittest.TestCase):
    @examples
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
                step = decide(regions, step_by_step, 1)
                step_by_step = after(step_by_step, step, sign)
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
        st.dictionaries(
            st.sampled_from('abcdefghijklm'),
            st.tuples(
                st.integers(0, 10**6),
                st.one_of(st.just(-1), st.integers(0, 10**5)),
                st.integers(0, 10**5),
            ),
            min_size=3,
        ),
        st.integers(0, 3),
        st.integers(1, 10**6),
    )
    def test_no_node_would_be_better_elsewhere(self, drawn, strays, count):
        regions = [Region(name, *rest[:2]) for name, rest in drawn.items()]
        current = {name: now for name, (*_, now) in drawn.items()}
        caps = {'stray': 0} | {
            name: cap for name, (_, cap, _) in drawn.items()
        }
        current['stray'] = strays
        for decide, sign in WAYS:
            # A cluster can lose only what it has.
            some = count if sign > 0 else count % (sum(current.values()) + 1)
            outcome = decide(regions, current, some)
            if outcome.refusal:
                continue
            self.assertEqual(some, sum(outcome.plan.values()))
            new = after(current, outcome, sign)
            least = optimum.cost(regions, new)
            for name, other in itertools.product(outcome.plan, current):
                now, cap = new[other], caps[other]
                if now > 0 if sign < 0 else not 0 <= cap <= now:
                    changed = new | {other: now + sign}
                    changed[name] -= sign
                    cost = optimum.cost(regions, changed)
                    self.assertLessEqual(least, cost)


@ddt.ddt
class FindProblemTest(unittest.TestCase):
    def test_a_region_has_weight_100_and_no_cap_by_default(self):
        region = Region('a')
        self.assertEqual((100, -1), (region.weight, region.cap))

    @ddt.data(
        [Region('a')],
        [Region('a'), Region('b')],
        [Region('a', 0, 0), Region('b', 10**6, 10**6)],
    )
    def test_regions_within_the_limits_are_accepted(self, regions):
        self.assertIsNone(spec.check_regions(regions))

    @ddt.unpack
    @ddt.data(
        ([], "'regions' is empty: name at least one region."),
        (
            [Region('a'), Region('')],
            "'name' of a region is empty: give the region's name.",
        ),
        (
            [Region('b'), Region('a'), Region('a')],
            "'name' of a region is 'a' 2 times: name each region once.",
        ),
        (
            [Region('a', -1)],
            "'weight' of region 'a' is '-1': it must be from 0 to 1000000.",
        ),
        (
            [Region('a', 10**6 + 1)],
            "'weight' of region 'a' is '1000001': it must be from 0 to "
            '1000000.',
        ),
        (
            [Region('a'), Region('b', 1, -2)],
            "'cap' of region 'b' is '-2': it must be from 0 to 1000000, or "
            '-1 for no cap.',
        ),
        (
            [Region('a', 1, 10**6 + 1)],
            "'cap' of region 'a' is '1000001': it must be from 0 to 1000000, "
            'or -1 for no cap.',
        ),
        (
            [Region('a', 10**30)],
            f"'weight' of region 'a' is '1{'0' * 19}': it must be from 0 to "
            '1000000.',
        ),
    )
    def test_what_is_wrong_is_named_with_what_is_accepted(
        self, regions, problem
    ):
        with self.assertRaises(values.WrongValue) as caught:
            spec.check_regions(regions)
        self.assertEqual(problem, str(caught.exception))


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

    def test_a_plan_names_the_regions_in_order(self):
        regions = [Region('b'), Region('c'), Region('a')]
        plan = apportionment.grow(regions, {}, 3).plan
        self.assertEqual(['a', 'b', 'c'], list(plan))

    def test_a_region_without_nodes_has_none_to_give(self):
        regions = [Region('a'), Region('b'), Region('c', 0), Region('d', 1, 0)]
        plan = apportionment.shrink(regions, {'b': 2}, 1).plan
        self.assertEqual({'b': 1}, plan)
        plan = apportionment.shrink(regions, {'b': 2}, 2).plan
        self.assertEqual({'b': 2}, plan)

    @ddt.unpack
    @ddt.data(
        # Strays, nodes above a cap, regions of weight 0, the others.
        (1, {'stray': 1}),
        (2, {'stray': 2}),
        (3, {'stray': 2, 'full': 1}),
        (5, {'stray': 2, 'full': 2, 'last': 1}),
        (6, {'stray': 2, 'full': 2, 'last': 1, 'a': 1}),
        (9, {'stray': 2, 'full': 3, 'last': 1, 'a': 3}),
    )
    def test_the_worst_nodes_leave_first(self, count, plan):
        regions = [Region('a'), Region('full', 100, 1), Region('last', 0)]
        current = {'a': 3, 'full': 3, 'last': 1, 'stray': 2}
        self.assertEqual(
            plan, apportionment.shrink(regions, current, count).plan
        )

    @ddt.unpack
    @ddt.data(
        (1, {'a': 1}),
        (3, {'a': 2, 'small': 1}),
        (4, {'a': 3, 'small': 1}),
        (5, {'a': 3, 'last': 1, 'small': 1}),
    )
    def test_a_region_of_weight_0_is_the_last_resort(self, count, plan):
        regions = [
            Region('a', 100, 3),
            Region('small', 50, 1),
            Region('last', 0),
            Region('none', 100, 0),
        ]
        self.assertEqual(plan, apportionment.grow(regions, {}, count).plan)

    @ddt.data(apportionment.grow, apportionment.shrink)
    def test_no_region_is_refused_with_the_documented_reason(self, decide):
        outcome = decide([], {'a': 1}, 1)
        self.assertTrue(outcome.refusal)
        self.assertEqual('No region is found usable.', outcome.refusal)
