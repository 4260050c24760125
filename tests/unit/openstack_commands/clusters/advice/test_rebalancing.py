# SPDX-License-Identifier: Apache-2.0

"""How a cluster comes to its weights, step by step."""

import dataclasses
import itertools
import unittest

import hypothesis
from hypothesis import strategies as st

import tests
from openstack_commands.clusters.advice import rebalancing
from openstack_commands.clusters.advice.rebalancing import Step
from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import NO_CAP, Region
from senlin_plugins.planning.region_state import State
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Snapshot
from testing.senlin import optimum

CASES = hypothesis.settings(max_examples=100_000 if tests.ALL else 500)


def snapshot_of(regions, current, **fields):
    """Return a cluster; the change does not matter."""
    return Snapshot(Change(growing=True, count=1), regions, current, **fields)


@st.composite
def snapshots(draw, names='abcd', largest=9):
    """Draw a cluster in which every region works."""
    regions = [
        Region(
            name,
            draw(st.sampled_from([0, 1, 50, 100, 100, 300])),
            draw(st.sampled_from([NO_CAP, NO_CAP, NO_CAP, 0, 1, 3, 5])),
        )
        for name in names[: draw(st.integers(1, len(names)))]
    ]
    counts = st.integers(0, largest)
    current = {region.name: draw(counts) for region in regions}
    if draw(st.booleans()):
        current['stray'] = draw(counts)
    return snapshot_of(regions, current)


OUT = State('out', 'unknown', dead=True)
FULL = State('full', 'refused')


@st.composite
def failing_snapshots(draw):
    """Draw a cluster with regions that fail, and with regions that closed."""
    snapshot = draw(snapshots(largest=5))
    some = st.sets(
        st.sampled_from([region.name for region in snapshot.regions])
    )
    return dataclasses.replace(
        snapshot,
        out_of_reach=draw(some),
        failing=draw(
            st.dictionaries(
                st.sampled_from([region.name for region in snapshot.regions]),
                st.sampled_from([OUT, FULL]),
            )
        ),
    ), draw(some)


def total(distribution):
    """Return the number of nodes."""
    return sum(distribution.values())


def distance(before, after):
    """Return how many nodes must move from one distribution to the other."""
    names = before.keys() | after.keys()
    return sum(abs(before.get(n, 0) - after.get(n, 0)) for n in names) // 2


