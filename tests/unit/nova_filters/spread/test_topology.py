# SPDX-License-Identifier: Apache-2.0

"""The order of the candidates for the next member of a team."""

import collections
import unittest
from collections.abc import Iterable

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import ranking, topology
from nova_filters.spread.ranking import Policy, Ties
from tests import pages

#: How many teams are resized.
_TEAMS = 1000


def path(text: str) -> topology.Path:
    """Return the path of a host whose domains have names of one letter."""
    return tuple((f'key {n}', text[: n + 1]) for n in range(len(text)))


def names(paths: Iterable[topology.Path]) -> list[str]:
    return [path[-1][1] for path in paths]


def make(
    hosts: str,
    members: str = '',
    policy: Policy = Policy(),  # noqa: B008
    ties: Ties = Ties('team'),  # noqa: B008
    ahead: int = 0,
) -> ranking.Domains:
    """Return the domains of candidates.

    :param hosts: the paths of the candidates, with blanks between them.
    :param members: the path of the host of each member.
    """
    domains = ranking.Domains(map(path, hosts.split()), policy, ties)
    for member in members.split():
        domains.add_members(path(member), 1)
    for _ in range(ahead):
        domains.place_member()
    return domains


def sort(hosts: str, members: str = '', **options) -> list[str]:
    """Return the names of the candidates in their order."""
    return names(make(hosts, members, **options).sort_candidates())


@ddt.ddt
class ChooseTest(pages.PageTestCase):
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
        best, *_ = sort(hosts, members, policy=Policy(pack))
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
        ties = Ties(str(team))
        policy = Policy(pack, capacity)
        domains = ranking.Domains([hosts[n] for n in candidates], policy, ties)
        counts: collections.Counter[topology.Path] = collections.Counter()
        for n in members:
            domains.add_members(hosts[n], 1)
            counts.update((hosts[n][:1], hosts[n]))

        def is_full(host: topology.Path) -> bool:
            return capacity is not None and counts[host] >= capacity

        def key(domain: topology.Path) -> tuple[bool, int, int]:
            inside = [
                hosts[n]
                for n in candidates
                if hosts[n][: len(domain)] == domain
            ]
            count = counts[domain]
            if pack:
                count = -count
            full = all(is_full(host) for host in inside)
            return full, count, ties.number(domain)

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
            domains = ranking.Domains(paths, Policy(), Ties(team))
            for origin in paths[:number]:
                domains.place_member(origin)
            best, *_ = domains.sort_candidates(paths[number])
            self.assertNotEqual(paths[number], best)
            chosen.add(best)
        return members - len(chosen)

    def test_members_that_are_resized_at_once(self) -> None:
        shares = {}
        for members in (3, 4, 6, 12):
            pairs = 0
            for number in range(_TEAMS):
                team = str(('stack', f'root-{number}', 'p1'))
                shared = self.resize_all(members, members, team)
                self.assertLessEqual(shared, 1)
                pairs += shared
                alone = self.resize_all(members, members + 1, team)
                self.assertEqual(0, alone)
            shares[members] = round(100 * pairs / _TEAMS)
        self.assert_page_says(
            'nova-spread',
            f'Of {_TEAMS:,} teams each, this happened to {shares[3]}% with '
            f'three members, {shares[4]}% with four, {shares[6]}% with six, '
            f'and {shares[12]}% with twelve.',
        )

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
                ties = Ties('team', number)
                best, *_ = sort(hosts, ties=ties, ahead=ahead)
                counts[best] += 1
        self.assertLessEqual(max(counts.values()) - min(counts.values()), 1)

    def test_more_kinds_begin_elsewhere(self) -> None:
        for team in 'xyz':
            chosen = {
                sort('a b c d e f g h i j', ties=Ties(team, kind))[0]
                for kind in range(4)
            }
            self.assertEqual(4, len(chosen), team)


class AlternatesTest(unittest.TestCase):
    """The hosts after the right one."""

    def test_others_come_later_the_more_members_they_have(self) -> None:
        for pack, expected in (False, 'd c b a'), (True, 'a b c d'):
            order = sort('a b c d', 'a a a b b c', policy=Policy(pack))
            self.assertEqual(expected.split(), order)

    def test_those_of_a_strict_group_begin_at_the_far_end(self) -> None:
        hosts = 'a b c d e f'
        order = sort(hosts)
        strict = Policy(capacity=1)
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

    def test_a_strict_group_takes_a_refused_host_before_a_full_one(
        self,
    ) -> None:
        for ahead in (0, 2):
            domains = make('a b c', policy=Policy(capacity=1))
            domains.refuse_hosts([path('c')])
            for _ in range(ahead):
                domains.place_member()
            # Two members take the other hosts.
            order = names(domains.sort_candidates())
            self.assertEqual('c', order[2 - ahead])

    def test_a_full_rack_does_not_take_what_another_can(self) -> None:
        domains = make('1a 2b 2c 2d', policy=Policy(capacity=1), ahead=3)
        order = domains.sort_candidates()
        self.assertEqual('2', order[0][0][1])


class TiesTest(unittest.TestCase):
    def test_schedulers_of_all_releases_agree_on_equal_hosts(self) -> None:
        chosen = [sort('a b c d e f', ties=Ties(team))[0] for team in 'xyz']
        self.assertEqual(['b', 'a', 'e'], chosen)

    def test_equal_hosts_stand_in_one_order_in_all_racks(self) -> None:
        ties = Ties('team')
        host = ('host', 'a')
        numbers = {ties.number((('rack', rack), host)) for rack in '12'}
        self.assertEqual(1, len(numbers))


@ddt.ddt
class DomainTest(unittest.TestCase):
    @ddt.data(
        # Metadata of the host's aggregates, the key, the name.
        ([{'rack': 'b'}, {'rack': 'a'}, {'row': '1'}], 'rack', 'a'),
        ([{'rack': ''}, {}], 'rack', None),
        ([], 'rack', None),
        ([{'availability_zone': 'z'}], 'availability_zone', 'z'),
        ([{'rack': 'a'}], 'availability_zone', 'nova'),
        ([{'availability_zone': ''}], 'availability_zone', 'nova'),
        # A host is a domain of its own.
        ([{'host': 'a'}], 'host', None),
    )
    @ddt.unpack
    def test_a_domain_is_a_value_of_metadata(self, metadata, key, name):
        self.assertEqual(name, topology.find_domain(metadata, key, 'nova'))
