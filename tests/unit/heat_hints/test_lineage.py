# SPDX-License-Identifier: Apache-2.0

"""The way up from random stacks, some of them nested, in rings or lost."""

import random
import unittest
from unittest import mock

import tests
from heat_hints import lineage

#: How many stacks are asked for.
CASES = 1_000_000 if tests.ALL else 5_000
SEED = 20261124


def make_stacks(rng: random.Random) -> dict[str, lineage.StackRow]:
    """Return stacks by their ids."""
    ids = [f'id{number}' for number in range(rng.randint(1, 12))]
    rows = {}
    for number, stack_id in enumerate(ids):
        owner, parent = None, None
        if number and rng.random() < 0.8:
            owner, parent = rng.choice(ids[:number]), f'resource{number}'
        if rng.random() < 0.02:
            owner, parent = rng.choice([*ids, 'gone']), f'resource{number}'
        name = f'stack{number}'
        rows[stack_id] = lineage.StackRow(stack_id, name, owner, parent)
    return rows


def way_up(
    rows: dict[str, lineage.StackRow], stack_id: str | None
) -> list[lineage.StackRow] | None:
    """Return the stacks from one up to its root stack; None for no way."""
    way: list[lineage.StackRow] = []
    while stack_id is not None:
        if stack_id not in rows or len(way) > len(rows):
            return None
        way.append(rows[stack_id])
        stack_id = rows[stack_id].owner_id
    return way


class LineageTest(unittest.TestCase):
    def test_the_stacks_above_are_each_looked_up_once(self) -> None:
        rng = random.Random(SEED)
        kinds = {'lost': 0, 'nested': 0, 'root': 0}
        for _ in range(CASES):
            rows = make_stacks(rng)
            stack = rng.choice([*rows.values()])
            way = way_up(rows, stack.id)
            if way is None:
                kinds['lost'] += 1
                words = 'gone|is nested in itself'
                with self.assertRaisesRegex(LookupError, words):
                    lineage.find(stack, rows.__getitem__)
                continue
            kinds['nested' if len(way) > 1 else 'root'] += 1
            load = mock.Mock(side_effect=rows.__getitem__)
            self.assertEqual(way[::-1], [*lineage.find(stack, load)])
            loaded = [mock.call(row.id) for row in way[1:]]
            self.assertEqual(loaded, load.mock_calls)
        self.assertTrue(all(kinds.values()), kinds)
