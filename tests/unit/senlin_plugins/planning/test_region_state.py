# SPDX-License-Identifier: Apache-2.0

"""Regions that fail: what is decided, and what is kept."""

import datetime
import json
import os
import unittest

import ddt
import hypothesis
from hypothesis import strategies as st

from senlin_plugins.planning import region_state
from senlin_plugins.planning.region_state import (
    Cause,
    Code,
    Fault,
    Left,
    Notes,
    State,
)

CASES = 100_000 if os.environ.get('OPP_ALL') == '1' else 300
NAMES = 'ABCDE'
STATES = st.builds(
    State,
    st.sampled_from(['silent', 'out', 'full']),
    st.just('unknown'),
    dead=st.booleans(),
)
FAILING = st.dictionaries(st.sampled_from(NAMES), STATES)
LEFT = st.lists(
    st.builds(
        Left,
        st.sampled_from(NAMES),
        st.sampled_from('123'),
        st.just('node'),
        st.sampled_from(['s', 't', None]),
        st.just([]),
        st.just('then'),
    ),
    max_size=6,
)
many = hypothesis.settings(max_examples=CASES, deadline=None)


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
        notes = Notes()
        for second, faults in looks:
            notes = notes.observe(faults, self.NAMED, at(second), after)
        return codes(notes.states)

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
        code, *seconds = case
        looks = [(second, self.SILENT) for second in seconds]
        self.assertEqual({'A': code}, self.looks(*looks))

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
    def test_more_than_half_of_the_policys_regions(self, names, code):
        faults = {name: Fault(Cause.UNKNOWN) for name in names}
        looks = [(second, faults) for second in (0, 300, 301)]
        self.assertEqual(dict.fromkeys(names, code), self.looks(*looks))
        # When the others answer, it is out at once.
        self.assertEqual({'A': 'out'}, self.looks(*looks, (302, self.SILENT)))

    def test_half_of_the_regions_are_not_most(self):
        notes = Notes()
        faults = {'B': Fault(Cause.UNKNOWN), 'A': Fault(Cause.UNKNOWN)}
        for second in (0, 300, 301):
            notes = notes.observe(faults, 'ABCD', at(second), 300)
        self.assertEqual({'A': 'out', 'B': 'out'}, codes(notes.states))
        # A list of the states is easier to read by name.
        self.assertEqual(['A', 'B'], list(notes.states))

    def test_a_declaration_counts_at_once_and_a_refusal_for_a_time(self):
        notes = Notes().refuse('B', at(0), 600).refuse('C', at(0), 0)
        states = notes.in_force({'A'}, at(599))
        self.assertEqual({'A': 'out', 'B': 'full'}, codes(states))
        self.assertTrue(states['A'].is_dead)
        self.assertTrue(states['B'].moves)
        self.assertFalse(states['B'].is_dead)
        self.assertEqual({}, notes.in_force((), at(600)))

    @ddt.data(0, 599)
    def test_a_full_region_is_full_until_its_time(self, second):
        notes = Notes().refuse('B', at(0), 600)
        self.assertEqual({'B': at(600)}, notes.full)
        state = State('full', 'refused', due=at(600))
        self.assertEqual({'B': state}, notes.in_force((), at(second)))
        after_look = notes.observe({}, self.NAMED, at(second), 300)
        self.assertEqual(notes.full, after_look.full)

    def test_a_look_forgets_what_is_no_longer_full(self):
        notes = Notes().refuse('B', at(0), 600)
        after_look = notes.observe({}, self.NAMED, at(600), 300)
        self.assertEqual({}, after_look.full)

    def test_a_look_keeps_since_when_and_why(self):
        first = Notes().observe(self.SILENT, self.NAMED, at(0), 300)
        second = first.observe(self.SILENT, self.NAMED, at(10), 900)
        self.assertEqual(
            State(
                'silent',
                'no answer',
                since=at(0),
                due=at(300),
                last=at(10),
                service='compute',
                dead=True,
            ),
            second.states['A'],
        )

    def test_a_declaration_goes_before_a_state_and_that_before_full(self):
        notes = Notes().refuse('A', at(0), 600).refuse('B', at(0), 600)
        notes = notes.observe(
            {'A': Fault(Cause.UNKNOWN), 'B': Fault(Cause.UNKNOWN)},
            self.NAMED,
            at(1),
            300,
        )
        states = notes.in_force(['A'], at(2))
        self.assertEqual({'A': 'out', 'B': 'silent'}, codes(states))
        self.assertEqual('declared', states['A'].cause)

    @ddt.unpack
    @ddt.data(
        # (state, nodes are given up if dead, nodes that are recreated move)
        ('silent', False, False),
        ('held', False, False),
        ('out', True, True),
        ('full', False, True),
    )
    def test_what_follows_from_a_state(self, code, dead, moves):
        for nothing_works in (False, True):
            state = State(code, 'no answer', dead=nothing_works)
            self.assertEqual(dead and nothing_works, state.is_dead)
            self.assertEqual(moves, state.moves)

    def test_a_fault_is_about_the_servers_unless_it_is_said(self):
        self.assertEqual(('', True), Fault(Cause.UNKNOWN)[1:])
        self.assertIs(False, State('out', 'unknown').dead)

    @ddt.unpack
    @ddt.data(
        ('unknown', 'Keystone does not know it'),
        ('missing', 'its catalog offers no compute'),
        ('no answer', 'compute does not answer'),
        ('declared', 'an operator has said so'),
        ('refused', 'it has refused a node'),
    )
    def test_each_cause_has_words(self, cause, words):
        self.assertEqual(words, State('out', cause, service='compute').why)

    @ddt.unpack
    @ddt.data(
        (
            State('silent', 'unknown', 'yesterday', 'tomorrow'),
            'is silent since yesterday (Keystone does not know it), and '
            'counts as out if this lasts until tomorrow',
        ),
        (
            State('held', 'unknown', 'yesterday', 'tomorrow'),
            'is silent since yesterday (Keystone does not know it), and does '
            'not count as out because more than half of the regions are '
            'silent: declare it out if it is',
        ),
        (
            State('out', 'unknown', 'yesterday'),
            'is out since yesterday (Keystone does not know it)',
        ),
        (State('out', 'declared'), 'is out (an operator has said so)'),
        (
            State('full', 'refused', due='tomorrow'),
            'is full until tomorrow (it has refused a node)',
        ),
    )
    def test_a_state_is_told_in_a_sentence(self, state, words):
        self.assertEqual(words, state.describe())

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
        notes = Notes(states, {'A': at(0)}, (), at(1))
        for entry in left:
            notes = notes.leave(entry)
        data = notes.write({'other': 1})
        stored = region_state.read(json.loads(json.dumps(data)))
        self.assertEqual(data, stored.write({'other': 1}))
        self.assertEqual(codes(states), codes(stored.states))
        # Each once.
        keys = [(e.region, e.node, e.server) for e in stored.left]
        self.assertEqual({(e.region, e.node, e.server) for e in left}, {*keys})
        self.assertEqual(len({*keys}), len(keys))
        self.assertEqual([], list(stored.clear(left).left))
        self.assertEqual([], stored.remaining({'1', '2', '3'}))
        self.assertEqual(
            [e for e in stored.left if e.server != 's'],
            stored.remaining({'s'}),
        )

    def test_what_is_written_in_the_data_of_a_cluster(self):
        entry = Left('A', 'n', 'node', None, ['port'], at(0))
        state = State('out', 'unknown', at(0), at(1), at(2), 'compute', True)
        notes = Notes({'A': state}, {'B': at(3)}, [entry], at(4))
        written = {
            'states': {
                'A': {
                    'state': 'out',
                    'cause': 'unknown',
                    'since': at(0),
                    'due': at(1),
                    'last': at(2),
                    'service': 'compute',
                    'dead': True,
                }
            },
            'full': {'B': at(3)},
            'servers': [
                {
                    'region': 'A',
                    'node': 'n',
                    'name': 'node',
                    'server': None,
                    'ports': ['port'],
                    'since': at(0),
                }
            ],
            'looked': at(4),
        }
        older = {'other': 1, region_state.KEY: {'looked': 'then'}}
        data = notes.write(older)
        self.assertEqual({'other': 1, region_state.KEY: written}, data)
        self.assertEqual(notes, region_state.read(data))
        self.assertEqual({'other': 1}, Notes().write(older))
        # Whoever changes the data does not change the notes.
        data[region_state.KEY]['full']['C'] = at(5)
        self.assertEqual({'B': at(3)}, notes.full)

    def test_times_are_kept_in_utc_and_in_whole_seconds(self):
        zone = datetime.timezone(datetime.timedelta(hours=2))
        time = datetime.datetime(2026, 1, 1, 1, 2, 3, 456789, tzinfo=zone)
        self.assertEqual(
            '2025-12-31T23:02:03+00:00', region_state.show_time(time)
        )

    def test_what_a_cluster_without_trouble_says(self):
        for data in (None, {}, {'other': 1}, {region_state.KEY: {}}):
            self.assertEqual(Notes(left=[]), region_state.read(data))
        self.assertEqual({'other': 1}, Notes().write({'other': 1}))

    def test_what_an_older_version_has_written_is_read_or_dropped(self):
        # As commit e736074 stored it.
        entry = {
            **{'region': 'A', 'node': 'n', 'name': 'node', 'server': 's'},
            **{'ports': [], 'since': at(0)},
        }
        state = {'state': 'out', 'why': 'x', 'dead': True, 'since': at(0)}
        notes = region_state.read(
            {region_state.KEY: {'regions': {'A': state}, 'servers': [entry]}}
        )
        self.assertEqual(({}, [Left(**entry)]), (notes.states, notes.left))

    def test_an_unknown_field_is_left_out(self):
        state = {'state': 'out', 'cause': 'declared', 'mood': 'bad'}
        entry = {'region': 'A', 'node': 'n', 'server': 's', 'mood': 'bad'}
        notes = region_state.read(
            {region_state.KEY: {'states': {'A': state}, 'servers': [entry]}}
        )
        self.assertEqual({'A': State('out', 'declared')}, notes.states)
        self.assertEqual([Left('A', 'n', server='s')], notes.left)

    def test_what_has_another_form_does_not_count(self):
        well = {'state': 'out', 'cause': 'declared'}
        for states in (
            5,
            [well],
            {'A': 5},
            {'A': {**well, 'state': 'bored'}},
            {'A': {**well, 'state': ['out']}},
            {'A': {**well, 'cause': 'x'}},
            {'A': {'cause': 'declared'}},
        ):
            notes = region_state.read({region_state.KEY: {'states': states}})
            self.assertEqual({}, notes.states, states)
        entry = {'region': 'A', 'node': 'n', 'ports': 5}
        for servers in (
            5,
            [5],
            [{'region': 'A'}],
            [{'region': 1, 'node': 2}],
            [{**entry, 'region': ''}],
            [{**entry, 'node': ''}],
        ):
            notes = region_state.read({region_state.KEY: {'servers': servers}})
            self.assertEqual([], notes.left, servers)
        notes = region_state.read({region_state.KEY: {'servers': [entry]}})
        self.assertEqual([Left('A', 'n')], notes.left)
        other = {'full': {'A': 5, 'B': at(1)}, 'looked': 5}
        notes = region_state.read({region_state.KEY: other})
        self.assertEqual(({'B': at(1)}, ''), (notes.full, notes.looked))
        self.assertEqual(
            Notes(left=[]), region_state.read({'region_placement': 5})
        )

    def test_what_was_seen_in_the_future_does_not_count(self):
        fault = {'A': region_state.Fault(region_state.Cause.NO_ANSWER)}
        first = Notes().observe(fault, ['A', 'B', 'C'], at(100), 10)
        earlier = first.observe(fault, ['A', 'B', 'C'], at(50), 10)
        self.assertEqual(at(50), earlier.states['A'].since)
        same = first.observe(fault, ['A', 'B', 'C'], at(100), 10)
        self.assertEqual(at(100), same.states['A'].since)
        later = first.observe(fault, ['A', 'B', 'C'], at(130), 10)
        back = later.observe(fault, ['A', 'B', 'C'], at(120), 10)
        self.assertEqual(at(120), back.states['A'].since)
        out = later.observe(fault, ['A', 'B', 'C'], at(131), 10)
        self.assertEqual('out', out.states['A'].state)

    def test_who_waits_for_the_row_has_read_the_time_before(self):
        fault = {'A': region_state.Fault(region_state.Cause.NO_ANSWER)}
        regions = ['A', 'B', 'C']
        first = Notes().observe(fault, regions, at(100), 10)
        second = first.observe(fault, regions, at(130), 10)
        for now in at(129), at(125):
            waited = second.observe(fault, regions, now, 10)
            state = waited.states['A']
            self.assertEqual((at(100), 'out'), (state.since, state.state))
        late = second.observe(fault, regions, at(124), 10)
        self.assertEqual(at(124), late.states['A'].since)
