# SPDX-License-Identifier: Apache-2.0

"""What a cluster is to a plan, and where each node counts."""

import types
import unittest

import ddt

from senlin_plugins.planning import snapshot
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import NO_REGION, Node, Snapshot

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
        self.assertEqual({'A': 2, 'B': 1}, snapshot.distribution(nodes))


def node_of(data, status='ACTIVE'):
    """Return a node as Senlin has it."""
    return types.SimpleNamespace(data=data, status=status)


RECORDED = {'placement': {'region_name': 'A', 'zone': 'Z'}}


@ddt.ddt
class RecordedTest(unittest.TestCase):
    @ddt.data(None, {}, {'placement': None}, {'placement': {}}, {'other': 1})
    def test_data_without_a_place_name_no_region(self, data):
        self.assertEqual({}, snapshot.placement(node_of(data)))
        self.assertIsNone(snapshot.recorded_region(node_of(data)))

    def test_what_has_no_data_names_no_region(self):
        self.assertEqual({}, snapshot.placement(object()))
        self.assertIsNone(snapshot.recorded_region(object()))

    def test_the_data_of_a_node_name_its_place(self):
        node = node_of(RECORDED)
        self.assertEqual(RECORDED['placement'], snapshot.placement(node))
        self.assertEqual('A', snapshot.recorded_region(node))

    @ddt.unpack
    @ddt.data(
        # (data, status, region of the profile, default region, counts in)
        (RECORDED, 'ACTIVE', 'B', 'C', 'A'),
        (RECORDED, 'INIT', 'B', 'C', 'A'),
        ({}, 'ACTIVE', 'B', 'C', 'B'),
        ({}, 'INIT', 'B', 'C', 'B'),
        ({}, 'ACTIVE', None, 'C', 'C'),
        # Nobody has decided yet: the default does not count.
        ({}, 'INIT', None, 'C', NO_REGION),
        ({}, 'INIT', None, None, NO_REGION),
        ({}, 'ACTIVE', None, None, ''),
    )
    def test_the_region_in_which_a_node_counts(
        self, data, status, fixed, default, region
    ):
        node = node_of(data, status)
        counted = snapshot.counted_region(node, fixed, default)
        self.assertEqual(region, counted)

    @ddt.unpack
    @ddt.data(
        (None, None),
        ({}, None),
        ({'username': 'senlin'}, None),
        ({'region_name': None}, None),
        ({'region_name': ''}, None),
        ({'region_name': 'A'}, 'A'),
    )
    def test_the_region_that_a_profile_fixes(self, context, region):
        self.assertEqual(region, snapshot.fixed_region(context))
