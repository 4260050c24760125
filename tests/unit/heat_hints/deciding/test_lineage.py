# SPDX-License-Identifier: Apache-2.0

import threading
import unittest

import hypothesis
from hypothesis import strategies as st

from heat_hints.deciding import lineage


class Database:
    """Stacks in a row, each nested in the one before, and a query count."""

    def __init__(self, depth: int) -> None:
        self.rows = {
            f'id{level}': lineage.StackRow(
                id=f'id{level}',
                name=f'stack{level}',
                owner_id=f'id{level - 1}' if level else None,
                parent_resource=f'resource{level}' if level else None,
            )
            for level in range(depth + 1)
        }
        self.asked: list[str] = []

    def load(self, stack_id: str) -> lineage.StackRow | None:
        self.asked.append(stack_id)
        return self.rows.get(stack_id)


def wanted(depth: int) -> lineage.Lineage:
    return tuple(Database(depth).rows.values())


class TestLineageCache(unittest.TestCase):
    def test_a_root_stack_costs_no_query(self):
        database = Database(0)
        found = lineage.LineageCache(10).find(
            database.rows['id0'], database.load
        )
        self.assertEqual((wanted(0), []), (found, database.asked))

    @hypothesis.given(st.integers(1, 12))
    def test_one_query_per_level_above_and_none_when_warm(self, depth):
        database = Database(depth)
        cache = lineage.LineageCache(100)
        stack = database.rows[f'id{depth}']
        self.assertEqual(wanted(depth), cache.find(stack, database.load))
        self.assertEqual(
            [f'id{level}' for level in reversed(range(depth))], database.asked
        )
        database.asked.clear()
        self.assertEqual(wanted(depth), cache.find(stack, database.load))
        self.assertEqual([], database.asked)

    def test_stacks_side_by_side_share_what_is_above_them(self):
        database = Database(2)
        cache = lineage.LineageCache(100)
        cache.find(database.rows['id2'], database.load)
        database.asked.clear()
        sibling = lineage.StackRow('other', 'other', 'id1', 'second')
        found = cache.find(sibling, database.load)
        self.assertEqual([], database.asked)
        self.assertEqual((*wanted(1), sibling), found)

    @hypothesis.given(st.integers(0, 5), st.lists(st.integers(0, 9)))
    def test_the_result_is_the_same_however_little_is_remembered(
        self, size, levels
    ):
        database = Database(9)
        cache = lineage.LineageCache(size)
        for level in levels:
            self.assertEqual(
                wanted(level),
                cache.find(database.rows[f'id{level}'], database.load),
            )

    def test_a_stack_that_is_gone_is_named(self):
        database = Database(2)
        del database.rows['id1']
        with self.assertRaisesRegex(LookupError, '"id1".*is gone'):
            lineage.LineageCache(10).find(database.rows['id2'], database.load)

    def test_a_ring_of_stacks_ends(self):
        rows = {
            name: lineage.StackRow(name, name, owner, 'r')
            for name, owner in (('a', 'b'), ('b', 'c'), ('c', 'a'))
        }
        with self.assertRaisesRegex(LookupError, 'nested in itself'):
            lineage.LineageCache(10).find(rows['a'], rows.get)

    def test_threads_may_share_it(self):
        database = Database(9)
        cache = lineage.LineageCache(3)
        wrong: list[int] = []

        def work() -> None:
            for round_ in range(200):
                level = round_ % 10
                row = database.rows[f'id{level}']
                if cache.find(row, database.load) != wanted(level):
                    wrong.append(level)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)