class Steps(unittest.TestCase):
    def test_the_changes_of_a_step_are_all_nodes_that_come_or_go(self):
        step = Step({'a': 2, 'b': 1}, {'c': 3}, {'a': 2, 'b': 1, 'c': 0})
        self.assertEqual(6, step.changes)
        self.assertEqual(0, Step({}, {}, {'a': 1}).changes)

    def test_a_cluster_without_a_plan_has_no_steps(self):
        snapshot = snapshot_of([Region('a', 100, 1)], {'a': 1})
        self.assertEqual([], list(rebalancing.steps(snapshot, 2, 9)))
        self.assertEqual([], list(rebalancing.steps(snapshot, 1, 9)))

    def test_no_more_nodes_come_at_once_than_the_surge(self):
        regions = [Region('a'), Region('b'), Region('c')]
        snapshot = snapshot_of(regions, {'a': 9})
        steps = list(rebalancing.steps(snapshot, 9, 4))
        self.assertEqual(
            [
                Step({'b': 2, 'c': 2}, {'a': 4}, {'a': 5, 'b': 2, 'c': 2}),
                Step({'b': 1, 'c': 1}, {'a': 2}, {'a': 3, 'b': 3, 'c': 3}),
            ],
            steps,
        )

    def test_a_full_region_does_not_lose_nodes_that_are_as_good(self):
        regions = [Region('a'), Region('c')]
        current = {'a': 2, 'c': 3}
        snapshot = snapshot_of(regions, current, failing={'c': FULL})
        self.assertEqual([], list(rebalancing.steps(snapshot, 5, 1)))

    def test_a_step_is_as_large_as_the_caps_leave_room_for(self):
        snapshot = snapshot_of([Region('a'), Region('b', 100, 3)], {'a': 9})
        steps = list(rebalancing.steps(snapshot, 9, 4))
        self.assertEqual([Step({'b': 3}, {'a': 3}, {'a': 6, 'b': 3})], steps)

    def test_strays_and_nodes_above_a_cap_leave_before_the_last_resort(self):
        regions = [Region('a', 0), Region('b', 100, 1), Region('c', 100, 1)]
        snapshot = snapshot_of(regions, {'b': 2, 'c': 1, 'stray': 1})
        steps = list(rebalancing.steps(snapshot, 4, 9))
        after = {'a': 2, 'b': 1, 'c': 1, 'stray': 0}
        self.assertEqual([after], [step.after for step in steps])

    def test_nodes_leave_a_closed_region_but_do_not_come_to_it(self):
        regions = [Region('a'), Region('b'), Region('c')]
        snapshot = snapshot_of(regions, {'a': 6, 'b': 0, 'c': 0})
        (step,) = rebalancing.steps(snapshot, 6, 9, closed=['c'])
        self.assertEqual(({'b': 3}, {'a': 3}), (step.add, step.remove))
        steps = rebalancing.steps(snapshot, 6, 9, closed=['b', 'c'])
        self.assertEqual([], list(steps))

    def test_what_was_interrupted_first_comes_to_its_size(self):
        snapshot = snapshot_of([Region('a'), Region('b')], {'a': 4, 'b': 1})
        (back,) = rebalancing.steps(snapshot, 3, 0)
        self.assertEqual(Step({}, {'a': 2}, {'a': 2, 'b': 1}), back)
        up, over = rebalancing.steps(snapshot, 6, 1)
        self.assertEqual(Step({'b': 1}, {}, {'a': 4, 'b': 2}), up)
        self.assertEqual(({'b': 1}, {'a': 1}), (over.add, over.remove))

    def test_a_region_that_is_full_gets_nothing_and_keeps_its_share(self):
        regions = [Region('a'), Region('b'), Region('c')]
        snapshot = snapshot_of(
            regions,
            {'a': 6, 'b': 0, 'c': 3},
            failing={'c': FULL},
        )
        steps = list(rebalancing.steps(snapshot, 9, 9))
        self.assertEqual(
            [Step({'b': 3}, {'a': 3}, {'a': 3, 'b': 3, 'c': 3})], steps
        )
        leaving = dataclasses.replace(snapshot, failing={'c': OUT})
        *_, last = rebalancing.steps(leaving, 9, 2)
        self.assertEqual({'a': 5, 'b': 4, 'c': 0}, last.after)

    @CASES
    @hypothesis.given(snapshots(), st.integers(1, 9))
    def test_the_moves_lead_straight_to_the_optimum(self, snapshot, surge):
        current = snapshot.current
        size = total(current)
        best = apportionment.grow(snapshot.regions, {}, size)
        hypothesis.assume(not best.refusal)
        steps = list(rebalancing.steps(snapshot, size, surge))
        last = steps[-1].after if steps else current
        self.assertEqual(
            optimum.cost(
                snapshot.regions, dict.fromkeys(current, 0) | best.plan
            ),
            optimum.cost(snapshot.regions, last),
        )
        moves = [total(step.add) for step in steps]
        self.assertEqual(distance(current, last), sum(moves))
        self.assertLessEqual(sum(moves), distance(current, best.plan))
        # Each step but the last uses the whole surge.
        self.assertEqual([surge] * len(moves[:-1]), moves[:-1])

    @hypothesis.given(snapshots('abc', 3), st.integers(1, 9))
    def test_no_optimum_is_nearer(self, snapshot, surge):
        current = snapshot.current
        size = total(current)
        possible = not apportionment.grow(snapshot.regions, {}, size).refusal
        hypothesis.assume(possible)
        nothing = dict.fromkeys(current, 0)
        optima = optimum.best(snapshot.regions, nothing, size)
        moves = sum(
            total(step.add)
            for step in rebalancing.steps(snapshot, size, surge)
        )
        self.assertEqual(
            min(distance(current, counts) for counts in optima), moves
        )

    @CASES
    @hypothesis.given(failing_snapshots(), st.integers(1, 9))
    def test_each_step_is_better_and_breaks_no_rule(self, drawn, surge):
        snapshot, closed = drawn
        current = snapshot.current
        size = total(current)
        # More steps than nodes would mean that some go in a circle.
        steps = list(
            itertools.islice(
                rebalancing.steps(snapshot, size, surge, closed), size + 1
            )
        )
        self.assertLessEqual(len(steps), size)
        caps = {region.name: region.cap for region in snapshot.regions}
        avoided = {*snapshot.out_of_reach, *snapshot.failing, *closed}
        for step in steps:
            self.assertEqual(size, total(step.after))
            self.assertEqual(total(step.add), total(step.remove))
            self.assertLessEqual(total(step.add), surge)
            self.assertFalse(step.add.keys() & step.remove.keys())
            self.assertFalse(step.add.keys() & avoided)
            for name, count in step.add.items():
                now = current.get(name, 0)
                self.assertEqual(now + count, step.after[name])
                self.assertNotIn(caps[name], range(now + count))
            for name in snapshot.out_of_reach:
                self.assertEqual(current.get(name), step.after.get(name))
            self.assertLess(
                self.cost(snapshot, step.after), self.cost(snapshot, current)
            )
            current = step.after

    def cost(self, snapshot, current):
        """Score a distribution without the regions out of reach."""
        shrinking = dataclasses.replace(
            snapshot, change=Change(growing=False, count=1), current=current
        )
        return optimum.cost(shrinking.usable, shrinking.movable)
