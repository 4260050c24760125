# SPDX-License-Identifier: Apache-2.0

"""What the region placement policy decides about a cluster."""

import collections
import unittest

import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    NO_REGION,
    Node,
    Snapshot,
    distribution,
)


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
        found = place(snapshot)
        hypothesis.assume(not found.refusal)
        self.assertEqual(set(), snapshot.out_of_reach & found.plan.keys())
        self.assertEqual(snapshot.change.count, sum(found.plan.values()))
        if snapshot.change.growing:
            self.assertEqual((), found.candidates)
            regions = found.placements
        else:
            region_of = {node.id: node.region for node in snapshot.nodes}
            regions = [region_of[node_id] for node_id in found.candidates]
        self.assertEqual(found.plan, collections.Counter(regions))


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
