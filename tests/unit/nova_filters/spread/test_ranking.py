# SPDX-License-Identifier: Apache-2.0

"""The weights of hosts, beside those of the other weighers."""

import collections
import datetime
import unittest
from collections.abc import Mapping

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import ranking, topology
from nova_filters.spread.members import RESIZE, Members, Pending, Turn

STACK = ('stack', 'root', 'project')
SOFT = ('soft-anti-affinity', 'group')
PACKED = ('soft-affinity', 'group')
STRICT = ('anti-affinity', 'group')
NOBODY = Members(collections.Counter(), [])
LEVEL = dict.fromkeys('abc', 0.0)


def on_hosts(hosts: str, server: Pending | None = None) -> Members:
    """Return members, one for each letter, which is its host."""
    return Members(collections.Counter(hosts), [], server)


def weigh_hosts(
    team: tuple[str, ...],
    members: Members,
    multiplier: float,
    sums: Mapping[str, float] = LEVEL,
    capacity: int | None = None,
) -> dict[str, float]:
    """Return the weights if hosts are the only topology key."""
    paths = topology.Paths({}, [topology.HOST], 'nova')
    return ranking.weigh_hosts(
        team, capacity, members, paths, sums, multiplier
    )


@ddt.ddt
class RankingTest(unittest.TestCase):
    @ddt.data(
        # Spread: the empty host is the best one, whatever the sign.
        (STACK, 'aab', -10, 'cba'),
        (SOFT, 'aab', 10, 'cba'),
        # Pack: the fullest host is the best one.
        (STACK, 'aab', 10, 'abc'),
        (PACKED, 'aab', 10, 'abc'),
    )
    @ddt.unpack
    def test_members_are_spread_or_packed(
        self, team, hosts, multiplier, order
    ) -> None:
        weights = weigh_hosts(team, on_hosts(hosts), multiplier)
        by_worth = sorted(
            weights, key=lambda host: -weights[host] * multiplier
        )
        self.assertEqual(order, ''.join(by_worth))
        self.assertEqual([0, 1, 2], sorted(map(abs, weights.values())))

    @ddt.data(
        # The right host makes up for one rank, and for no more.
        (9.9, {'a': 0.0, 'b': 1.0}),
        (10.0, {'a': 0.0, 'b': 1.0}),
        (10.1, {'a': 1.0, 'b': 0.0}),
    )
    @ddt.unpack
    def test_a_soft_team_follows_stronger_weighers(self, gap, weights) -> None:
        sums = {'a': 0.0, 'b': gap}
        self.assertEqual(weights, weigh_hosts(STACK, on_hosts('b'), -10, sums))

    @given(st.dictionaries(st.sampled_from('abcd'), st.integers(-99, 99)))
    def test_a_strict_team_ignores_other_weighers(self, changes) -> None:
        sums = dict.fromkeys('abcd', 0.0) | changes
        weights = weigh_hosts(STRICT, on_hosts('a'), 10, sums, capacity=1)
        totals = {host: sums[host] + 10 * weights[host] for host in sums}
        # A full host comes last, and no two hosts are equal.
        self.assertEqual('a', min(totals, key=lambda host: totals[host]))
        distances = sorted(max(totals.values()) - x for x in totals.values())
        for rank, distance in enumerate(distances):
            self.assertAlmostEqual(10 * rank, distance)

    @ddt.data((1, 'c'), (2, 'b'))
    @ddt.unpack
    def test_a_host_has_room_for_as_many_as_the_rule_says(
        self, capacity, best
    ) -> None:
        # The other weighers refuse c, which is better than a full host.
        weights = weigh_hosts(
            STRICT, on_hosts('aab'), 10, LEVEL | {'c': -50.0}, capacity
        )
        totals = LEVEL | {'c': -50.0}
        for host, weight in weights.items():
            totals[host] += 10 * weight
        self.assertEqual(best, max(totals, key=lambda host: totals[host]))

    def test_a_resized_member_leaves_its_host_to_the_others(self) -> None:
        turn = Turn('cell', 1, datetime.datetime(2026, 11, 29))
        server = Pending('server', turn, origin='d', action=RESIZE)
        other = Pending('other', turn, origin='b', action=RESIZE)
        for number in range(9):
            team = ('stack', str(number), 'project')
            # The other member takes d, so a still has the fewest members.
            members = on_hosts('abbbbbcc', server)._replace(ahead=[other])
            self.assertEqual(0, weigh_hosts(team, members, -10)['a'])

    def test_pending_members_and_kinds_get_different_hosts(self) -> None:
        turn = Turn('', 1, datetime.datetime(2026, 11, 29))
        first = Pending('first', turn, 'x')
        second = Pending('second', turn, 'x')
        other = Pending('other', turn, 'y')
        best = []
        for ahead, server in (([], first), ([first], second), ([], other)):
            members = Members(
                collections.Counter(), ahead, server, kinds=('x', 'y')
            )
            weights = weigh_hosts(STACK, members, -10)
            best.append(min(weights, key=lambda host: weights[host]))
        # The second kind begins at the other end.
        self.assertEqual(3, len({*best}), best)
