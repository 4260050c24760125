# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The map from instances to root stacks: bounded, loaded once."""

import concurrent.futures
import unittest

from nova_filters import stack_map


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
        stacks = stack_map.StackMap(10)
        self.assertEqual(
            {'a': 'stack-a', 'b': 'stack-b'}, stacks.roots('ab', self.load)
        )
        self.assertEqual(
            {'b': 'stack-b', 'c': 'stack-c'}, stacks.roots('bc', self.load)
        )
        self.assertEqual([['a', 'b'], ['c']], self.asked)

    def test_nothing_is_loaded_when_all_are_known(self) -> None:
        stacks = stack_map.StackMap(10)
        stacks.roots('ab', self.load)
        stacks.roots('ba', self.load)
        stacks.roots('', self.load)
        self.assertEqual([['a', 'b']], self.asked)

    def test_an_instance_without_a_stack_is_remembered(self) -> None:
        stacks = stack_map.StackMap(10)
        for _ in range(2):
            self.assertEqual({'none': None}, stacks.roots(['none'], self.load))
        self.assertEqual([['none']], self.asked)

    def test_the_longest_unused_are_forgotten(self) -> None:
        stacks = stack_map.StackMap(2)
        stacks.roots('ab', self.load)
        stacks.roots('a', self.load)
        stacks.roots('c', self.load)
        self.assertEqual(2, len(stacks))
        stacks.roots('a', self.load)
        stacks.roots('b', self.load)
        self.assertEqual([['a', 'b'], ['c'], ['b']], self.asked)

    def test_a_request_larger_than_the_map_is_answered(self) -> None:
        stacks = stack_map.StackMap(2)
        wanted = {uuid: f'stack-{uuid}' for uuid in 'abcd'}
        self.assertEqual(wanted, stacks.roots('abcd', self.load))
        self.assertEqual(2, len(stacks))

    def test_what_loading_raises_leaves_nothing_behind(self) -> None:
        stacks = stack_map.StackMap(2)

        def fail(_uuids: list[str]) -> dict[str, str]:
            raise OSError('the database is gone')

        with self.assertRaises(OSError):
            stacks.roots('a', fail)
        self.assertEqual(0, len(stacks))

    def test_threads_share_it(self) -> None:
        stacks = stack_map.StackMap(50)
        uuids = [str(number) for number in range(100)]
        wanted = {uuid: f'stack-{uuid}' for uuid in uuids}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(
                pool.map(lambda _: stacks.roots(uuids, self.load), range(50))
            )
        self.assertEqual([wanted] * 50, answers)
        self.assertEqual(50, len(stacks))
