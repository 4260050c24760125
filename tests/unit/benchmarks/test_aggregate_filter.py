# SPDX-License-Identifier: Apache-2.0
"""What is measured, and what is said of it, without any Nova."""

import random
import unittest

import ddt

from benchmarks import aggregate_filter, common
from benchmarks.aggregate_filter import ALL, HALF, NONE


def config(**changes) -> aggregate_filter.Config:
    """Return a configuration."""
    values = {
        'hosts': 1000,
        'aggregates': 20,
        'per_host': 1,
        'specs': 3,
        'own': True,
        'flags': False,
        'passing': ALL,
    }
    return aggregate_filter.Config(**{**values, **changes})


def row(ours, in_tree=30.0, cold=2.0, host_passes=1.5, **changes):
    """Return a row."""
    return aggregate_filter.Row(
        config(**changes), in_tree, ours, cold, in_tree, host_passes, 0.1
    )


@ddt.ddt
class Grid(unittest.TestCase):
    @ddt.data(*aggregate_filter.ROUNDS)
    def test_every_host_finds_as_many_aggregates_as_it_needs(self, hosts):
        configs = list(aggregate_filter.grid(hosts))
        self.assertEqual(len(configs), len(set(configs)))
        for one in configs:
            kinds = 2 if one.passing == HALF else 1
            self.assertLessEqual(one.per_host * kinds, one.aggregates)
            self.assertEqual(hosts, one.hosts)

    @ddt.data(*aggregate_filter.ROUNDS)
    def test_the_ends_of_every_range_are_there(self, hosts):
        configs = list(aggregate_filter.grid(hosts))
        for name, ends in {
            'aggregates': {1, 200},
            'per_host': {1, 5},
            'specs': {1, 10},
            'own': {False, True},
            'flags': {False, True},
            'passing': {ALL, HALF},
        }.items():
            found = {getattr(one, name) for one in configs}
            self.assertLessEqual(ends, found, name)


class Metadata(unittest.TestCase):
    def test_one_value_refuses_where_no_flag_is_on(self):
        found = aggregate_filter.metadata(config(), False, random.Random(1))
        refused = [
            i
            for i, (_, _, bad) in enumerate(aggregate_filter.KINDS)
            if found[f'key{i}'] == bad
        ]
        self.assertEqual([1], refused)
        self.assertNotIn('force_metadata_check', found)

    def test_a_demand_refuses_where_the_flag_is_on(self):
        for suiting in (True, False):
            found = aggregate_filter.metadata(
                config(flags=True), suiting, random.Random(1)
            )
            for i, (_, good, _) in enumerate(aggregate_filter.KINDS):
                self.assertIn(found[f'key{i}'], good)
            self.assertIs(not suiting, aggregate_filter.DEMANDED in found)

    def test_strings_are_new(self):
        old = {'a long key': 'a long value'}
        new = aggregate_filter.new_texts(old.items())
        self.assertEqual(old, new)
        self.assertIsNot(next(iter(old)), next(iter(new)))


class Claims(unittest.TestCase):
    def test_the_worst_configuration_is_told(self):
        rows = [
            row(1.0, per_host=3),
            row(2.0, per_host=3, flags=True),
            row(3.0, cold=5.0),
            row(4.0, cold=30.0, hosts=10_000),
            row(15.0, cold=99.0, passing=NONE, flags=True),
        ]
        found = aggregate_filter.claims(rows)
        self.assertEqual(
            [15.0, 7.5, 6.0, 2.0, 4.0 / 1.5],
            [claim.value for claim in found],
        )
        self.assertEqual(
            [rows[1], rows[3], rows[2], rows[4], rows[3]],
            [claim.row for claim in found],
        )

    def test_what_was_not_measured_is_not_claimed(self):
        found = aggregate_filter.claims([row(1.0, per_host=5, flags=True)])
        self.assertEqual(2, len(found))

    def test_the_report_shows_each_group_and_each_claim(self):
        rows = [row(1.0), row(2.0), row(3.0, flags=True)]
        lines = aggregate_filter.report(rows, 'this machine').splitlines()
        self.assertEqual('this machine', lines[0])
        table = [line for line in lines if line.startswith('|  1000')]
        self.assertEqual(2, len(table))
        self.assertIn(' 22.5 |  15.0 |', table[0])
        for claim in aggregate_filter.claims(rows):
            self.assertIn(f'{claim.value:6.2f} {claim.text}', lines)


class Repeated(unittest.TestCase):
    def test_a_call_is_timed_as_often_as_asked(self):
        calls = []
        times = list(
            common.repeated(
                lambda: calls.append('run'),
                lambda: calls.append('prepare'),
                3,
                3600,
            )
        )
        self.assertEqual(['prepare', 'run'] * 3, calls)
        self.assertEqual(3, len(times))

    def test_without_patience_there_is_one_call(self):
        times = list(common.repeated(lambda: None, lambda: None, 3, 0))
        self.assertEqual(1, len(times))
