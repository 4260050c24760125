# SPDX-License-Identifier: Apache-2.0

"""The order of the candidates for the next member, and their weights."""

import collections
import datetime
import unittest
from collections.abc import Iterable, Mapping

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import ranking, topology
from nova_filters.spread.ranking import HardPolicy, Policy
from nova_filters.spread.teams import RESIZE, Members, Pending, Turn
from osc_placement_plugins.source.records import HostAggregate

STACK = ('stack', 'root', 'project')
SOFT = ('soft-anti-affinity', 'group')
PACKED = ('soft-affinity', 'group')
STRICT = ('anti-affinity', 'group')
NOW = datetime.datetime(2026, 11, 29)
SERVER = Pending('server', Turn('', 1, NOW))
NOBODY = Members(collections.Counter(), [], SERVER)
LEVEL = dict.fromkeys('abc', 0.0)


def on_hosts(hosts: str, server: Pending = SERVER) -> Members:
    """Return members, one for each letter, which is its host."""
    return Members(collections.Counter(hosts), [], server)


def weigh_hosts(
    team: tuple[str, ...],
    members: Members,
    multiplier: float,
    sums: Mapping[str, float] = LEVEL,
    hard: HardPolicy | None = None,
) -> dict[str, float]:
    """Return the weights if hosts are the only topology key."""
    paths = topology.Paths({}, [topology.HOST], 'nova')
    return ranking.weigh_hosts(team, members, paths, sums, multiplier, hard)


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
        hard = HardPolicy(1)
        weights = weigh_hosts(STRICT, on_hosts('a'), 10, sums, hard)
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
        # A last choice is better than a full host.
        totals = LEVEL | {'c': -50.0}
        weights = weigh_hosts(
            STRICT, on_hosts('aab'), 10, totals, HardPolicy(capacity, 'c')
        )
        totals = dict(totals)
        for host, weight in weights.items():
            totals[host] += 10 * weight
        self.assertEqual(best, max(totals, key=lambda host: totals[host]))

    def test_a_resized_member_leaves_its_host_to_the_others(self) -> None:
        turn = Turn('cell', 1, NOW)
        server = Pending('server', turn, origin='d', action=RESIZE)
        other = Pending('other', turn, origin='b', action=RESIZE)
        for number in range(9):
            team = ('stack', str(number), 'project')
            # The other member takes d, so a still has the fewest members.
            members = on_hosts('abbbbbcc', server)._replace(ahead=[other])
            self.assertEqual(0, weigh_hosts(team, members, -10)['a'])

    def test_pending_members_and_kinds_get_different_hosts(self) -> None:
        turn = Turn('', 1, NOW)
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


def path(text: str) -> topology.Path:
    """Return the path of a host whose domains have names of one letter."""
    return tuple((f'key {n}', text[: n + 1]) for n in range(len(text)))


def names(paths: Iterable[topology.Path]) -> list[str]:
    return [path[-1][1] for path in paths]


def make(
    hosts: str,
    members: str = '',
    policy: Policy = Policy('team'),  # noqa: B008
    ahead: int = 0,
) -> ranking.Domains:
    """Return the domains of candidates.

    :param hosts: the paths of the candidates, with blanks between them.
    :param members: the path of the host of each member.
    """
    domains = ranking.Domains(map(path, hosts.split()), policy)
    for member in members.split():
        domains.add_members(path(member), 1)
    for _ in range(ahead):
        domains.place_member()
    return domains


def sort(hosts: str, members: str = '', **options) -> list[str]:
    """Return the names of the candidates in their order."""
    return names(make(hosts, members, **options).sort_candidates())


