# SPDX-License-Identifier: Apache-2.0

"""Preferences: the filter's rules, as points."""

import unittest
from typing import Any

import ddt

from nova_filters.matching import inputs, preferences

HARD, SOFT = {inputs.FLAG: 'true'}, {inputs.SOFT_FLAG: 'on'}
SSD, HDD = {'disk': 'ssd'}, {'disk': 'hdd'}
LIKES, AVOIDS = 'aggregate_preferred:disk', 'aggregate_avoided:disk'

#: A flavor's extra specs, the metadata of a host's aggregates, the points,
#: and the keys that are exempt.
TABLE: tuple[tuple[Any, ...], ...] = (
    ({}, [HARD | SSD], 0),
    ({LIKES: 'ssd'}, [], 0),
    ({LIKES: 'ssd'}, [{'disk': 'hdd, ssd'}], 1),
    ({LIKES: '<or> ssd <or> ~'}, [], 1),
    ({AVOIDS: 'hdd'}, [HDD], -1),
    ({AVOIDS: 'hdd'}, [SSD], 0),
    ({LIKES: 'ssd', AVOIDS: 'hdd'}, [SSD, HDD], 0),
    # A key may have a namespace, and is mandatory all the same.
    ({'aggregate_avoided:hw:cpu': '!'}, [{'cpu': 'old'}], -1),
    ({'aggregate_avoided.100:disk': 'ssd'}, [SSD], -100),
    # Malformed preferences count nothing.
    ({LIKES: '<or>'}, [SSD], 0),
    ({'aggregate_preferred.0:disk': 'ssd'}, [SSD], 0),
    ({'aggregate_preferred.101:disk': 'ssd'}, [SSD], 0),
    ({'aggregate_preferred.x:disk': 'ssd'}, [SSD], 0),
    # An aggregate prefers flavors; one key is one point.
    ({}, [SOFT | SSD | {'rack': '1'}], -2),
    (SSD, [SOFT | {'disk': '!'}], -1),
    ({}, [SOFT | SSD, SOFT | HDD], -1),
    # With both flags, an aggregate demands; and flags demand nothing.
    ({}, [SOFT | HARD | SSD, SOFT | {'rack': '1'}], -1),
    ({}, [SOFT | {inputs.FLAG: 'no'}], 0),
    ({}, [{inputs.SOFT_FLAG: 'no'} | SSD], 0),
    # What is preferred is not what is asked for.
    ({LIKES: 'ssd'} | SSD, [SOFT | SSD], 1),
    # Exempt keys are no demand.
    ({}, [SOFT | SSD | {'rack': '1'}], -1, ('ra*',)),
)


@ddt.ddt
class PreferencesTest(unittest.TestCase):
    @ddt.data(*TABLE)
    @ddt.unpack
    def test_case(self, extra_specs, metadata, points, exempt=()) -> None:
        aggregates = [
            inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
        ]
        preferred = preferences.Preferences(extra_specs, aggregates, exempt)
        self.assertEqual(points, preferred.score(aggregates))

    def test_each_factor_of_ten_counts_one_more(self) -> None:
        points = (-100, -10, -1, 0, 1, 10, 100)
        weights = [preferences.weight(number) for number in points]
        self.assertEqual([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], weights)

    def test_what_is_malformed_is_named(self) -> None:
        preferred = preferences.Preferences(
            {LIKES: '<or>', 'aggregate_avoided.1e3:disk': 'ssd'}, ()
        )
        self.assertEqual(
            [
                "the flavor has 'aggregate_preferred:disk': nothing follows "
                '<or>',
                "the flavor has 'aggregate_avoided.1e3:disk': '1e3' is no "
                'number from 1 to 100',
            ],
            preferred.problems,
        )

    def test_a_factor_of_thousands_of_digits_is_no_number(self) -> None:
        name = f'aggregate_preferred.{"9" * 5_000}:disk'
        wishes, (problem,) = preferences.read_preferences({name: 'ssd'})
        self.assertEqual([], wishes)
        self.assertIn('is no number from 1 to 100', problem)
        self.assertLess(len(problem), 200)
