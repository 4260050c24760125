# SPDX-License-Identifier: Apache-2.0

"""The map from instances to root stacks: bounded, loaded once."""

import concurrent.futures
import unittest

from hypothesis import given
from hypothesis import strategies as st

from nova_filters.weighers import stack_map


class StackMapTest(unittest.TestCase):
    """Unknown instances are asked for, known ones are not."""

    def setUp(self) -> None:
        super().setUp()
        self.asked: list[list[str]] = []

    def load(self, uuids: list[str]) -> dict[str, str]:
        """Answer that every instance but "none" is in a stack of its own."""
        self.asked.append(sorted(uuids))
        return {uuid: f'stack-{uuid}' for uuid in uuids if uuid != 'none'}

    def test_only_unknown_instances_are_loaded(self) -> None:
        stacks = stack_map.StackMap(10, 100)
        self.assertEqual(
            {'a': 'stack-a', 'b': 'stack-b'}, stacks.roots(['ab'], self.load)
        )
        self.assertEqual(
            {'b': 'stack-b', 'c': 'stack-c'}, stacks.roots(['bc'], self.load)
        )
        self.assertEqual([['a', 'b'], ['c']], self.asked)

    def test_nothing_is_loaded_when_all_are_known(self) -> None:
        stacks = stack_map.StackMap(10, 100)
        stacks.roots(['ab'], self.load)
        stacks.roots(['ba'], self.load)
        stacks.roots([''], self.load)
        self.assertEqual([['a', 'b']], self.asked)

    def test_an_instance_without_a_stack_is_remembered(self) -> None:
        stacks = stack_map.StackMap(10, 100)
        for _ in range(2):
            self.assertEqual(
                {'none': None}, stacks.roots([['none']], self.load)
            )
        self.assertEqual([['none']], self.asked)

    def test_the_longest_unused_are_forgotten(self) -> None:
        stacks = stack_map.StackMap(2, 100)
        stacks.roots(['ab'], self.load)
        stacks.roots(['a'], self.load)
        stacks.roots(['c'], self.load)
        self.assertEqual(2, len(stacks))
        stacks.roots(['a'], self.load)
        stacks.roots(['b'], self.load)
        self.assertEqual([['a', 'b'], ['c'], ['b']], self.asked)

    def test_a_request_larger_than_the_map_is_answered(self) -> None:
        stacks = stack_map.StackMap(2, 100)
        wanted = {uuid: f'stack-{uuid}' for uuid in 'abcd'}
        self.assertEqual(wanted, stacks.roots(['abcd'], self.load))
        self.assertEqual(2, len(stacks))

    def test_what_is_too_much_for_one_call_is_left_to_the_next(self) -> None:
        stacks = stack_map.StackMap(10, 3)
        hosts = ['abcd', 'x', '']
        self.assertEqual({'a', 'b', 'x'}, set(stacks.roots(hosts, self.load)))
        for _ in range(2):
            known = stacks.roots(hosts, self.load)
            self.assertEqual(
                {uuid: f'stack-{uuid}' for uuid in 'abcdx'}, known
            )
        self.assertEqual([['a', 'b', 'x'], ['c', 'd']], self.asked)

    def test_what_loading_raises_leaves_nothing_behind(self) -> None:
        stacks = stack_map.StackMap(2, 100)

        def fail(_uuids: list[str]) -> dict[str, str]:
            raise OSError('the database is gone')

        with self.assertRaises(OSError):
            stacks.roots(['a'], fail)
        self.assertEqual(0, len(stacks))

    def test_threads_share_it(self) -> None:
        stacks = stack_map.StackMap(50, 100)
        uuids = [str(number) for number in range(100)]
        wanted = {uuid: f'stack-{uuid}' for uuid in uuids}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda _: stacks.roots([uuids], self.load), range(50))
            )
        self.assertEqual([wanted] * 50, answers)
        self.assertEqual(50, len(stacks))


class ShareTest(unittest.TestCase):
    """Which instances are asked for first."""

    def test_every_host_has_its_share(self) -> None:
        hosts = [['a1', 'a2', 'a3', 'a4'], [], ['c1'], ['d1', 'd2', 'd3']]
        for count, wanted in (
            (0, []),
            (2, ['a1', 'c1']),
            (5, ['a1', 'c1', 'd1', 'a2', 'd2']),
            (9, ['a1', 'c1', 'd1', 'a2', 'd2', 'a3', 'd3', 'a4']),
        ):
            self.assertEqual(wanted, stack_map.share(hosts, count))

    def test_an_instance_on_two_hosts_is_asked_for_once(self) -> None:
        self.assertEqual(['a', 'b'], stack_map.share([['a', 'b'], ['a']], 9))

    @given(st.lists(st.lists(st.text(max_size=2))), st.integers(0, 9))
    def test_as_many_as_there_are_are_chosen(self, hosts, count) -> None:
        every = {uuid for uuids in hosts for uuid in uuids}
        chosen = stack_map.share(hosts, count)
        self.assertEqual(min(count, len(every)), len(set(chosen)))
        self.assertEqual(len(chosen), len(set(chosen)))
        self.assertLessEqual(set(chosen), every)
