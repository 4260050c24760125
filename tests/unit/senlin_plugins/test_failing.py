# SPDX-License-Identifier: Apache-2.0

"""Regions that fail: what is decided, and what is kept."""

import collections
import dataclasses
import datetime
import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment, failing
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.placement import place
from senlin_plugins.planning.region_spec import Strategy
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import (
    Failure,
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
FAILING = st.dictionaries(
    st.sampled_from(NAMES), st.builds(Failure, st.just('fails'), st.booleans())
)
FEW = st.integers(1, 4)
#: What a survey may find.
FULL = st.dictionaries(st.sampled_from(NAMES), st.just('quota'))
FAULTS = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from(['no', 'nay']), st.booleans()
    )
)
SURVEYS = st.builds(failing.find_states, FULL, FAULTS)
LEFT = st.lists(
    st.builds(
        failing.Left,
        *(st.sampled_from(NAMES), st.sampled_from('123'), st.just('node')),
        *(st.sampled_from(['s', 't', None]), st.just([]), st.just('then')),
    ),
    max_size=6,
)
many = hypothesis.settings(max_examples=CASES, deadline=None)
#: For what plans or keeps several times in one example.
fewer = hypothesis.settings(max_examples=min(CASES, 5000), deadline=None)


def snapshot(regions, nodes, fails, change, strategy=Strategy.BALANCED):
    """Return a cluster."""
    current = distribution(nodes, change.growing)
    return Snapshot(change, regions, current, (), nodes, fails, strategy)


class Properties(unittest.TestCase):
    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_nothing_grows_where_it_fails_and_what_is_owed_is_the_rest(
        self, regions, nodes, fails, count
    ):
        cluster = snapshot(regions, nodes, fails, Change(True, count))
        decision = place(cluster)
        sound = [region for region in regions if region.name not in fails]
        wanted = apportionment.grow(sound, cluster.current, count)
        self.assertEqual(
            (wanted.plan, wanted.refusal), (decision.plan, decision.refusal)
        )
        if not decision.refusal:
            ideal = apportionment.grow(regions, cluster.current, count).plan
            self.assertEqual(
                {name: n for name, n in ideal.items() if name in fails},
                decision.owed,
            )

    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_even_refuses_if_and_only_if_a_region_of_the_policy_fails(
        self, regions, nodes, fails, count
    ):
        change = Change(True, count)
        decision = place(
            snapshot(regions, nodes, fails, change, Strategy.EVEN)
        )
        refused = "strategy 'even'" in decision.refusal
        self.assertEqual(any(r.name in fails for r in regions), refused)

    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_failover_takes_every_node_that_is_out_first(
        self, regions, nodes, fails, count
    ):
        change = Change(False, min(count, len(nodes)))
        cluster = snapshot(regions, nodes, fails, change, Strategy.FAILOVER)
        decision = place(cluster)
        self.assertEqual('', decision.refusal)
        # Those of a region that is full are as good as others.
        gone = {name for name, failure in fails.items() if failure.out}
        stay = {r.name for r in regions} - gone
        if stay:
            out = sum(node.region not in stay for node in nodes)
            taken = sum(
                n for name, n in decision.plan.items() if name not in stay
            )
            self.assertEqual(min(out, change.count), taken)

    @many
    @hypothesis.given(REGIONS, NODES, FAILING)
    def test_every_node_that_is_out_moves_within_the_caps_or_none(
        self, regions, nodes, fails
    ):
        lost = [node.id for node in nodes if node.region in fails]
        cluster = snapshot(regions, nodes, fails, Change(True, 0))
        moves, decision, after = failing.move(cluster, lost)
        self.assertEqual(decision.placements, list(moves.values()))
        if decision.refusal:
            self.assertEqual(cluster, after)
            return
        self.assertEqual(lost, list(moves))
        self.assertEqual(len(lost), len(decision.placements))
        self.assertFalse(set(decision.placements) & set(fails))
        self.assertEqual(len(nodes), sum(after.current.values()))
        before = collections.Counter(node.region for node in nodes)
        for region in regions:
            now = after.current.get(region.name, 0)
            if region.cap >= 0 and now > before[region.name]:
                self.assertLessEqual(now, region.cap)

    @fewer
    @hypothesis.given(REGIONS, NODES, FAILING, st.randoms())
    def test_nodes_that_move_alone_come_where_they_would_together(
        self, regions, nodes, fails, chance
    ):
        lost = [node.id for node in nodes if node.region in fails]
        cluster = snapshot(regions, nodes, fails, Change(True, 0))
        together, _, _ = failing.move(cluster, lost)
        for node in chance.sample(lost, len(lost)):
            seen = failing.anticipate(cluster, node)
            alone, _, _ = failing.move(seen, lost)
            self.assertEqual(together.get(node), alone.get(node))
            if node in alone:
                nodes = [
                    n._replace(moves_to=alone[node]) if n.id == node else n
                    for n in cluster.nodes
                ]
                cluster = dataclasses.replace(cluster, nodes=nodes)


