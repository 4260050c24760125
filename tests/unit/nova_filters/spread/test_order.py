# SPDX-License-Identifier: Apache-2.0

"""Where the members of a team are, and who is placed first."""

import datetime
import unittest
import uuid

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import order
from os_placement_plugins import stack_hints

START = datetime.datetime(2026, 11, 23)


def turn(number: int, seconds: float = 0, queue: str = '') -> order.Turn:
    """Return a turn, so many seconds after the start."""
    time = START + datetime.timedelta(seconds=seconds)
    return order.Turn(queue, number, time)


def member(server: str, its_turn: order.Turn, needs: str = '') -> order.Member:
    """Return a member in flight."""
    return order.Member(server, its_turn, order.Kind(needs))


@ddt.ddt
class SortTest(unittest.TestCase):
    @ddt.data(
        # The ids of one queue, whatever the clocks of nova-api say.
        ([turn(1, 5), turn(2, 4)],),
        ([turn(1, 5, 'cell'), turn(2, 4, 'cell')],),
        # The times of different queues.
        ([turn(9, 4, 'cell-1'), turn(2, 5, 'cell-2')],),
        ([turn(9, 4, 'cell'), turn(2, 5)],),
        ([turn(9, 4), turn(2, 5, 'cell')],),
        # A clock that is behind does not go back behind another queue.
        ([turn(1, 6), turn(9, 7, 'cell'), turn(2, 8), turn(3, 5)],),
    )
    @ddt.unpack
    def test_ids_order_a_queue_and_times_order_queues(self, turns) -> None:
        members = [member(str(n), turn) for n, turn in enumerate(turns)]
        for given_members in (members, members[::-1]):
            self.assertEqual(members, order.sort_members(given_members))

    @given(
        st.lists(
            st.tuples(st.sampled_from(('', 'a', 'b')), st.floats(0, 9)),
            max_size=9,
        ),
        st.randoms(),
    )
    def test_everybody_finds_the_same_order(self, turns, random) -> None:
        members = []
        for number, (queue, seconds) in enumerate(turns):
            its_turn = turn(number, seconds, queue)
            members.append(member(str(number), its_turn))
        expected = order.sort_members(members)
        shuffled = [*members]
        random.shuffle(shuffled)
        self.assertEqual(expected, order.sort_members(shuffled))
        for queue in ('', 'a', 'b'):
            turns = [one.turn for one in expected if one.turn.queue == queue]
            self.assertEqual(sorted(turns, key=lambda t: t.number), turns)


class TeamTest(unittest.TestCase):
    def test_a_team_is_text(self) -> None:
        number = uuid.UUID(int=7)
        for policy in ('soft-affinity', 'soft-anti-affinity', 'anti-affinity'):
            self.assertEqual(
                (policy, str(number)), order.of_group(policy, number)
            )
        self.assertIsNone(order.of_group('affinity', number))
        packed = [policy for policy, pack in order.POLICIES.items() if pack]
        self.assertEqual(['soft-affinity'], packed)
        hints = stack_hints.StackHints(root_stack_id='root')
        self.assertEqual(('stack', 'root', 'None'), order.of_stack(hints))
        self.assertIsNone(order.of_stack(stack_hints.StackHints()))


@ddt.ddt
class ServerTest(unittest.TestCase):
    MOVE = turn(2, queue='cell')

    @ddt.data(
        # The goal, whether a host is being chosen, and the facts.
        (None, True, None, 'building'),
        ('a', False, 'a', 'building'),
        ('a', False, 'a', 'stopped'),
        ('a', False, 'a', 'error'),
        (None, False, None, 'error'),
        (None, False, None, 'shelved_offloaded'),
        (None, True, None, 'shelved_offloaded', 'unshelve', MOVE),
        ('b', False, 'b', 'shelved_offloaded', 'unshelve', MOVE),
        (None, True, 'a', 'active', 'evacuate', MOVE),
        ('b', False, 'a', 'active', 'evacuate', MOVE, 'b'),
        ('b', False, 'b', 'resized', 'resize', MOVE, 'b'),
    )
    def test_a_server_is_where_it_goes(self, case) -> None:
        goal, in_flight, *facts = case
        server = order.Server(*facts)
        self.assertEqual(goal, server.goal())
        self.assertEqual(in_flight, server.in_flight())


class SeeTest(unittest.TestCase):
    def ahead(self, sight: order.Sight) -> list[str]:
        """Return the servers that are placed before the server."""
        return [member.server for member in sight.ahead]

    def test_a_member_counts_on_its_host(self) -> None:
        hosts = {'m1': 'a', 'm2': 'a', 'm3': 'b', 'm5': 'b'}
        sight = order.see_members('m5', hosts, [member('m4', turn(4))])
        # A server on a host counts itself nowhere.
        self.assertEqual({'a': 2, 'b': 1}, sight.counts)
        self.assertEqual(['m4'], self.ahead(sight))
        self.assertIsNone(order.see_members('m5', hosts, []).member)

    def test_members_ahead_come_in_the_order_of_their_turns(self) -> None:
        own = member('m5', turn(5), 'needs')
        others = [member(f'm{n}', turn(n), f'{n}') for n in (3, 2, 6)]
        sight = order.see_members('m5', {}, [*others, own])
        self.assertEqual(
            (['m2', 'm3'], own), (self.ahead(sight), sight.member)
        )

    def test_what_takes_longer_than_ten_minutes_has_failed(self) -> None:
        boot = member('boot', turn(1))
        move = member('move', turn(1, queue='cell'))._replace(origin='a')
        for seconds, counts, ahead in (
            (600, {}, ['boot', 'move']),
            # The move leaves its server where it was.
            (601, {'a': 1}, []),
        ):
            own = member('own', turn(5, seconds))
            sight = order.see_members('own', {}, [own, boot, move])
            self.assertEqual(counts, sight.counts)
            self.assertEqual(ahead, self.ahead(sight))

    def test_a_request_that_is_not_visible_comes_last(self) -> None:
        others = [member('m1', turn(1)), member('m9', turn(9, 9_999))]
        sight = order.see_members('new', {}, others)
        self.assertEqual(['m1', 'm9'], self.ahead(sight))
        # It is mostly like the last one.
        self.assertEqual(others[-1]._replace(server='new'), sight.member)
