# SPDX-License-Identifier: Apache-2.0

"""The sizes that a cluster may have.

A functional test compares them with Senlin's own check.
"""

import unittest

import ddt

from senlin_plugins.planning.limits import Limits
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.plan import plan_change, plan_recovery
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region
from tests.unit.senlin_plugins.planning.clusters import snapshot

TOO_FEW = "The target capacity ({}) is less than the cluster's min_size (3)."
TOO_MANY = (
    "The target capacity ({}) is greater than the cluster's max_size (5)."
)
FAR_TOO_MANY = (
    'The target capacity ({}) is greater than the maximum number of nodes '
    'allowed per cluster (1000).'
)
LIMITS = Limits(min_size=3, max_size=5, max_nodes=1000)


def cluster_of(size, count, limits):
    """Return a cluster of so many nodes, and a change."""
    nodes = [Node(str(number), 'A') for number in range(size)]
    change = Change(count > 0, abs(count))
    return snapshot([Region('A')], nodes, (), change, limits)


@ddt.ddt
class Sizes(unittest.TestCase):
    @ddt.unpack
    @ddt.data(
        # (size of the cluster, nodes that come or go, refusal)
        (4, -1, ''),
        (4, -2, TOO_FEW.format(2)),
        (4, -10, TOO_FEW.format(0)),
        (4, 1, ''),
        (4, 3, TOO_MANY.format(7)),
        (4, 2000, FAR_TOO_MANY.format(2004)),
        # Senlin refuses this, too.
        (9, -1, TOO_MANY.format(8)),
    )
    def test_a_plan_keeps_them(self, size, count, refusal):
        decision = plan_change(cluster_of(size, count, LIMITS))
        self.assertEqual(refusal, decision.refusal)
        self.assertEqual(bool(refusal), not decision.plan)

    @ddt.data(0, 1, 10**30)
    def test_without_limits_all_are_allowed(self, size):
        self.assertEqual('', Limits().describe_violation(size))

    def test_a_recovery_keeps_them_if_it_creates_nodes(self):
        nodes = [Node('1', 'A'), Node('2', NO_REGION)]
        for missing, max_size, refused in (
            (1, 2, True),
            (1, 3, False),
            # A node that waits for its region is in the cluster already.
            (0, 1, False),
        ):
            cluster = snapshot(
                [Region('A')],
                nodes,
                (),
                Change(True, missing),
                Limits(max_size=max_size),
            )
            decision = plan_recovery(cluster)
            self.assertEqual(refused, bool(decision.refusal))
            self.assertEqual(not refused, '2' in decision.node_regions)