@ddt.ddt
class ChooseTest(unittest.TestCase):
    @ddt.data(
        ('a b c', 'a b', False, 'c'),
        ('a b c', 'a b c c', True, 'c'),
        # The rack with fewer members, then the host with fewer.
        ('1a 1b 2c 2d', '1a 1a 2c', False, '2d'),
        ('1a 1b 2c 2d', '1a 2c 2d', False, '1b'),
        ('1a 1b 2c 2d', '1a 2c 2c', True, '2c'),
        # A full host of rack 1 counts for its rack; a lost one nowhere.
        ('1b 2c', '1a 2c 1a 9z', False, '2c'),
    )
    @ddt.unpack
    def test_members_decide(self, hosts, members, pack, right_host) -> None:
        best, *_ = sort(hosts, members, policy=Policy('team', pack=pack))
        self.assertEqual(right_host, best)

    @given(
        st.sets(st.integers(0, 9), min_size=1),
        st.lists(st.integers(0, 9), max_size=20),
        st.integers(0, 20),
        st.booleans(),
        st.sampled_from((None, 1, 2)),
        st.integers(0, 99),
    )
    def test_members_are_placed_as_if_one_by_one(
        self, candidates, members, ahead, pack, capacity, team
    ) -> None:
        """An oracle looks at all domains for each member."""
        hosts = [path(f'{n // 3}{n}') for n in range(10)]
        policy = Policy(str(team), 0, pack, capacity)
        domains = ranking.Domains([hosts[n] for n in candidates], policy)
        counts: collections.Counter[topology.Path] = collections.Counter()
        for n in members:
            domains.add_members(hosts[n], 1)
            counts.update((hosts[n][:1], hosts[n]))

        def is_full(host: topology.Path) -> bool:
            return capacity is not None and counts[host] >= capacity

        def key(domain: topology.Path) -> tuple[bool, int, float]:
            inside = [
                hosts[n]
                for n in candidates
                if hosts[n][: len(domain)] == domain
            ]
            count = counts[domain]
            if pack:
                count = -count
            full = all(is_full(host) for host in inside)
            *_, number = ranking.Domain(domain, policy).key()
            return full, count, number

        chosen: topology.Path = ()
        for _ in range(ahead + 1):
            rack = min((hosts[n][:1] for n in candidates), key=key)
            chosen = min(
                (hosts[n] for n in candidates if hosts[n][:1] == rack),
                key=key,
            )
            counts.update((rack, chosen))
        for _ in range(ahead):
            domains.place_member()
        best, *others = domains.sort_candidates()
        self.assertEqual(chosen, best)
        self.assertEqual({hosts[n] for n in candidates} - {best}, {*others})

    @ddt.data(
        ('a b', 'a', 'a'),
        ('a b', 'b', 'b'),
        # There is no other host in rack 1.
        ('1a 2b 2c', '1a', '1a'),
    )
    @ddt.unpack
    def test_a_member_leaves_its_host(self, hosts, origin, free_host) -> None:
        domains = make(hosts)
        domains.place_member(path(origin))
        best, *_ = domains.sort_candidates()
        self.assertEqual(path(free_host), best)

    def test_a_member_without_another_host_goes_elsewhere(self) -> None:
        domains = make('a')
        domains.place_member(path('a'))
        self.assertEqual(['a'], names(domains.sort_candidates()))

    def resize_all(self, members: int, hosts: int, team: str) -> int:
        """Return how many members share a host, after all were resized.

        Each member begins on a host of its own, and leaves this host.
        """
        paths = [(('host', f'host-{number}'),) for number in range(hosts)]
        chosen = set()
        for number in range(members):
            domains = ranking.Domains(paths, Policy(team))
            for origin in paths[:number]:
                domains.place_member(origin)
            best, *_ = domains.sort_candidates(paths[number])
            self.assertNotEqual(paths[number], best)
            chosen.add(best)
        return members - len(chosen)

    def test_members_that_are_resized_at_once(self) -> None:
        for members in (3, 4, 6, 12):
            for number in range(20):
                team = str(('stack', f'root-{number}', 'p1'))
                shared = self.resize_all(members, members, team)
                self.assertLessEqual(shared, 1)
                alone = self.resize_all(members, members + 1, team)
                self.assertEqual(0, alone)

    def test_a_server_that_is_resized_leaves_its_host_to_others(self) -> None:
        first, *others = sort('a b c')
        # The member ahead goes there, so both other hosts are free.
        domains = make('a b c', ahead=1)
        self.assertEqual(
            {*others}, {*names(domains.sort_candidates(path(first)))}
        )

    @given(
        st.integers(1, 8),
        st.integers(0, 12),
        st.integers(0, 12),
        st.sampled_from((0, 2, 4)),
    )
    def test_two_kinds_meet_late(self, count, first, second, kind) -> None:
        """Each kind is spread by itself, and both together are even."""
        hosts = ' '.join('abcdefgh'[:count])
        counts = collections.Counter(dict.fromkeys(hosts.split(), 0))
        for number, members in ((kind, first), (kind + 1, second)):
            for ahead in range(members):
                policy = Policy('team', number)
                best, *_ = sort(hosts, policy=policy, ahead=ahead)
                counts[best] += 1
        self.assertLessEqual(max(counts.values()) - min(counts.values()), 1)

    def test_more_kinds_begin_elsewhere(self) -> None:
        for team in 'xyz':
            chosen = {
                sort('a b c d e f g h i j', policy=Policy(team, kind))[0]
                for kind in range(4)
            }
            self.assertEqual(4, len(chosen), team)

    @given(
        st.integers(1, 8),
        st.lists(st.sampled_from((0, 1, 2)), max_size=8),
        st.sets(st.sampled_from('abcdefgh')),
    )
    def test_kinds_of_a_strict_group_do_not_meet_on_equal_hosts(
        self, count, kinds, avoided
    ) -> None:
        hosts = 'abcdefgh'[:count]
        members = []
        for number, kind in enumerate(kinds[:count]):
            turn = Turn('', number, NOW)
            members.append(Pending(f'{number}', turn, f'{kind}'))
        chosen = []
        for number, server in enumerate(members):
            weights = weigh_hosts(
                STRICT,
                Members(NOBODY.counts, members[:number], server, tuple('012')),
                10,
                dict.fromkeys(hosts, 0.0),
                HardPolicy(1, {*avoided} & {*hosts}),
            )
            chosen.append(max(weights, key=lambda host: weights[host]))
        self.assertEqual(len(members), len({*chosen}))

    def test_members_that_have_other_hosts_take_none(self) -> None:
        """Three of another kind, and three that have no other hosts."""
        turn = Turn('', 1, NOW)
        others = [Pending(f'{n}', turn, 'x') for n in range(3)]
        own = [Pending(f'own-{n}', turn, 'y') for n in range(3)]
        chosen = set()
        for number, server in enumerate(own):
            ahead = [*others, *own[:number]]
            members = Members(NOBODY.counts, ahead, server, ('x', 'y'))
            weights = weigh_hosts(STRICT, members, 10, LEVEL, HardPolicy(1))
            chosen.add(max(weights, key=lambda host: weights[host]))
        self.assertEqual({*LEVEL}, chosen)

    def test_a_member_of_a_strict_group_leaves_no_host_to_others(self) -> None:
        """Nova's filter counts it there until the move has ended."""
        turn = Turn('cell', 1, NOW)
        first = Pending('first', turn, origin='d', action=RESIZE)
        second = Pending('second', turn, origin='e', action=RESIZE)
        for number in range(9):
            team = ('anti-affinity', f'{number}')
            best = set()
            for ahead, server in ([], first), ([first], second):
                members = Members(NOBODY.counts, ahead, server)
                weights = weigh_hosts(team, members, 10, LEVEL, HardPolicy(1))
                best.add(max(weights, key=lambda host: weights[host]))
            self.assertEqual(2, len(best))


