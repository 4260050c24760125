# SPDX-License-Identifier: Apache-2.0

import unittest

from heat_hints.deciding import lineage


def row(level: int, owner: int | None) -> lineage.StackRow:
    above = None if owner is None else f'id{owner}'
    return lineage.StackRow(f'id{level}', f'stack{level}', above, 'resource')


class TestFind(unittest.TestCase):
    def test_each_stack_above_is_looked_up_once(self):
        rows = [row(0, None), *(row(n, n - 1) for n in range(1, 10))]
        by_id = {one.id: one for one in rows}
        for depth, own in enumerate(rows):
            asked = []

            def load(key, asked=asked):
                asked.append(key)
                return by_id[key]

            found = lineage.find(own, load)
            self.assertEqual(tuple(rows[: depth + 1]), found)
            self.assertEqual([r.id for r in rows[:depth][::-1]], asked)

    def test_a_stack_that_is_gone_is_an_error(self):
        with self.assertRaises(LookupError):
            lineage.find(row(2, 1), {}.__getitem__)

    def test_a_ring_of_stacks_ends(self):
        rows = {'id1': row(1, 2), 'id2': row(2, 3), 'id3': row(3, 1)}
        with self.assertRaisesRegex(LookupError, '"id1" is nested in itself'):
            lineage.find(rows['id1'], rows.__getitem__)
