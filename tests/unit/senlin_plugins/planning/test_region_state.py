# SPDX-License-Identifier: Apache-2.0

"""Regions that fail: what is decided, and what is kept."""

import collections
import dataclasses
import datetime
import json
import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import apportionment, region_state
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.placement import place, relocate
from senlin_plugins.planning.region_spec import Strategy
from senlin_plugins.planning.region_state import (
    Cause,
    Code,
    Fault,
    Known,
    Left,
    State,
)
from senlin_plugins.planning.sizing import Change
from senlin_plugins.planning.snapshot import Node, Snapshot, distribution

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
LEFT = st.lists(
    st.builds(
        Left,
        *(st.sampled_from(NAMES), st.sampled_from('123'), st.just('node')),
        *(st.sampled_from(['s', 't', None]), st.just([]), st.just('then')),
    ),
    max_size=6,
)
many = hypothesis.settings(max_examples=CASES, deadline=None)


def snapshot(regions, nodes, fails, change):
    """Return a cluster."""
    current = distribution(nodes)
    return Snapshot(change, regions, current, (), nodes, fails)


class Properties(unittest.TestCase):
    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_nothing_grows_where_it_fails(self, regions, nodes, fails, count):
        cluster = snapshot(regions, nodes, fails, Change(True, count))
        decision = place(cluster)
        sound = [region for region in regions if region.name not in fails]
        wanted = apportionment.grow(sound, cluster.current, count)
        self.assertEqual(
            (wanted.plan, wanted.refusal), (decision.plan, decision.refusal)
        )
        even = dataclasses.replace(cluster, strategy=Strategy.EVEN)
        refused = "strategy 'even'" in place(even).refusal
        self.assertEqual(any(r.name in fails for r in regions), refused)

    @many
    @hypothesis.given(REGIONS, NODES, FAILING, FEW)
    def test_every_node_that_is_given_up_goes_first(
        self, regions, nodes, fails, count
    ):
        change = Change(False, min(count, len(nodes)))
        cluster = snapshot(regions, nodes, fails, change)
        decision = place(cluster)
        self.assertEqual('', decision.refusal)
        # The others are as good as those of other regions.
        gone = {name for name, state in fails.items() if state.is_dead}
        stay = {r.name for r in regions} - gone
        if stay:
            out = sum(node.region not in stay for node in nodes)
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


def at(seconds):
    """Return a time as it is kept."""
    zero = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    return region_state.show_time(zero + datetime.timedelta(seconds=seconds))


@ddt.ddt
class Looking(unittest.TestCase):
    NAMED = ('A', 'B', 'C')
    SILENT = {'A': Fault(Cause.NO_ANSWER, 'compute')}

    def looks(self, *looks, after=300):
        """Return the states after looks at (second, what was found)."""
        known = Known()
        for second, faults in looks:
            known = known.observe(faults, self.NAMED, at(second), after)
        return {name: state.state for name, state in known.states.items()}

    @ddt.data(
        # One look, or looks too near, are silence.
        ('silent', 0),
        ('silent', 0, 299, 299),
        # Two looks that are far apart: not without a third one.
        ('silent', 0, 300),
        ('silent', 0, 9999),
        ('out', 0, 300, 300),
        ('out', 0, 100, 300, 301),
        ('out', 0, 300, 400, 9999),
    )
    def test_silence_must_last(self, case):
        wanted, *seconds = case
        looks = [(second, self.SILENT) for second in seconds]
        self.assertEqual({'A': wanted}, self.looks(*looks))

    def test_an_answer_ends_it(self):
        looks = [(0, self.SILENT), (300, self.SILENT), (301, {})]
        self.assertEqual({}, self.looks(*looks))
        looks += [(302, self.SILENT), (601, self.SILENT), (601, self.SILENT)]
        self.assertEqual({'A': 'silent'}, self.looks(*looks))

    def test_the_network_does_not_speak_for_the_servers(self):
        network = {'A': Fault(Cause.NO_ANSWER, 'network', dead=False)}
        looks = [(0, network), (300, network), (301, network)]
        self.assertEqual({'A': 'out'}, self.looks(*looks))
        self.assertEqual(
            {'A': 'silent'}, self.looks(*looks, (302, self.SILENT))
        )

    @ddt.data(('AB', 'held'), ('ABC', 'held'), ('A', 'out'), ('AXYZ', 'out'))
    @ddt.unpack
    def test_more_than_half_of_the_policys_regions(self, names, wanted):
        faults = {name: Fault(Cause.UNKNOWN) for name in names}
        looks = [(second, faults) for second in (0, 300, 301)]
        self.assertEqual(dict.fromkeys(names, wanted), self.looks(*looks))
        # When the others answer, it is out at once.
        self.assertEqual({'A': 'out'}, self.looks(*looks, (302, self.SILENT)))

    def test_a_declaration_counts_at_once_and_a_refusal_for_a_time(self):
        known = Known().refuse('B', at(0), 600).refuse('C', at(0), 0)
        states = known.in_force({'A'}, at(599))
        self.assertEqual({'A': 'out', 'B': 'full'}, codes(states))
        self.assertTrue(states['A'].is_dead)
        self.assertTrue(states['B'].moves)
        self.assertFalse(states['B'].is_dead)
        self.assertEqual({}, known.in_force((), at(600)))

    @ddt.data(*Code)
    def test_each_state_has_words(self, code):
        for cause in Cause:
            state = State(code, cause, at(0), at(300), at(1), 'compute', True)
            words = state.describe()
            self.assertTrue(words.startswith('is '), words)
            self.assertIn(state.why, words)


def codes(states):
    """Return region name -> code."""
    return {name: state.state for name, state in states.items()}


class Keeping(unittest.TestCase):
    @many
    @hypothesis.given(LEFT, FAILING)
    def test_what_is_kept_is_read_again(self, left, states):
        known = Known(states, {'A': at(0)}, (), at(1))
        for entry in left:
            known = known.leave(entry)
        data = known.write({'other': 1})
        again = region_state.read(json.loads(json.dumps(data)))
        self.assertEqual(data, again.write({'other': 1}))
        self.assertEqual(codes(states), codes(again.states))
        # Each once.
        keys = [(e.region, e.node, e.server) for e in again.left]
        self.assertEqual({(e.region, e.node, e.server) for e in left}, {*keys})
        self.assertEqual(len({*keys}), len(keys))
        self.assertEqual([], list(again.clear(left).left))
        self.assertEqual([], again.remaining({'1', '2', '3'}))
        self.assertEqual(
            [e for e in again.left if e.server != 's'],
            again.remaining({'s'}),
        )

    def test_what_a_cluster_without_trouble_says(self):
        for data in (None, {}, {'other': 1}, {region_state.KEY: {}}):
            self.assertEqual(Known(left=[]), region_state.read(data))
        self.assertEqual({'other': 1}, Known().write({'other': 1}))

    def test_what_an_older_version_has_written_is_read_or_dropped(self):
        # As commit e736074 stored it.
        entry = {
            **{'region': 'A', 'node': 'n', 'name': 'node', 'server': 's'},
            **{'ports': [], 'since': at(0)},
        }
        state = {'state': 'out', 'why': 'x', 'dead': True, 'since': at(0)}
        known = region_state.read(
            {region_state.KEY: {'regions': {'A': state}, 'servers': [entry]}}
        )
        self.assertEqual(({}, [Left(**entry)]), (known.states, known.left))
