# SPDX-License-Identifier: Apache-2.0

"""What the region placement policy decides about a cluster."""

import collections
import dataclasses
import datetime
import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import NO_FEASIBLE_PLAN
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.plan import (
    Snapshot,
    distribution,
    plan_change,
    plan_recovery,
)
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region

CASES = 100_000 if os.environ.get('OPP_ALL') == '1' else 300
NAMES = 'ABCDE'
CREATED = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
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
GONE = st.sets(st.sampled_from(NAMES))
FEW = st.integers(1, 4)
many = hypothesis.settings(max_examples=CASES, deadline=None)


def snapshot(regions, nodes, gone, change):
    """Return a cluster."""
    return Snapshot(change, regions, distribution(nodes), gone, nodes)


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
        decision = plan_change(snapshot)
        hypothesis.assume(not decision.refusal)
        self.assertEqual(set(), snapshot.out_of_reach & decision.plan.keys())
        self.assertEqual(snapshot.change.count, sum(decision.plan.values()))
        if snapshot.change.growing:
            self.assertEqual((), decision.candidates)
            regions = [*collections.Counter(decision.plan).elements()]
        else:
            region_of = {node.id: node.region for node in snapshot.nodes}
            regions = [region_of[node_id] for node_id in decision.candidates]
        self.assertEqual(decision.plan, collections.Counter(regions))


class OutOfReach(unittest.TestCase):
    @many
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_nothing_grows_there(self, regions, nodes, gone, count):
        cluster = snapshot(regions, nodes, gone, Change(True, count))
        decision = plan_change(cluster)
        sound = [region for region in regions if region.name not in gone]
        among_sound = apportionment.grow(sound, cluster.current, count)
        self.assertEqual(among_sound.plan, decision.plan)
        self.assertEqual(among_sound.refusal, decision.refusal)

    @many
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_no_node_leaves_there_and_strays_leave_first(
        self, regions, nodes, gone, count
    ):
        change = Change(False, min(count, len(nodes)))
        decision = plan_change(snapshot(regions, nodes, gone, change))
        stay = {region.name for region in regions} - gone
        movable = [node for node in nodes if node.region not in gone]
        if not stay:
            self.assertEqual(apportionment.NO_USABLE_REGION, decision.refusal)
            return
        if change.count > len(movable):
            self.assertEqual(NO_FEASIBLE_PLAN, decision.refusal)
            return
        self.assertEqual('', decision.refusal)
        self.assertFalse(decision.plan.keys() & gone)
        out = sum(node.region not in stay for node in movable)
        taken = sum(n for name, n in decision.plan.items() if name not in stay)
        self.assertEqual(min(out, change.count), taken)

    @many
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_as_many_nodes_get_a_region_as_there_is_room_for(
        self, regions, nodes, gone, count
    ):
        new = [Node(f'new-{number}', NO_REGION) for number in range(count)]
        cluster = snapshot(regions, [*nodes, *new], gone, Change(True, 0))
        decision = plan_recovery(cluster)
        self.assertEqual({}, decision.plan)
        placed = decision.regions
        self.assertEqual([node.id for node in new][: len(placed)], [*placed])
        self.assertEqual(bool(decision.refusal), len(placed) < count)
        # Each comes where it would if they were planned together.
        together = snapshot(regions, nodes, gone, Change(True, len(placed)))
        plan = plan_change(together).plan if placed else {}
        self.assertEqual(plan, collections.Counter(placed.values()))
        if decision.refusal:
            one_more = dataclasses.replace(
                together.after(plan), change=Change(True, 1)
            )
            self.assertTrue(plan_change(one_more).refusal)


class Shrink(unittest.TestCase):
    def test_the_nodes_of_the_plan_leave(self):
        nodes = [Node('1', 'A'), Node('2', 'B'), Node('3', 'B')]
        cluster = Snapshot(
            Change(False, 2),
            [Region('A'), Region('B')],
            current=distribution(nodes),
            nodes=nodes,
        )
        decision = plan_change(cluster)
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
        decision = plan_change(cluster)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)
        self.assertEqual((), decision.candidates)


class Ties(unittest.TestCase):
    """Equal regions: those lose nodes that have some of no use."""

    def leaving(self, regions, nodes, count):
        """Return the plan of a scale-in."""
        cluster = Snapshot(
            Change(False, count), regions, distribution(nodes), (), nodes
        )
        return plan_change(cluster)

    @hypothesis.given(st.integers(1, 4), st.sets(st.sampled_from('ABCD')))
    def test_useless_nodes_leave_before_healthy_ones(self, count, broken):
        nodes = []
        for name in 'ABCD':
            status = 'ERROR' if name in broken else 'ACTIVE'
            nodes.append(Node(name, name, None, status, created_at=CREATED))
        decision = self.leaving([*map(Region, 'ABCD')], nodes, count)
        expected = [*sorted(broken, reverse=True)]
        expected += [name for name in 'DCBA' if name not in broken]
        self.assertEqual({*expected[:count]}, {*decision.candidates})

    def test_a_useless_node_that_leaves_anyway_is_not_counted_again(self):
        nodes = [
            Node('a1', 'A', None, 'ERROR', created_at=CREATED),
            Node('a2', 'A', created_at=CREATED),
            Node('b1', 'B', created_at=CREATED),
        ]
        decision = self.leaving([Region('A'), Region('B')], nodes, 2)
        self.assertEqual({'A': 1, 'B': 1}, decision.plan)

    def test_a_better_distribution_matters_more(self):
        nodes = [
            Node('a1', 'A', None, 'ERROR', created_at=CREATED),
            Node('b1', 'B', created_at=CREATED),
            Node('b2', 'B', created_at=CREATED),
        ]
        decision = self.leaving([Region('A'), Region('B')], nodes, 1)
        self.assertEqual({'B': 1}, decision.plan)