class Keeping(unittest.TestCase):
    @many
    @hypothesis.given(FULL, FAULTS)
    def test_what_is_worse_counts(self, full, faults):
        found = failing.find_states(full, faults)
        self.assertEqual({*full, *(name for name, *_ in faults)}, found.keys())
        for name, state in found.items():
            verdicts = [dead for fault, _, dead in faults if fault == name]
            wanted = failing.OUT if verdicts else failing.FULL
            self.assertEqual(wanted, state['state'])
            self.assertEqual(any(verdicts), failing.is_dead(found, name))

    @fewer
    @hypothesis.given(
        st.lists(st.tuples(SURVEYS, LEFT), min_size=1),
        st.sets(st.sampled_from('123')),
    )
    def test_what_is_kept_of_each_survey(self, surveys, moving):
        data = {'other': 1}
        for now, (found, held) in enumerate(surveys):
            before, left = data, failing.read_left(data)
            data = failing.keep(before, found, left, held, moving, now)
            self.assertEqual(1, data['other'])
            states = failing.read_states(data)
            self.assertEqual(found.keys(), states.keys())
            changes = failing.find_changes(before, data)
            for name, state in states.items():
                self.assertEqual(name in changes, state['since'] == now)
            gone = failing.read_states(before).keys() - found.keys()
            self.assertEqual(
                gone, {name for name in changes if not changes[name]}
            )
            left = failing.read_left(data)
            # Nothing is forgotten, and each server is there once.
            self.assertLessEqual(
                {*map(str, failing.read_left(before))}, {*map(str, left)}
            )
            noted = [(e.region, e.node, e.server) for e in left]
            self.assertEqual(len(noted), len({*noted}))
            for entry in held:
                out = found.get(entry.region, {}).get('state') == failing.OUT
                moves = entry.node in moving and (entry.server or out)
                if moves or failing.is_dead(found, entry.region):
                    key = (entry.region, entry.node, entry.server)
                    self.assertIn(key, noted)
            # Looking again changes nothing.
            self.assertEqual(
                data, failing.keep(data, found, left, held, moving, 'later')
            )
        cleared = failing.keep(data, {}, [], held, (), 'later')
        self.assertEqual({'other': 1}, cleared)


@ddt.ddt
class Kept(unittest.TestCase):
    NOW = datetime.datetime(2026, 1, 1, 12, 0, 0, tzinfo=datetime.UTC)

    @ddt.data((59, {'A': 'late'}), (60, {}), (0, {'A': 'late'}))
    @ddt.unpack
    def test_a_refusal_counts_for_a_time(self, age, full):
        refusals = [
            {'region': 'A', 'at': '2026-01-01T10:00:00+00:00', 'why': 'old'},
            {
                'region': 'A',
                'at': (self.NOW - datetime.timedelta(seconds=age)).isoformat(),
                'why': 'late',
            },
        ]
        self.assertEqual(full, failing.find_full(refusals, self.NOW, 60))
        self.assertEqual({}, failing.find_full(refusals, self.NOW, 0))

    def test_the_last_refusal_tells_why(self):
        refusals = [
            {'region': 'A', 'at': f'2026-01-01T11:59:{s}+00:00', 'why': s}
            for s in ('50', '40')
        ]
        found = failing.find_full(refusals, self.NOW, 60)
        self.assertEqual({'A': '50'}, found)

    @ddt.data(
        ('s', 'A', 's', True),
        ('s', 'A', 'other', False),
        ('s', 'B', 's', False),
        (None, 'A', None, True),
        (None, 'A', 'made later', True),
        (None, 'B', None, False),
    )
    @ddt.unpack
    def test_what_a_node_holds(self, server, region, its_server, held):
        left = failing.Left('A', 'n', 'node', server, (), 'then')
        self.assertEqual(held, left.is_held(region, its_server))

    def test_what_a_cluster_without_trouble_says(self):
        self.assertEqual({}, failing.read_states({}))
        self.assertEqual([], failing.read_left({failing.DATA_KEY: {}}))
        self.assertEqual({}, failing.describe({'other': 1}))
