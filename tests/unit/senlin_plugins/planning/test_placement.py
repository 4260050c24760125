# SPDX-License-Identifier: Apache-2.0

"""What the region placement policy decides about a cluster."""

import collections
import os
import unittest

import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import (
    NO_FEASIBLE_PLAN,
    Region,
)
from senlin_plugins.planning.placement import place, recover, relocate
from senlin_plugins.planning.region_state import State
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    NO_REGION,
    Node,
    Snapshot,
    distribution,
)

CASES = 100_000 if os.environ.get('OPP_ALL') == '1' else 300
NAMES = 'ABCDE'
REGIONS = st.lists(
    st.builds(
        Region, st.sampled_from(NAMES), st.integers(0, 5), st.integers(-1, 6)
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda region: region.name,
)
NODES = st.lists(st.sampled_from(NAMES), max_size=12).map(
    lambda names: [
        Node(str(i), name, position=i) for i, name in enumerate(names)
    ]
)
STATES = st.builds(
    State,
    st.sampled_from(['silent', 'out', 'full']),
    st.just('unknown'),
    dead=st.booleans(),
)
FAILING = st.dictionaries(st.sampled_from(NAMES), STATES)
FEW = st.integers(1, 4)
many = hypothesis.settings(max_examples=CASES, deadline=None)


def snapshot(regions, nodes, fails, change):
    """Return a cluster."""
    current = distribution(nodes)
    return Snapshot(change, regions, current, (), nodes, fails)


@st.composite
def snapshots(draw):
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
    change = Change(draw(st.booleans()), draw(st.integers(1, 8)))
    gone = draw(st.sets(st.sampled_from(names)))
    nodes = [
        Node(f'{name}-{i}', name)
        for name, count in current.items()
        for i in range(count)
    ]
    return Snapshot(change, regions, current, gone, nodes)


class Place(unittest.TestCase):
    @hypothesis.given(snapshots())
    def test_placements_or_candidates_follow_a_plan_within_reach(
        self, snapshot
    ):
        decision = place(snapshot)
        hypothesis.assume(not decision.refusal)
        self.assertEqual(set(), snapshot.out_of_reach & decision.plan.keys())
        self.assertEqual(snapshot.change.count, sum(decision.plan.values()))
        if snapshot.change.growing:
            self.assertEqual((), decision.candidates)
            regions = decision.placements
        else:
            region_of = {node.id: node.region for node in snapshot.nodes}
            regions = [region_of[node_id] for node_id in decision.candidates]
        self.assertEqual(decision.plan, collections.Counter(regions))


class FailingRegions(unittest.TestCase):
    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_nothing_grows_where_it_fails(self, regions, nodes, fails, count):
        cluster = snapshot(regions, nodes, fails, Change(True, count))
        decision = place(cluster)
        sound = [region for region in regions if region.name not in fails]
        among_sound = apportionment.grow(sound, cluster.current, count)
        self.assertEqual(among_sound.plan, decision.plan)
        self.assertEqual(among_sound.refusal, decision.refusal)

    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_every_node_that_is_given_up_goes_first(
        self, regions, nodes, fails, count
    ):
        change = Change(False, min(count, len(nodes)))
        cluster = snapshot(regions, nodes, fails, change)
        decision = place(cluster)
        named = {region.name for region in regions}
        gone = {name for name, state in fails.items() if state.is_dead}
        # Nobody can delete these strays, and they are not given up yet.
        waiting = {name for name, state in fails.items() if state.dead}
        waiting -= gone | named
        movable = [node for node in nodes if node.region not in waiting]
        if change.count > len(movable):
            self.assertEqual(NO_FEASIBLE_PLAN, decision.refusal)
            return
        self.assertEqual('', decision.refusal)
        self.assertFalse(decision.plan.keys() & waiting)
        # The others are as good as those of other regions.
        stay = named - gone
        if stay:
            out = sum(node.region not in stay for node in movable)
            taken = sum(
                n for name, n in decision.plan.items() if name not in stay
            )
            self.assertEqual(min(out, change.count), taken)

    @many
    @hypothesis.given(REGIONS, NODES, FAILING)
    def test_as_many_nodes_move_as_there_is_room_for(
        self, regions, nodes, fails
    ):
        lost = [node.id for node in nodes if node.region in fails]
        cluster = snapshot(regions, nodes, fails, Change(True, 0))
        moves, stuck, after = relocate(cluster, lost)
        self.assertEqual(lost, [*moves, *stuck])
        self.assertFalse({*moves.values()} & {*fails})
        self.assertEqual(len(nodes), sum(after.current.values()))
        before = collections.Counter(node.region for node in nodes)
        room = 0
        for region in regions:
            now = after.current.get(region.name, 0)
            if region.cap >= 0 and now > before[region.name]:
                self.assertLessEqual(now, region.cap)
            if region.name not in fails:
                room += region.cap < 0 or region.cap > now
        # Nobody stays who would have a place.
        self.assertFalse(stuck and room)
        # Each comes where it would if they were planned together.
        rest = [node for node in nodes if node.id not in lost]
        together = snapshot(regions, rest, fails, Change(True, len(moves)))
        plan = place(together).plan if moves else {}
        self.assertEqual(plan, collections.Counter(moves.values()))


class Grow(unittest.TestCase):
    FULL = State('full', 'refused', due='then')

    def test_a_cluster_grows_in_the_other_regions(self):
        cluster = Snapshot(
            Change(True, 2),
            [Region('A'), Region('B')],
            current={},
            failing={'A': self.FULL},
        )
        self.assertEqual({'B': 2}, place(cluster).plan)


class Shrink(unittest.TestCase):
    def test_the_nodes_of_the_plan_leave(self):
        nodes = [Node('1', 'A'), Node('2', 'B'), Node('3', 'B')]
        cluster = Snapshot(
            Change(False, 2),
            [Region('A'), Region('B')],
            current=distribution(nodes),
            nodes=nodes,
        )
        decision = place(cluster)
        self.assertEqual({'B': 2}, decision.plan)
        self.assertEqual({'2', '3'}, set(decision.candidates))

    def test_more_nodes_than_there_are_cannot_leave(self):
        nodes = [Node('1', 'A')]
        cluster = Snapshot(
            Change(False, 2),
            [Region('A')],
            current=distribution(nodes),
            nodes=nodes,
        )
        decision = place(cluster)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)
        self.assertEqual((), decision.candidates)


