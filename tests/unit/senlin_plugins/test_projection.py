# SPDX-License-Identifier: Apache-2.0

"""What is said of a plan, and that it is the planner's own."""

import fractions
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment, projection, sizing
from senlin_plugins.planning.apportionment import NO_FEASIBLE_PLAN, Region
from senlin_plugins.planning.projection import Situation

GROW = True
SHRINK = False


@st.composite
def situations(draw):
    """Draw a cluster, with caps, weights of 0, strays and missing regions."""
    names = draw(
        st.lists(st.sampled_from('abcd'), min_size=1, max_size=4, unique=True)
    )
    regions = [
        Region(
            name,
            draw(st.sampled_from([0, 1, 50, 100, 300])),
            draw(st.integers(min_value=-1, max_value=5)),
        )
        for name in names
    ]
    counts = st.integers(min_value=0, max_value=5)
    current = {name: draw(counts) for name in (*names, 'stray')}
    gone = draw(st.sets(st.sampled_from(names)))
    return Situation(regions, current, gone)


changes = st.builds(sizing.Change, st.booleans(), st.integers(1, 8))


def shares_of(situation, growing, count):
    """Return what is said of each region, by its name."""
    change = sizing.Change(growing, count)
    outcome = situation.plan(change)
    if not outcome.feasible:
        raise AssertionError(outcome.reason)
    return {
        share.name: share
        for share in projection.explain(situation, change, outcome)
    }


class ProjectionPropertyTest(unittest.TestCase):
    @hypothesis.given(situations(), changes)
    def test_plan_is_that_of_the_planner(self, situation, change):
        # The rule of the policy: regions out of reach get nothing, and
        # their nodes stay.
        usable = [
            region
            for region in situation.regions
            if region.name not in situation.out_of_reach
        ]
        current = {
            name: count
            for name, count in situation.current.items()
            if name not in situation.out_of_reach
        }
        decide = apportionment.grow if change.growing else apportionment.shrink
        self.assertEqual(
            decide(usable, current, change.count), situation.plan(change)
        )

    @hypothesis.given(situations(), changes)
    def test_steps_end_where_the_plan_ends(self, situation, change):
        outcome = situation.plan(change)
        hypothesis.assume(outcome.feasible)
        taken = list(projection.steps(situation, change))
        self.assertEqual(change.count, len(taken))
        plan = projection.signed(outcome, change.growing)
        wanted = situation.after(plan).current
        reached = taken[-1][1].current
        names = wanted.keys() | reached.keys()
        self.assertEqual(
            {name: wanted.get(name, 0) for name in names},
            {name: reached.get(name, 0) for name in names},
        )

    @hypothesis.given(situations(), changes)
    def test_results_and_targets_add_up(self, situation, change):
        outcome = situation.plan(change)
        hypothesis.assume(outcome.feasible)
        shares = projection.explain(situation, change, outcome)
        sign = 1 if change.growing else -1
        total = sum(situation.current.values()) + sign * change.count
        self.assertEqual(total, sum(share.result for share in shares))
        if any(region.weight for region in situation.regions):
            self.assertEqual(total, sum(share.target for share in shares))
        else:
            self.assertIn(None, {share.target for share in shares})

    @hypothesis.given(situations(), changes)
    def test_every_region_that_stays_is_explained(self, situation, change):
        outcome = situation.plan(change)
        hypothesis.assume(outcome.feasible)
        for share in projection.explain(situation, change, outcome):
            if not share.change:
                self.assertTrue(share.why, share)


@ddt.ddt
class ProjectionTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        # (regions, current, out of reach, growing, count, region, why)
        (
            [Region('a', 100, 2), Region('b')],
            {'a': 1},
            (),
            GROW,
            5,
            'a',
            'its cap of 2 binds: 1 more would come here',
        ),
        (
            [Region('a', 100, 2), Region('b')],
            {'a': 4},
            (),
            GROW,
            6,
            'a',
            'past its cap of 2: keeps its nodes, gets none',
        ),
        (
            [Region('a', 0), Region('b')],
            {},
            (),
            GROW,
            1,
            'a',
            projection.LAST_RESORT,
        ),
        (
            [Region('a', 0), Region('b')],
            {'a': 1, 'b': 1},
            (),
            SHRINK,
            1,
            'a',
            projection.LEAVES_EARLY,
        ),
        (
            [Region('a'), Region('b')],
            {'c': 1},
            (),
            GROW,
            1,
            'c',
            projection.STRAY_GROWING,
        ),
        (
            [Region('a'), Region('b')],
            {'c': 1},
            (),
            SHRINK,
            1,
            'c',
            projection.STRAY_SHRINKING,
        ),
        (
            [Region('a'), Region('b')],
            {'a': 1},
            ('a',),
            GROW,
            1,
            'a',
            projection.OUT_OF_REACH,
        ),
        (
            [Region('a'), Region('b')],
            {'a': 3},
            (),
            GROW,
            1,
            'a',
            projection.HAS_ITS_SHARE,
        ),
        (
            [Region('a'), Region('b')],
            {},
            (),
            GROW,
            1,
            'b',
            projection.OTHERS_GET,
        ),
        (
            [Region('a'), Region('b')],
            {'a': 3, 'b': 1},
            (),
            SHRINK,
            1,
            'b',
            projection.BELOW_ITS_SHARE,
        ),
        (
            [Region('a'), Region('b')],
            {'a': 2, 'b': 2},
            (),
            SHRINK,
            1,
            'a',
            projection.OTHERS_GIVE,
        ),
        ([Region('a'), Region('b')], {}, (), GROW, 2, 'a', ''),
    )
    def test_a_region_is_told_what_keeps_it_from_its_share(
        self, regions, current, gone, growing, count, name, why
    ):
        situation = Situation(regions, current, gone)
        self.assertEqual(why, shares_of(situation, growing, count)[name].why)

    def test_target_is_by_weight_whatever_the_caps(self):
        situation = Situation([Region('a', 300, 1), Region('b')], {})
        shares = shares_of(situation, GROW, 6)
        self.assertEqual(fractions.Fraction(9, 2), shares['a'].target)
        self.assertEqual((1, 5), (shares['a'].result, shares['b'].result))

    @ddt.unpack
    @ddt.data(
        (
            Situation([Region('a', 1, 2), Region('b', 1, 2)], {'a': 1}),
            sizing.Change(GROW, 5),
            f'{NO_FEASIBLE_PLAN} 5 nodes are to be added, and the caps leave '
            'room for 3.',
        ),
        (
            Situation([Region('a', 1, 0)], {}),
            sizing.Change(GROW, 1),
            f'{NO_FEASIBLE_PLAN} 1 node is to be added, and the caps leave '
            'room for 0.',
        ),
        (
            Situation([Region('a'), Region('b')], {'a': 2, 'b': 4}, ('b',)),
            sizing.Change(SHRINK, 3),
            f'{NO_FEASIBLE_PLAN} 3 nodes are to be removed, and 2 can be.',
        ),
        (
            Situation([Region('a')], {'a': 2}, ('a',)),
            sizing.Change(GROW, 1),
            f'{apportionment.NO_USABLE_REGION} All regions of the policy are '
            'out of reach.',
        ),
    )
    def test_a_refusal_says_the_numbers_behind_it(
        self, situation, change, text
    ):
        outcome = situation.plan(change)
        self.assertEqual(
            text, projection.explain_refusal(situation, change, outcome)
        )
