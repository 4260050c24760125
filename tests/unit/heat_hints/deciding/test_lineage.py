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


class TestFind(unittest.TestCase):
    @hypothesis.given(st.integers(0, 12))
    def test_one_query_per_level_and_none_when_warm(self, depth):
        database = Database(depth)
        known = lineage.Memory(100)
        for asked in (range(depth, -1, -1), ()):
            self.assertEqual(
                wanted(depth),
                lineage.find(f'id{depth}', database.load, known),
            )
            self.assertEqual([f'id{level}' for level in asked], database.asked)
            database.asked.clear()

    def test_stacks_side_by_side_share_what_is_above_them(self):
        database = Database(2)
        known = lineage.Memory(100)
        lineage.find('id2', database.load, known)
        database.asked.clear()
        sibling = lineage.StackRow('other', 'other', 'id1', 'second')
        database.rows['other'] = sibling
        found = lineage.find('other', database.load, known)
        self.assertEqual(['other'], database.asked)
        self.assertEqual((*wanted(1), sibling), found)

    @hypothesis.given(st.integers(0, 5), st.lists(st.integers(0, 9)))
    def test_the_result_is_the_same_however_little_is_remembered(
        self, size, levels
    ):
        database = Database(9)
        known = lineage.Memory(size)
        for level in levels:
            self.assertEqual(
                wanted(level),
                lineage.find(f'id{level}', database.load, known),
            )

    def test_a_stack_that_is_gone_is_named(self):
        database = Database(2)
        del database.rows['id1']
        with self.assertRaisesRegex(
            LookupError, '^stack "id1", which holds stack "id2", is gone'
        ):
            lineage.find('id2', database.load, lineage.Memory(10))

    def test_a_ring_of_stacks_ends(self):
        rows = {
            name: lineage.StackRow(name, name, owner, 'r')
            for name, owner in (('a', 'b'), ('b', 'c'), ('c', 'a'))
        }
        with self.assertRaisesRegex(LookupError, 'nested in itself'):
            lineage.find('a', rows.get, lineage.Memory(10))


class TestMemory(unittest.TestCase):
    def test_what_was_not_asked_for_goes_first(self):
        known = lineage.Memory(2)
        for key in 'abac':
            known.get_or(key, lambda key=key: key)
        looked = [known.get_or(key, lambda: 'again') for key in 'acb']
        self.assertEqual(['a', 'c', 'again'], looked)

    def test_threads_may_share_it(self):
        database = Database(9)
        known = lineage.Memory(3)
        wrong: list[int] = []

        def work() -> None:
            for round_ in range(200):
                level = round_ % 10
                found = lineage.find(f'id{level}', database.load, known)
                if found != wanted(level):
                    wrong.append(level)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([], wrong)
