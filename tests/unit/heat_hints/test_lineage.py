# SPDX-License-Identifier: Apache-2.0

import unittest

from heat_hints import lineage


def row(level: int, owner: int | None) -> lineage.StackRow:
    above = None if owner is None else f'id{owner}'
    return lineage.StackRow(f'id{level}', f'stack{level}', above, 'resource')


class TestFind(unittest.TestCase):
    def test_each_stack_above_is_looked_up_once(self):
        rows = [row(0, None), *(row(n, n - 1) for n in range(1, 10))]
        by_id = {stack.id: stack for stack in rows}
        for depth, stack in enumerate(rows):
            loaded_ids = []

            def load(stack_id, loaded_ids=loaded_ids):
                loaded_ids.append(stack_id)
                return by_id[stack_id]

            above = rows[:depth]
            self.assertEqual((*above, stack), lineage.find(stack, load))
            self.assertEqual([row.id for row in above[::-1]], loaded_ids)

    def test_a_ring_of_stacks_ends(self):
        rows = {'id1': row(1, 2), 'id2': row(2, 3), 'id3': row(3, 1)}
        with self.assertRaisesRegex(LookupError, '"id1" is nested in itself'):
            lineage.find(rows['id1'], rows.__getitem__)
