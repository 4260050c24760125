# SPDX-License-Identifier: Apache-2.0

"""Preferences: the filter's rules, as points."""

import random
import unittest
from typing import Any

import ddt

import tests
from nova_filters.matching import inputs, preferences
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Side

#: How many random hosts are judged.
CASES = 1_000_000 if tests.ALL else 4_000
WORDS = ('ssd', 'hdd', '2', '10', '*', '~', '!', '<or> ssd <or> 2', '>= 4')
WORDS += ('<or> * <or> ~', '<or> ! <or> ~', '<or>', '>= x', 's== ssd')
KEYS = ('disk', 'rack', 'hw:cpu', inputs.FLAG, inputs.SOFT_FLAG)

HARD, SOFT = {inputs.FLAG: 'true'}, {inputs.SOFT_FLAG: 'on'}
SSD, HDD = {'disk': 'ssd'}, {'disk': 'hdd'}
LIKES, AVOIDS = 'aggregate_preferred:disk', 'aggregate_avoided:disk'

#: A flavor's extra specs, the metadata of a host's aggregates, the points.
#: The other cells follow from the hard verdicts: see the random hosts.
TABLE: tuple[tuple[dict[str, str], list[dict[str, str]], int], ...] = (
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
)


def total(extra_specs: Any, metadata: Any, exempt: Any = ()) -> int:
    """Return the points of a host."""
    judge = preferences.Preferences(extra_specs, exempt)
    aggregates = [
        inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
    ]
    return judge.score(aggregates)


def refused(side: Side, extra_specs: Any, metadata: Any) -> bool:
    """Tell whether one of the filter's two checks refuses a host."""
    judge = Judge(inputs.read_flavor(extra_specs))
    aggregates = [inputs.Aggregate('a', data) for data in metadata]
    return side in {reason.side for reason in judge.reasons(aggregates)}


def by_verdicts(extra_specs: Any, metadata: Any) -> int:
    """Return the points as the sum of hard verdicts, one by one."""
    points = 0
    for name, value in extra_specs.items():
        kind, _, key = name.partition(':')
        sign = {'aggregate_preferred': 1, 'aggregate_avoided': -1}.get(
            kind.partition('.')[0], 0
        )
        factor = int(kind.partition('.')[2] or 1)
        demand = {f'{inputs.SCOPE}{key}': value}
        malformed = value in ('<or>', '>= x', '<or> ! <or> ~')
        if sign and not malformed:
            met = not refused(Side.FLAVOR, demand, metadata)
            points += sign * factor * met
    #: By key, the metadata of forced aggregates with this key alone.
    forced: dict[str, list[dict[str, str]]] = {}
    for data in metadata:
        if data.get(inputs.SOFT_FLAG) != 'on' or inputs.FLAG in data:
            continue
        for key, value in data.items():
            if key != inputs.SOFT_FLAG:
                forced.setdefault(key, []).append(HARD | {key: value})
    for hard in forced.values():
        points -= refused(Side.AGGREGATE, extra_specs, hard)
    return points


@ddt.ddt
class PreferencesTest(unittest.TestCase):
    @ddt.data(*TABLE)
    @ddt.unpack
    def test_case(self, extra_specs, metadata, points) -> None:
        self.assertEqual(points, total(extra_specs, metadata))

    def test_points_are_the_sum_of_hard_verdicts(self) -> None:
        rng = random.Random(20_261_123)
        names = [
            'disk',
            'rack',
            'hw:cpu',
            f'{inputs.SCOPE}disk',
            LIKES,
            AVOIDS,
            'aggregate_preferred.7:rack',
            'aggregate_avoided.100:hw:cpu',
            'aggregate_avoided.3:disk',
        ]
        seen = set()
        for _ in range(CASES):
            chosen = rng.sample(names, rng.randint(0, 4))
            extra_specs = {name: rng.choice(WORDS) for name in chosen}
            metadata = []
            for _ in range(rng.randint(0, 3)):
                keys = rng.sample(KEYS[:3], rng.randint(0, 3))
                data = {key: rng.choice(WORDS) for key in keys}
                data |= {key: 'on' for key in KEYS[3:] if rng.random() < 0.4}
                metadata.append(data)
            points = by_verdicts(extra_specs, metadata)
            self.assertEqual(
                points,
                total(extra_specs, metadata),
                (extra_specs, metadata),
            )
            seen.add(points)
        self.assertGreater(len(seen), 20)

    def test_each_factor_of_ten_counts_one_more(self) -> None:
        points = (-100, -10, -1, 0, 1, 10, 100)
        weights = [preferences.weight(number) for number in points]
        self.assertEqual([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], weights)
        # More points are never less.
        ascending = [
            preferences.weight(number) for number in range(-1_000, 1_001)
        ]
        self.assertEqual(len(ascending), len({*ascending}))
        self.assertEqual(sorted(ascending), ascending)

    def test_exempt_keys_are_no_demand(self) -> None:
        self.assertEqual(-1, total({}, [SOFT | SSD | {'rack': '1'}], ('ra*',)))

    def test_what_is_malformed_is_named(self) -> None:
        judge = preferences.Preferences(
            {LIKES: '<or>', 'aggregate_avoided.1e3:disk': 'ssd'}
        )
        self.assertEqual(
            [
                "the flavor has 'aggregate_preferred:disk': nothing follows "
                '<or>',
                "the flavor has 'aggregate_avoided.1e3:disk': '1e3' is no "
                'number from 1 to 100',
            ],
            judge.problems,
        )

    def test_each_point_has_its_reason(self) -> None:
        judge = preferences.Preferences({LIKES: 'ssd'})
        aggregates = [
            inputs.Aggregate('fast', SSD),
            inputs.Aggregate('old', SOFT | {'rack': '1'}),
        ]
        self.assertEqual(
            [
                (1, 'aggregate_preferred:disk=ssd'),
                (-1, "aggregate 'old' demands 'rack'"),
            ],
            [*judge.reasons(aggregates)],
        )

    def test_a_factor_of_thousands_of_digits_is_no_number(self) -> None:
        name = f'aggregate_preferred.{"9" * 5_000}:disk'
        wishes, (problem,) = preferences.read_preferences({name: 'ssd'})
        self.assertEqual([], wishes)
        self.assertIn('is no number from 1 to 100', problem)
        self.assertLess(len(problem), 200)