class Recover(unittest.TestCase):
    """A cluster whose nodes wait for a region, or have lost theirs."""

    NODES = (
        Node('a1', 'A', position=1),
        Node('a2', 'A', position=2),
        Node('b1', 'B', position=3),
        Node('new', NO_REGION, position=4),
    )

    def cluster(self, regions, missing=0, failing=()):
        """Return a cluster with these nodes; some regions are full."""
        return Snapshot(
            Change(True, missing),
            regions,
            distribution(self.NODES),
            nodes=self.NODES,
            failing=dict.fromkeys(failing, State('full', 'refused')),
        )

    def test_new_nodes_come_before_those_that_move_and_those_missing(self):
        regions = [Region('A'), Region('B'), Region('C', 100, 1)]
        cluster = self.cluster(regions, missing=1, failing=['A'])
        decision = recover(cluster, ['a1'])
        self.assertEqual({'new': 'C', 'a1': 'B'}, decision.moves)
        self.assertEqual(['new', 'a1'], list(decision.moves))
        self.assertEqual([], decision.stuck)
        self.assertEqual({'B': 1}, decision.plan)

    def test_nothing_is_planned_if_nothing_is_missing(self):
        decision = recover(self.cluster([Region('A'), Region('B')]), ())
        self.assertEqual({'new': 'B'}, decision.moves)
        self.assertEqual(({}, ''), (decision.plan, decision.refusal))

    def test_a_node_that_moves_may_stay_for_want_of_a_place(self):
        regions = [Region('A'), Region('B', 100, 2)]
        cluster = self.cluster(regions, failing=['A'])
        decision = recover(cluster, ['a2', 'a1'])
        self.assertEqual({'new': 'B'}, decision.moves)
        self.assertEqual(['a2', 'a1'], decision.stuck)
        self.assertEqual('', decision.refusal)

    def test_a_new_node_without_a_place_is_refused(self):
        cluster = self.cluster([Region('A', 100, 2), Region('B', 100, 1)])
        decision = recover(cluster, ())
        self.assertEqual(['new'], decision.stuck)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)

    def test_missing_nodes_without_a_place_are_refused(self):
        cluster = self.cluster(
            [Region('A', 100, 2), Region('B', 100, 2)], missing=1
        )
        decision = recover(cluster, ())
        self.assertEqual({'new': 'B'}, decision.moves)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)

    def test_nodes_that_stay_go_on_to_count_where_they_are(self):
        regions = [Region('A'), Region('B', 100, 2)]
        cluster = self.cluster(regions, missing=7, failing=['A'])
        moves, stuck, after = relocate(cluster, ['a1', 'a2', 'new'])
        self.assertEqual({'a1': 'B'}, moves)
        self.assertEqual(['a2', 'new'], stuck)
        self.assertEqual({'A': 1, 'B': 2, NO_REGION: 1}, after.current)
        self.assertEqual(Change(True, 7), after.change)


class Distribution(unittest.TestCase):
    def test_a_node_without_a_region_gets_in_nobodys_way_and_leaves_first(
        self,
    ):
        nodes = [Node('a', 'A'), Node('b', NO_REGION), Node('c', 'A')]
        current = distribution(nodes)
        regions = [Region('A', cap=3)]
        grows = Snapshot(Change(True, 1), regions, current, (), nodes)
        self.assertEqual({'A': 1}, place(grows).plan)
        shrinks = Snapshot(Change(False, 1), regions, current, (), nodes)
        self.assertEqual(('b',), place(shrinks).candidates)
