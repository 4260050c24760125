# SPDX-License-Identifier: Apache-2.0

"""What the policies decide about a cluster that they have read."""

import collections
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment, decision
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.selection import Criterion
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Node, Snapshot, distribution


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
    def test_the_plan_is_that_of_the_planner(self, snapshot):
        # Regions out of reach get nothing, and their nodes stay.
        usable = [
            region
            for region in snapshot.regions
            if region.name not in snapshot.out_of_reach
        ]
        current = {
            name: count
            for name, count in snapshot.current.items()
            if name not in snapshot.out_of_reach
        }
        change = snapshot.change
        plan = apportionment.grow if change.growing else apportionment.shrink
        wanted = plan(usable, current, change.count)
        found = decision.place(snapshot)
        self.assertEqual(
            (wanted.plan, wanted.reason), (found.plan, found.refusal)
        )

    @hypothesis.given(snapshots())
    def test_placements_or_candidates_follow_the_plan(self, snapshot):
        found = decision.place(snapshot)
        hypothesis.assume(not found.refusal)
        if snapshot.change.growing:
            self.assertEqual((), found.candidates)
            regions = found.placements
        else:
            region_of = {node.id: node.region for node in snapshot.nodes}
            regions = [region_of[node_id] for node_id in found.candidates]
        self.assertEqual(found.plan, collections.Counter(regions))


class Choose(unittest.TestCase):
    NODES = (Node('a', 'A', 'X'), Node('b', 'B', 'Y'), Node('c', 'B', 'Y'))

    def chosen(self, count, **decided):
        """Return the candidates, the first of equals first."""
        return decision.choose(
            self.NODES, count, Criterion.OLDEST_FIRST, decided
        )

    def test_s6_both_spellings_of_regions_and_then_zones(self):
        self.assertEqual(('a',), self.chosen(1).candidates)
        for name, group in (('regions', 'B'), ('region', 'B'), ('zones', 'Y')):
            found = self.chosen(1, **{name: {group: 1}})
            self.assertEqual(('b',), found.candidates, name)
        found = self.chosen(1, regions={'B': 1}, zones={'X': 1})
        self.assertEqual(('b',), found.candidates)

    def test_a_shortage_is_told(self):
        found = self.chosen(2, regions={'A': 2})
        self.assertEqual(('a', 'b'), found.candidates)
        self.assertEqual({'A': 1}, found.shortage)


@ddt.ddt
class Accept(unittest.TestCase):
    def test_a_node_that_is_named_twice_leaves_once(self):
        found = decision.accept(['b', 'a', 'b'], 'abc')
        self.assertEqual(decision.Decision(candidates=('b', 'a')), found)

    @ddt.data(
        ('abc', "'candidates' is 'abc': it must be a list of node ids."),
        ([7], "'candidates' is '[7]': it must be a list of node ids."),
        (['a', 'x', 'y'], "'candidates' 'x, y' are not in the cluster."),
    )
    @ddt.unpack
    def test_what_cannot_be_carried_out_is_refused(self, named, reason):
        found = decision.accept(named, 'abc')
        self.assertEqual((), found.candidates)
        self.assertIn(reason, found.refusal)


class Distribution(unittest.TestCase):
    def test_a_node_that_nobody_has_placed_does_not_count_when_growing(self):
        nodes = [Node('a', 'A'), Node('b', 'A', placed=False)]
        self.assertEqual({'A': 1}, distribution(nodes, growing=True))
        self.assertEqual({'A': 2}, distribution(nodes, growing=False))
