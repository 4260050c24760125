# SPDX-License-Identifier: Apache-2.0

"""Which instances are members of a stack, and where."""

import concurrent.futures
import unittest
from collections.abc import Mapping

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.weighers import stack_members

STACK = ('root', 'project')
OTHER = ('root', 'another')


@ddt.ddt
class StackMembersTest(unittest.TestCase):
    """What hosts list, what is starting, and what is forgotten."""

    def setUp(self) -> None:
        super().setUp()
        self.members = stack_members.StackMembers(100)
        self.asked: list[list[str]] = []

    def load(self, uuids: list[str]) -> dict[str, stack_members.Stack]:
        """Answer that instances named m… are members, o… another's."""
        self.asked.append(sorted(uuids))
        stacks = {'m': STACK, 'o': OTHER}
        return {uuid: stacks[uuid[0]] for uuid in uuids if uuid[0] in stacks}

    def follow(self, now: float = 0.0, **lists: str) -> int:
        """Have hosts list instances, whose names stand between blanks."""
        found = {host: set(text.split()) for host, text in lists.items()}
        return self.members.follow(found, self.load, now)

    def choose(
        self, uuid: str = 'new', host: str = 'none', now: float = 0.0
    ) -> Mapping[str, int]:
        """Return the members on each host; the instance goes to a host."""
        seen: dict[str, int] = {}

        def decide(counts: Mapping[str, int]) -> str:
            seen.update((h, n) for h, n in counts.items() if n)
            return host

        self.members.choose(STACK, uuid, decide, now)
        return seen

    def due(self, *ready: str, now: float = 0.0, count: int = 9) -> list[str]:
        """Return what Placement is to be asked about."""
        return self.members.take_due(STACK, ready, count, now)

    def test_each_instance_is_read_once(self) -> None:
        self.follow(a='m1 o1 x1', b='m2')
        self.follow(a='m1 o1 x1 m3', b='m2')
        self.follow(a='m1 o1', b='')
        self.assertEqual([['m1', 'm2', 'o1', 'x1'], ['m3']], self.asked)
        self.assertEqual({'a': 1}, self.choose())

    def test_an_instance_does_not_count_itself(self) -> None:
        self.follow(a='m1 m2')
        self.assertEqual({'a': 1}, self.choose('m1'))

    def test_what_is_too_much_for_one_call_is_left_to_the_next(self) -> None:
        self.members = stack_members.StackMembers(3)
        lists = {'a': 'm1 m2 m3 m4', 'b': 'm5', 'c': ''}
        self.assertEqual(2, self.follow(**lists))
        self.assertEqual(0, self.follow(**lists))
        self.assertEqual([3, 2], [len(uuids) for uuids in self.asked])
        self.assertEqual({'a': 4, 'b': 1}, self.choose())

    def test_what_loading_raises_leaves_nothing_behind(self) -> None:
        def fail(_uuids: list[str]) -> dict[str, stack_members.Stack]:
            raise OSError('the database is gone')

        with self.assertRaises(OSError):
            self.members.follow({'a': {'m1'}}, fail, 0.0)
        self.assertEqual({}, self.choose())
        self.follow(a='m1')
        self.assertEqual([['m1']], self.asked)

    def test_one_choice_is_seen_by_the_next(self) -> None:
        self.assertEqual({}, self.choose('m1', 'a'))
        self.assertEqual({'a': 1}, self.choose('m2', 'b'))
        self.assertEqual({'a': 1, 'b': 1}, self.choose('m3', 'b'))
        # A second try, as after a host that has failed.
        self.assertEqual({'b': 2}, self.choose('m1', 'c'))

    def test_a_host_that_lists_an_instance_is_right(self) -> None:
        self.choose('m1', 'a')
        self.follow(a='m1')
        self.assertEqual([], self.asked)
        self.assertEqual({'a': 1}, self.choose())

    def test_another_host_than_expected_lists_an_instance(self) -> None:
        self.choose('m1', 'a')
        self.follow(b='m1', now=1.0)
        self.assertEqual(['m1'], self.due(now=1.0))
        self.members.found('m1', frozenset('b'))
        self.assertEqual({'b': 1}, self.choose())

    def test_placement_is_asked_when_a_cell_has_the_instance(self) -> None:
        self.members.announce({'m1': STACK, 'm2': STACK, 'o1': OTHER}, 0.0)
        self.assertEqual({'m1', 'm2'}, self.members.unasked(STACK))
        self.assertEqual([], self.due())
        self.assertEqual(['m1'], self.due('m1', 'o1'))
        self.assertEqual([], self.due('m1'))
        self.members.found('m1', frozenset(['a', 'shared disk']))
        self.assertEqual({'a': 1, 'shared disk': 1}, self.choose())

    def test_placement_is_asked_again_later(self) -> None:
        self.members.announce({'m1': STACK}, 0.0)
        later = 600.0
        self.assertEqual([], self.due(now=later - 1))
        self.assertEqual(['m1'], self.due(now=later))
        self.members.found('m1', frozenset('a'))
        later += 120.0
        self.assertEqual([], self.due(now=later - 1))
        self.assertEqual(['m1'], self.due(now=later))
        self.members.ask_again(['m1'], later)
        self.assertEqual(['m1'], self.due(now=later))
        self.members.found('m1', frozenset())
        self.assertEqual({}, self.choose())
        self.assertEqual(['new'], list(self.members.unasked(STACK)))

    @ddt.data(('', 600.0), ('m1', 120.0))
    @ddt.unpack
    def test_a_choice_is_looked_up_later(self, listed, later) -> None:
        self.follow(a=listed)
        self.choose('m1', 'b')
        self.assertEqual([], self.due(now=later - 1))
        self.assertEqual(['m1'], self.due(now=later))

    def test_a_request_asks_about_so_many(self) -> None:
        self.members.announce({f'm{n}': STACK for n in range(5)}, 0.0)
        now = stack_members.GIVEN_UP
        sizes = [len(self.due(now=now, count=2)) for _ in range(4)]
        self.assertEqual([2, 2, 1, 0], sizes)

    def test_an_instance_that_moves_counts_in_both_places(self) -> None:
        self.follow(a='m1')
        self.choose('m1', 'b')
        self.assertEqual({'a': 1, 'b': 1}, self.choose())
        self.follow(a='', b='m1')
        self.assertEqual({'b': 1}, self.choose())

    def test_an_instance_that_left_is_looked_for_once(self) -> None:
        self.follow(a='m1 x1 o1')
        self.follow(a='', now=5.0)
        self.assertEqual({}, self.choose())
        self.assertEqual(['m1'], self.due(now=5.0))
        self.members.found('m1', frozenset())
        self.follow(a='m1')
        self.assertEqual([['m1', 'o1', 'x1'], ['m1']], self.asked)

    def test_so_many_starting_instances_are_remembered(self) -> None:
        count = stack_members.STARTING + 5
        self.members.announce({f'm{n}': STACK for n in range(count)}, 0.0)
        found = self.members.unasked(STACK)
        self.assertEqual(stack_members.STARTING, len(found))
        self.assertNotIn('m4', found)

    def test_threads_choose_one_after_the_other(self) -> None:
        def choose(number: int) -> None:
            self.follow(a='m1 m2', b='m3')
            self.members.choose(
                STACK,
                f'n{number}',
                lambda counts: min('abcd', key=lambda h: (counts[h], h)),
                0.0,
            )

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(choose, range(37)))
        self.assertEqual(dict.fromkeys('abcd', 10), self.choose())

    @ddt.data(
        # Hosts and their members, places, and the order of the hosts.
        ({'a': 2, 'b': 1}, {'a': 'a', 'b': 'b', 'c': 'c'}, 'cba'),
        ({'a': 3, 'c': 1}, {'a': '1a', 'b': '1b', 'c': '2c'}, 'cba'),
        ({'a': 1, 'b': 1, 'c': 2}, {'a': '1a', 'b': '1b', 'c': '1c'}, 'abc'),
        # Full hosts make no rack as full as the next one.
        (
            {'b': 1, 'x': 1, 'y': 1},
            {'a': '2a', 'b': '1b', 'x': '2x', 'y': '2y'},
            'ba',
        ),
        # A host of rack 1 that is no candidate, and one that nobody knows.
        ({'x': 9, '?': 9}, {'a': '1a', 'b': '2b', 'x': '1x'}, 'ba'),
    )
    @ddt.unpack
    def test_the_first_level_goes_first(self, counts, places, wanted) -> None:
        hosts = sorted(wanted)
        found = stack_members.weigh(
            counts, hosts, {host: tuple(p) for host, p in places.items()}
        )
        order = sorted(hosts, key=lambda host: found[hosts.index(host)])
        self.assertEqual(wanted, ''.join(order))

    def test_one_level_is_the_number_of_members(self) -> None:
        places = {host: (host,) for host in 'abc'}
        found = stack_members.weigh({'a': 2, 'c': 1}, 'abc', places)
        self.assertEqual([2.0, 0.0, 1.0], found)


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
            self.assertEqual(wanted, stack_members.share(hosts, count))

    def test_an_instance_on_two_hosts_is_asked_for_once(self) -> None:
        self.assertEqual(
            ['a', 'b'], stack_members.share([['a', 'b'], ['a']], 9)
        )

    @given(st.lists(st.lists(st.text(max_size=2))), st.integers(0, 9))
    def test_as_many_as_there_are_are_chosen(self, hosts, count) -> None:
        every = {uuid for uuids in hosts for uuid in uuids}
        chosen = stack_members.share(hosts, count)
        self.assertEqual(min(count, len(every)), len(set(chosen)))
        self.assertEqual(len(chosen), len(set(chosen)))
        self.assertLessEqual(set(chosen), every)