class AlternatesTest(unittest.TestCase):
    """The hosts after the right one."""

    def test_others_come_later_the_more_members_they_have(self) -> None:
        for pack, expected in (False, 'd c b a'), (True, 'a b c d'):
            order = sort(
                'a b c d', 'a a a b b c', policy=Policy('team', pack=pack)
            )
            self.assertEqual(expected.split(), order)

    def test_those_of_a_strict_group_begin_at_the_far_end(self) -> None:
        hosts = 'a b c d e f'
        order = sort(hosts)
        strict = Policy('team', capacity=1)
        firsts = []
        for ahead in range(3):
            best, first, *others = sort(hosts, policy=strict, ahead=ahead)
            self.assertEqual(order[ahead], best)
            firsts.append(first)
            # The hosts of the members that are placed before come last.
            later = order[ahead + 1 :]
            later.remove(first)
            free, full = others[: len(later)], others[len(later) :]
            self.assertEqual(later[::-1], free)
            self.assertEqual({*order[:ahead]}, {*full})
        # Members whose builds fail at once do not meet.
        self.assertEqual({*order[3:]}, {*firsts})

    def test_a_strict_group_takes_an_avoided_host_before_a_full_one(
        self,
    ) -> None:
        for ahead in (0, 2):
            domains = make('a b c', policy=Policy('team', capacity=1))
            domains.avoid_hosts([path('c')])
            for _ in range(ahead):
                domains.place_member()
            # Two members take the other hosts.
            order = names(domains.sort_candidates())
            self.assertEqual('c', order[2 - ahead])

    def test_a_full_rack_does_not_take_what_another_can(self) -> None:
        domains = make(
            '1a 2b 2c 2d', policy=Policy('team', capacity=1), ahead=3
        )
        order = domains.sort_candidates()
        self.assertEqual('2', order[0][0][1])


