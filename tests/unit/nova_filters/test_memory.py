# SPDX-License-Identifier: Apache-2.0
"""A dictionary within a fixed number of bytes."""

import concurrent.futures
import unittest

from nova_filters import matching, memory, requirement


class MemoryTest(unittest.TestCase):
    """It forgets everything before it grows too large."""

    def test_what_is_kept_is_found(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        kept.put('a', 1, 50)
        kept.put('b', 2, 50)
        self.assertEqual((1, 2, None), tuple(map(kept.get, 'abc')))
        self.assertEqual((2, 100), (len(kept), kept.used))

    def test_what_is_too_much_makes_it_forget_the_rest(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        kept.put('a', 1, 50)
        kept.put('b', 2, 51)
        self.assertEqual((None, 2), tuple(map(kept.get, 'ab')))
        self.assertEqual(51, kept.used)

    def test_what_is_larger_than_the_limit_is_not_kept(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        kept.put('a', 1, 100)
        kept.put('b', 2, 101)
        self.assertEqual((1, None), tuple(map(kept.get, 'ab')))

    def test_room_can_be_asked_for_without_a_key(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        kept.put('a', 1, 60)
        self.assertTrue(kept.take(40))
        self.assertEqual(1, kept.get('a'))
        self.assertTrue(kept.take(1))
        self.assertIsNone(kept.get('a'))
        self.assertFalse(kept.take(101))

    def test_equal_things_are_shared_until_all_is_forgotten(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        first, equal, other = [1], [1], [2]
        self.assertIs(first, kept.share(7, first))
        self.assertIs(first, kept.share(7, equal))
        self.assertIs(equal, kept.share(8, equal))
        self.assertIs(other, kept.share(7, other))
        kept.put('a', 1, 100)
        kept.put('b', 1, 100)
        self.assertIs(equal, kept.share(7, equal))

    def test_it_can_be_told_to_forget(self) -> None:
        kept: memory.Memory[str, int] = memory.Memory(100)
        kept.put('a', 1, 60)
        kept.forget()
        self.assertEqual((0, 0), (len(kept), kept.used))

    def test_threads_do_not_lose_count(self) -> None:
        kept: memory.Memory[int, int] = memory.Memory(10**6)

        def work(first: int) -> None:
            for key in range(first, first + 1000):
                kept.put(key, key, 7)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(0, 8000, 1000)))
        self.assertEqual((8000, 56000), (len(kept), kept.used))

    def test_the_size_of_texts_counts_the_widest_characters(self) -> None:
        for text in ('', 'a' * 99, 'ä' * 99, '\U0001f40d' * 99):
            self.assertLessEqual(
                text.__sizeof__(), memory.text_size((text,)), text
            )

    def test_only_texts_have_a_size(self) -> None:
        for value in (1, None, b'a', ['a']):
            with self.assertRaises(TypeError):
                memory.text_size(('a', value))


class CacheTest(unittest.TestCase):
    """What is remembered of single texts is bounded, too."""

    def setUp(self) -> None:
        super().setUp()
        matching.forget()
        self.addCleanup(matching.forget)

    def test_very_many_texts_are_not_all_remembered(self) -> None:
        for number in range(2 * matching.EXEMPTIONS):
            requirement.parse(str(number))
            matching.is_exempt(str(number), ('x',))
        parsed = requirement._parse.cache_info()
        exempt = matching._is_exempt.cache_info()
        self.assertEqual(requirement.PARSED, parsed.currsize)
        self.assertEqual(matching.EXEMPTIONS, exempt.currsize)

    def test_oversized_texts_are_not_remembered(self) -> None:
        long = 'x' * 256
        self.assertEqual({long}, set(requirement.parse(long).literals))
        self.assertTrue(matching.is_exempt(long, ('x*',)))
        self.assertEqual(0, requirement._parse.cache_info().currsize)
        self.assertEqual(0, matching._is_exempt.cache_info().currsize)