class Recover(unittest.TestCase):
    """A cluster with a node that waits for a region."""

    NODES = (
        Node('a1', 'A', position=1),
        Node('a2', 'A', position=2),
        Node('b1', 'B', position=3),
        Node('new', NO_REGION, position=4),
    )

    def cluster(self, regions, missing=0):
        """Return a cluster with these nodes."""
        return Snapshot(
            Change(True, missing),
            regions,
            distribution(self.NODES),
            nodes=self.NODES,
        )

    def test_new_nodes_come_before_those_missing(self):
        regions = [Region('A'), Region('B'), Region('C', 100, 1)]
        decision = plan_recovery(self.cluster(regions, missing=1))
        self.assertEqual({'new': 'C'}, decision.regions)
        self.assertEqual({'B': 1}, decision.plan)

    def test_nothing_is_planned_if_nothing_is_missing(self):
        decision = plan_recovery(self.cluster([Region('A'), Region('B')]))
        self.assertEqual({'new': 'B'}, decision.regions)
        self.assertEqual(({}, ''), (decision.plan, decision.refusal))

    def test_a_new_node_without_a_place_is_refused(self):
        cluster = self.cluster([Region('A', 100, 2), Region('B', 100, 1)])
        decision = plan_recovery(cluster)
        self.assertEqual({}, decision.regions)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)

    def test_missing_nodes_without_a_place_are_refused(self):
        cluster = self.cluster(
            [Region('A', 100, 2), Region('B', 100, 2)], missing=1
        )
        decision = plan_recovery(cluster)
        self.assertEqual({'new': 'B'}, decision.regions)
        self.assertEqual(apportionment.NO_FEASIBLE_PLAN, decision.refusal)


class Distribution(unittest.TestCase):
    def test_a_node_without_a_region_gets_in_nobodys_way_and_leaves_first(
        self,
    ):
        nodes = [Node('a', 'A'), Node('b', NO_REGION), Node('c', 'A')]
        current = distribution(nodes)
        regions = [Region('A', cap=3)]
        grows = Snapshot(Change(True, 1), regions, current, (), nodes)
        self.assertEqual({'A': 1}, plan_change(grows).plan)
        shrinks = Snapshot(Change(False, 1), regions, current, (), nodes)
        self.assertEqual(('b',), plan_change(shrinks).candidates)


A, B, C = Region('A'), Region('B'), Region('C')


@ddt.ddt
class UsableTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        # (growing, out of reach, usable)
        (True, (), [A, B, C]),
        (True, ('A',), [B, C]),
        (True, ('A', 'B', 'C'), []),
        (False, (), [A, B, C]),
        (False, ('A',), [B, C]),
    )
    def test_regions_that_hold_nodes_afterwards(
        self, growing, out_of_reach, usable
    ):
        cluster = Snapshot(
            Change(growing, 1),
            [A, B, C],
            current={},
            out_of_reach=out_of_reach,
        )
        self.assertEqual(usable, cluster.usable)


class SnapshotTest(unittest.TestCase):
    CLUSTER = Snapshot(Change(True, 1), [A, B], {'A': 2, 'stray': 1})

    def test_nodes_out_of_reach_do_not_move(self):
        cluster = Snapshot(
            Change(True, 1),
            [A, B],
            current={'A': 2, 'B': 3, 'stray': 1},
            out_of_reach=('B', 'stray'),
        )
        self.assertEqual({'A': 2}, cluster.movable)

    def test_nodes_come_to_regions_that_had_none_too(self):
        after = self.CLUSTER.after({'A': 3, 'B': 1})
        self.assertEqual({'A': 5, 'B': 1, 'stray': 1}, after.current)
        self.assertEqual({'A': 2, 'stray': 1}, self.CLUSTER.current)

    def test_nodes_go(self):
        leaving = Snapshot(Change(False, 1), [A, B], {'A': 2, 'stray': 1})
        after = leaving.after({'A': 1, 'stray': 1})
        self.assertEqual({'A': 1, 'stray': 0}, after.current)

    def test_nothing_is_out_of_reach_unless_it_is_said(self):
        self.assertEqual((), self.CLUSTER.nodes)
        self.assertEqual((), self.CLUSTER.out_of_reach)

    def test_a_node_is_healthy_and_stands_before_the_first_place(self):
        node = Node('id')
        self.assertIs(False, node.tainted)
        self.assertEqual(-1, node.position)
        self.assertEqual(0, node.lot)

    def test_nodes_are_counted_by_region(self):
        nodes = [Node('1', 'A'), Node('2', 'B'), Node('3', 'A')]
        self.assertEqual({'A': 2, 'B': 1}, distribution(nodes))


class DecisionTest(unittest.TestCase):
    def test_an_empty_decision_changes_nothing(self):
        decision = Decision()
        self.assertEqual(({}, ()), (decision.plan, decision.candidates))
        self.assertEqual(({}, {}), (decision.shortage, decision.regions))
        self.assertEqual('', decision.refusal)