def loads_of(**loads: float) -> ranking.Loads:
    """Return a function that finds the same loads at any time."""
    return lambda time: loads


def best_host(
    members: Members,
    loads: ranking.Loads,
    team: tuple[str, ...] = SOFT,
    racks: Mapping[str, str] | None = None,
) -> str:
    """Return the right host of a, b and c.

    :param racks: the hosts of each rack.
    """
    aggregates = {}
    for rack, hosts in (racks or {}).items():
        aggregate = HostAggregate(rack, {'rack': rack}, tuple(hosts))
        aggregates |= dict.fromkeys(hosts, [aggregate])
    # No scheduler offers d.
    aggregates.pop('d', None)
    keys = [topology.HOST]
    if racks:
        keys.insert(0, 'rack')
    paths = topology.Paths(aggregates, keys, 'nova')
    weights = ranking.weigh_hosts(team, members, paths, LEVEL, 10, loads=loads)
    return max(weights, key=lambda host: weights[host])


class LoadTest(unittest.TestCase):
    def test_of_equal_hosts_the_emptiest_is_right(self) -> None:
        loads = loads_of(a=0.9, b=0.5, c=0.2)
        self.assertEqual('c', best_host(NOBODY, loads))
        self.assertEqual('b', best_host(on_hosts('c'), loads))
        # No load is worth a member.
        self.assertEqual('a', best_host(on_hosts('bbc'), loads))

    def test_teams_that_start_at_once_begin_at_hosts_with_like_loads(
        self,
    ) -> None:
        loads = loads_of(a=0.4, b=0.3, c=0.6)
        chosen = {
            best_host(NOBODY, loads, ('soft-anti-affinity', f'{number}'))
            for number in range(50)
        }
        self.assertEqual({'a', 'b'}, chosen)

    def test_each_member_chooses_with_the_loads_of_its_time(self) -> None:
        later = NOW + datetime.timedelta(minutes=1)
        by_time = {
            NOW: {'a': 0.0, 'b': 0.5, 'c': 0.9},
            later: {'a': 0.9, 'b': 0.0, 'c': 0.5},
        }
        server = SERVER._replace(turn=Turn('', 2, later))
        members = Members(collections.Counter(), [SERVER], server)
        # The member before the server takes a.
        self.assertEqual('b', best_host(members, by_time.__getitem__))
        by_time[NOW], by_time[later] = by_time[later], by_time[NOW]
        # Now it takes b, although a is the emptiest when the server comes.
        self.assertEqual('a', best_host(members, by_time.__getitem__))

    def test_the_load_of_a_rack_is_that_of_all_its_hosts(self) -> None:
        # No scheduler offers d, which is in the rack of c.
        racks = {'1': 'ab', '2': 'cd'}
        for load, expected in (0.0, 'c'), (2.0, 'a'):
            loads = loads_of(a=0.4, b=0.7, c=0.3, d=load)
            self.assertEqual(expected, best_host(NOBODY, loads, racks=racks))

    def test_loads_do_not_order_packs_and_two_kinds(self) -> None:
        kinds = NOBODY._replace(kinds=('x', 'y'))
        for team, members in (PACKED, NOBODY), (SOFT, kinds):
            chosen = {
                best_host(members, loads_of(**{host: 0.9}), team)
                for host in LEVEL
            }
            self.assertEqual(1, len(chosen))


class TiesTest(unittest.TestCase):
    def test_schedulers_of_all_releases_agree_on_equal_hosts(self) -> None:
        chosen = [
            sort('a b c d e f', policy=Policy(team))[0] for team in 'xyz'
        ]
        self.assertEqual(['b', 'a', 'e'], chosen)

    def test_equal_hosts_stand_in_one_order_in_all_racks(self) -> None:
        host = ('host', 'a')
        keys = set()
        for rack in '12':
            domain = ranking.Domain((('rack', rack), host), Policy('team'))
            keys.add(domain.key())
        self.assertEqual(1, len(keys))
