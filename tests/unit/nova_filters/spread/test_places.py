# SPDX-License-Identifier: Apache-2.0

"""The place of the next member of a team."""

import collections
import unittest
from typing import Any

import ddt
from hypothesis import given
from hypothesis import strategies as st

from nova_filters.spread import places


def path(text: str) -> places.Path:
    """Return the path of a host whose places have names of one letter."""
    return tuple((f'level {n}', text[: n + 1]) for n in range(len(text)))


def make(hosts, members='', ahead=0, pack=False, team='team', kind=0):
    """Return the places of candidates.

    :param hosts: the paths of the candidates, with blanks between them.
    :param members: the path of the host of each member.
    """
    counts = collections.Counter(map(path, members.split())).items()
    server = places.Arrival(some(hosts))
    ranking = places.Ranking(team, kind)
    return places.Places(server, counts, [server] * ahead, ranking, pack)


def distances(
    hosts: str, *arguments: Any, subset: int = 1, **options: Any
) -> list[float]:
    """Return the distance of each candidate."""
    by_path = make(hosts, *arguments, **options).distances(subset)
    return [by_path[path(host)] for host in hosts.split()]


def some(hosts: str) -> places.Candidates:
    """Return the candidates of a server."""
    return places.Candidates(path(host) for host in hosts.split())


def choose(hosts: str, *arguments: Any, **options: Any) -> str:
    """Return the right host."""
    return hosts.split()[distances(hosts, *arguments, **options).index(0.0)]


def right(located: places.Places) -> str:
    """Return the right host."""
    by_path = located.distances()
    (host,) = (path for path, distance in by_path.items() if not distance)
    return host[-1][1]


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
        self.assertEqual(right_host, choose(hosts, members, pack=pack))

    @given(
        st.lists(st.sets(st.integers(0, 7), min_size=1), min_size=1),
        st.lists(st.integers(0, 9), max_size=20),
        st.booleans(),
        st.integers(0, 99),
    )
    def test_members_are_placed_as_if_one_by_one(
        self, servers, members, pack, team
    ) -> None:
        """An oracle looks at all places for each member."""
        hosts = [path(f'{n // 3}{n}') for n in range(10)]
        all_candidates = []
        for numbers in servers:
            paths = [hosts[n] for n in sorted(numbers)]
            all_candidates.append(places.Candidates(paths))
        ranking = places.Ranking(str(team))
        *ahead, last = map(places.Arrival, all_candidates)
        counts = collections.Counter(hosts[n] for n in members)
        loads: collections.Counter[places.Path] = collections.Counter()
        for host in counts.elements():
            loads.update((host[:1], host))

        def key(place_path: places.Path) -> Any:
            place = places.Place(place_path, ranking, pack)
            place.members = loads[place_path]
            return place.key()

        chosen: places.Path = ()
        for candidates in all_candidates:
            racks = {host[:1] for host in candidates.hosts}
            rack = min(racks, key=key)
            inside = [host for host in candidates.hosts if host[:1] == rack]
            chosen = min(inside, key=key)
            loads.update((rack, chosen))
        located = places.Places(last, counts.items(), ahead, ranking, pack)
        self.assertEqual(chosen[-1][1], right(located))

    @ddt.data(
        ('a b', 'a', 'a'),
        ('a b', 'b', 'b'),
        # There is no other host in rack 1.
        ('1a 2b 2c', '1a', '1a'),
        # It has nowhere to go among these hosts.
        ('a', 'a', 'a'),
        # What it leaves is no candidate.
        ('1a 2b', '1c', ''),
    )
    @ddt.unpack
    def test_a_member_leaves_its_host(self, hosts, origin, free_host) -> None:
        candidates = some(hosts)
        server = places.Arrival(candidates)
        leaving = places.Arrival(candidates, origin=path(origin))
        ranking = places.Ranking('team')
        located = places.Places(server, [], [leaving], ranking, False)
        if not free_host:
            (free_host,) = {*hosts.split()} - {choose(hosts)}
        self.assertEqual(free_host[-1], right(located)[-1])

    def test_a_server_that_is_resized_leaves_its_host_to_others(self) -> None:
        candidates = some('a b c')
        first = choose('a b c')
        own = places.Arrival(candidates, origin=path(first))
        ahead = [places.Arrival(candidates)]
        located = places.Places(own, [], ahead, places.Ranking('team'), False)
        # The member ahead goes there, so both other hosts are free.
        self.assertEqual(
            {*'abc'} - {first}, {host[-1][1] for host in located.distances()}
        )

    @given(
        st.integers(1, 8),
        st.integers(0, 12),
        st.integers(0, 12),
        st.sampled_from((0, 2, 4)),
    )
    def test_two_kinds_meet_late(self, count, first, second, kind) -> None:
        """Each kind is spread by itself, and both together are even."""
        names = 'abcdefgh'[:count]
        hosts = ' '.join(names)
        loads = collections.Counter(dict.fromkeys(names, 0))
        for number, members in ((kind, first), (kind + 1, second)):
            for ahead in range(members):
                loads[choose(hosts, ahead=ahead, kind=number)] += 1
        self.assertLessEqual(max(loads.values()) - min(loads.values()), 1)

    def test_more_kinds_begin_elsewhere(self) -> None:
        for team in 'xyz':
            chosen = {
                choose('a b c d e f g h i j', kind=kind, team=team)
                for kind in range(4)
            }
            self.assertEqual(4, len(chosen), team)

    def test_as_many_are_right_as_nova_chooses_from(self) -> None:
        for subset in (1, 2, 5, 9):
            found = distances('a b c d e', subset=subset)
            self.assertEqual(min(subset, 5), found.count(0.0))
            for distance in found:
                self.assertTrue(distance == 0.0 or 0.9 <= distance < 1)


class DistanceTest(unittest.TestCase):
    def test_others_are_the_farther_the_more_members_they_have(self) -> None:
        for pack, expected in (
            (False, ['0.975', '0.950', '0.925', '0.000']),
            (True, ['0.000', '0.925', '0.950', '0.975']),
        ):
            found = distances('a b c d', 'a a a b b c', pack=pack)
            texts = [f'{distance:.3f}' for distance in found]
            self.assertEqual(expected, texts)

    def test_schedulers_of_all_releases_agree_on_equal_places(self) -> None:
        chosen = [choose('a b c d e f', team=team) for team in ('x', 'y', 'z')]
        self.assertEqual(['d', 'a', 'c'], chosen)

    def test_equal_hosts_stand_in_one_order_in_all_racks(self) -> None:
        ranking = places.Ranking('team')
        host = ('host', 'a')
        numbers = {ranking.number((('rack', rack), host)) for rack in '12'}
        self.assertEqual(1, len(numbers))


@ddt.ddt
class SharedTest(unittest.TestCase):
    @ddt.data(
        # Metadata of the host's aggregates, the level, the name.
        ([{'rack': 'b'}, {'rack': 'a'}, {'row': '1'}], 'rack', 'a'),
        ([{'rack': ''}, {}], 'rack', None),
        ([], 'rack', None),
        ([{'availability_zone': 'z'}], 'availability_zone', 'z'),
        ([{'rack': 'a'}], 'availability_zone', 'nova'),
        ([{'availability_zone': ''}], 'availability_zone', 'nova'),
        # A host is a place of its own.
        ([{'host': 'a'}], 'host', None),
    )
    @ddt.unpack
    def test_a_place_is_a_value_of_metadata(self, metadata, level, name):
        self.assertEqual(name, places.shared(metadata, level, 'nova'))
