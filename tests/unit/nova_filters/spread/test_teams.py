# SPDX-License-Identifier: Apache-2.0

"""Where the members of a team are, and who is placed first."""

import datetime
import unittest
from typing import Any

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import teams

START = datetime.datetime(2026, 11, 23)


def turn(number: int, seconds: float = 0, queue: str = '') -> teams.Turn:
    """Return a turn, so many seconds after the start."""
    time = START + datetime.timedelta(seconds=seconds)
    return teams.Turn(queue, number, time)


def member(server: str, its_turn: teams.Turn, kind: str = '') -> teams.Pending:
    return teams.Pending(server, its_turn, kind)


def count(server: str, hosts: Any, pending: Any) -> teams.Members:
    """Return the members that count for a server."""
    stored = teams.StoredMembers(hosts, pending)
    return teams.count_members(server, stored, {})


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
        pending = [member(str(n), turn) for n, turn in enumerate(turns)]
        for given_members in (pending, pending[::-1]):
            self.assertEqual(pending, teams.sort_pending(given_members))

    @given(
        st.lists(
            st.tuples(st.sampled_from(('', 'a', 'b')), st.floats(0, 9)),
            max_size=9,
        ),
        st.randoms(),
    )
    def test_everybody_finds_the_same_order(self, turns, random) -> None:
        pending = []
        for number, (queue, seconds) in enumerate(turns):
            its_turn = turn(number, seconds, queue)
            pending.append(member(str(number), its_turn))
        expected = teams.sort_pending(pending)
        shuffled = [*pending]
        random.shuffle(shuffled)
        self.assertEqual(expected, teams.sort_pending(shuffled))
        for queue in ('', 'a', 'b'):
            turns = [one.turn for one in expected if one.turn.queue == queue]
            self.assertEqual(sorted(turns, key=lambda t: t.number), turns)


class SeeTest(unittest.TestCase):
    def ahead(self, counted: teams.Members) -> list[str]:
        """Return the servers that are placed before the server."""
        return [member.server for member in counted.ahead]

    def test_a_member_counts_on_its_host(self) -> None:
        hosts = {'m1': 'a', 'm2': 'a', 'm3': 'b'}
        pending = [member('m5', turn(5)), member('m4', turn(4))]
        counted = count('m5', hosts, pending)
        self.assertEqual({'a': 2, 'b': 1}, counted.counts)
        self.assertEqual(['m4'], self.ahead(counted))

    def test_members_ahead_come_in_the_order_of_their_turns(self) -> None:
        own = member('m5', turn(5), 'needs')
        others = [member(f'm{n}', turn(n), f'{n}') for n in (3, 2, 6)]
        counted = count('m5', {}, [*others, own])
        self.assertEqual(
            (['m2', 'm3'], own), (self.ahead(counted), counted.server)
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
            counted = count('own', {}, [own, boot, move])
            self.assertEqual(counts, counted.counts)
            self.assertEqual(ahead, self.ahead(counted))

    def test_a_member_that_has_claimed_a_host_counts_there(self) -> None:
        own = member('own', turn(9, 9_999))
        boot = member('boot', turn(1))
        full = member('full', turn(2))
        move = member('move', turn(3, 9_999))._replace(origin='a')
        waiting = member('waiting', turn(4, 9_999))._replace(origin='a')
        stored = teams.StoredMembers(
            {'m': 'b'}, [own, boot, full, move, waiting]
        )
        claimed = {'boot': 'b', 'full': None, 'move': 'c'}
        counted = teams.count_members('own', stored, claimed)
        # A claim counts however old it is.
        self.assertEqual({'b': 2, 'c': 1}, counted.counts)
        self.assertEqual(['waiting'], self.ahead(counted))

    def test_a_later_member_of_another_queue_counts_with_its_claim(
        self,
    ) -> None:
        own = member('own', turn(5))
        boot = member('boot', turn(6))
        moves = [member(f'move-{n}', turn(n, 1, 'cell')) for n in range(2)]
        stored = teams.StoredMembers({}, [boot, *moves, own])
        asked = teams.list_asked('own', stored.pending)
        self.assertEqual(moves, asked)
        counted = teams.count_members('own', stored, {'move-1': 'a'})
        self.assertEqual(({'a': 1}, []), (counted.counts, counted.ahead))

    def test_only_members_of_the_same_kind_are_alike(self) -> None:
        own = member('own', turn(9), 'x')
        others = [member('m1', turn(1), 'x'), member('m2', turn(2), 'y')]
        counted = count('own', {}, [own, *others])
        self.assertEqual([True, False], [*map(counted.is_alike, others)])
        counted = counted._replace(kinds=('y', 'x'))
        self.assertEqual(1, counted.kind_number(own))
        counted = counted._replace(kinds=('y',))
        self.assertEqual(0, counted.kind_number(own))
