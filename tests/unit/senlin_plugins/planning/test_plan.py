# SPDX-License-Identifier: Apache-2.0

"""What the region placement policy decides about a cluster."""

import collections
import dataclasses
import datetime
import os
import unittest

import hypothesis

from senlin_plugins.planning import apportionment
from senlin_plugins.planning.apportionment import (
    NO_FEASIBLE_PLAN,
    NO_USABLE_REGION,
)
from senlin_plugins.planning.decision import Decision
from senlin_plugins.planning.node_region import NO_REGION
from senlin_plugins.planning.plan import plan_change, plan_recovery
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.spec import Region
from tests.unit.senlin_plugins.planning.clusters import (
    FEW,
    GONE,
    NODES,
    REGIONS,
    snapshot,
)

CASES = 100_000 if os.environ.get('OPP_ALL') == '1' else 300
CREATED = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
examples = hypothesis.settings(max_examples=CASES, deadline=None)


class Changes(unittest.TestCase):
    @examples
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_nodes_come_to_regions_within_reach(
        self, regions, nodes, gone, count
    ):
        cluster = snapshot(regions, nodes, gone, Change(True, count))
        decision = plan_change(cluster)
        sound = [region for region in regions if region.name not in gone]
        among_sound = apportionment.plan_growth(sound, cluster.current, count)
        self.assertEqual(among_sound.plan, decision.plan)
        self.assertEqual(among_sound.refusal, decision.refusal)
        self.assertEqual((), decision.candidates)

    @examples
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_no_node_leaves_out_of_reach_and_strays_leave_first(
        self, regions, nodes, gone, count
    ):
        change = Change(False, min(count, len(nodes)))
        cluster = snapshot(regions, nodes, gone, change)
        decision = plan_change(cluster)
        usable = {region.name for region in regions} - gone
        movable = [node for node in nodes if node.region not in gone]
        if not usable:
            self.assertEqual(NO_USABLE_REGION, decision.refusal)
            return
        if change.count > len(movable):
            self.assertEqual(NO_FEASIBLE_PLAN, decision.refusal)
            return
        self.assertEqual('', decision.refusal)
        self.assertFalse(decision.plan.keys() & gone)
        strays = sum(node.region not in usable for node in movable)
        leaving = sum(
            number
            for name, number in decision.plan.items()
            if name not in usable
        )
        self.assertEqual(min(strays, change.count), leaving)
        # The candidates are the nodes of the plan.
        region_of = {node.id: node.region for node in nodes}
        regions_left = [region_of[node_id] for node_id in decision.candidates]
        self.assertEqual(decision.plan, collections.Counter(regions_left))
        after = cluster.after(decision.plan).current
        self.assertEqual(len(nodes) - change.count, sum(after.values()))

    def test_the_regions_of_unrecorded_nodes_are_written(self):
        nodes = [Node('1', 'A', recorded=False), Node('2', 'A')]
        cluster = snapshot([Region('A')], nodes, (), Change(False, 1))
        self.assertEqual({'1': 'A'}, plan_change(cluster).node_regions)

    def test_a_node_without_a_region_is_not_counted_and_leaves_first(self):
        nodes = [Node('a', 'A'), Node('b', NO_REGION), Node('c', 'A')]
        regions = [Region('A', cap=3)]
        growing = snapshot(regions, nodes, (), Change(True, 1))
        self.assertEqual({'A': 1}, plan_change(growing).plan)
        shrinking = snapshot(regions, nodes, (), Change(False, 1))
        self.assertEqual(('b',), plan_change(shrinking).candidates)

    def test_a_region_with_a_node_of_no_use_loses_it(self):
        broken = Node('a', 'A', status='ERROR', created_at=CREATED)
        nodes = [broken, Node('b', 'B', created_at=CREATED)]
        regions = [Region('A'), Region('B')]
        cluster = snapshot(regions, nodes, (), Change(False, 1))
        self.assertEqual(('a',), plan_change(cluster).candidates)


class Recoveries(unittest.TestCase):
    @examples
    @hypothesis.given(REGIONS, NODES, GONE, FEW)
    def test_as_many_nodes_get_a_region_as_there_is_room_for(
        self, regions, nodes, gone, count
    ):
        new = [Node(f'new-{number}', NO_REGION) for number in range(count)]
        cluster = snapshot(regions, [*nodes, *new], gone, Change(True, 0))
        decision = plan_recovery(cluster)
        self.assertEqual({}, decision.plan)
        placed = decision.node_regions
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

    def test_new_nodes_come_before_those_missing(self):
        nodes = [Node('a1', 'A'), Node('b1', 'B'), Node('new', NO_REGION)]
        for caps, regions, plan, refusal in (
            ((-1, 1), {'new': 'C'}, {'A': 1}, ''),
            ((1, 1), {'new': 'C'}, {}, NO_FEASIBLE_PLAN),
            ((1, 0), {}, {}, NO_FEASIBLE_PLAN),
        ):
            a_cap, c_cap = caps
            cluster = snapshot(
                [Region('A', 100, a_cap), Region('C', 100, c_cap)],
                nodes,
                (),
                Change(True, 1),
            )
            decision = plan_recovery(cluster)
            self.assertEqual(regions, decision.node_regions)
            self.assertEqual(plan, decision.plan)
            self.assertEqual(refusal, decision.refusal)

    def test_nothing_missing_needs_no_region(self):
        nodes = [Node('a1', 'A')]
        cluster = snapshot([Region('A')], nodes, ('A',), Change(True, 0))
        self.assertEqual(Decision(), plan_recovery(cluster))
