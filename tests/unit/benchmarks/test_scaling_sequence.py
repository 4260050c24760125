# SPDX-License-Identifier: Apache-2.0

"""The target of the scaling sequence, and the distance from it."""

import unittest

import ddt

from benchmarks import scaling_sequence
from senlin_plugins.apportionment import Region

ONE, TWO, THREE = 'RegionOne', 'RegionTwo', 'RegionThree'


@ddt.ddt
class ScalingSequenceTest(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        ((100, -1), (250, -1), 10, (2.0, 5.0, 3.0)),
        # What a cap holds back goes to the others by their weights.
        ((100, -1), (250, 4), 10, (2.4, 4.0, 3.6)),
        # Then the next one may be full, too.
        ((100, 2), (250, 4), 10, (2.0, 4.0, 4.0)),
        ((100, -1), (250, 4), 0, (0.0, 0.0, 0.0)),
    )
    def test_nodes_are_shared_by_weight_up_to_the_caps(
        self, one, two, total, wanted
    ):
        regions = (Region(ONE, *one), Region(TWO, *two), Region(THREE, 150))
        found = scaling_sequence.shares(regions, total)
        self.assertEqual([ONE, TWO, THREE], list(found))
        self.assertEqual(wanted, tuple(found.values()))

    def test_a_node_in_the_wrong_region_counts_once(self):
        target = {ONE: 2.0, TWO: 5.0}
        distance = scaling_sequence.distance
        self.assertEqual(0.0, distance({ONE: 2, TWO: 5}, target))
        self.assertEqual(1.0, distance({ONE: 3, TWO: 4}, target))
