# SPDX-License-Identifier: Apache-2.0

"""How many servers fit, from Placement's answers."""

import unittest
from typing import Any

import ddt

from openstack_commands.aggregates.advice import capacity
from openstack_commands.aggregates.advice.offers import Able

_HOSTS = 'nova_flavor_hosts'
_SERVERS = 'nova_flavor_free_servers'
_CUT = 'nova_flavor_answer_cut'


def _candidate(**providers: dict[str, int]) -> dict[str, Any]:
    """Return an allocation candidate: amounts by provider and class."""
    return {
        'allocations': {
            name: {'resources': amounts} for name, amounts in providers.items()
        }
    }


def _summary(root: str, **resources: tuple[int, int]) -> dict[str, Any]:
    """Return a provider: capacity and use by class."""
    return {
        'root_provider_uuid': root,
        'resources': {
            name: {'capacity': total, 'used': used}
            for name, (total, used) in resources.items()
        },
    }


def _answer(
    candidates: list[dict[str, Any]], **summaries: dict[str, Any]
) -> dict[str, Any]:
    """Return what Placement answers."""
    return {
        'allocation_requests': candidates,
        'provider_summaries': summaries,
    }


_NODES = ('n1', 'n2', 'n3')
_NO_ANSWER = _answer([])


class CandidatesTest(unittest.TestCase):
    def assert_fits(
        self, candidates: capacity.Candidates, least: int, most: int
    ) -> None:
        """Check how many servers fit for certain, and at most."""
        self.assertEqual(
            (least, most), (candidates.least(), candidates.most())
        )

    def test_what_is_free_is_divided_by_what_a_server_needs(self) -> None:
        size = {'VCPU': 2, 'MEMORY_MB': 512}
        candidates = capacity.Candidates(
            _answer(
                [_candidate(n1=size), _candidate(n2=size), _candidate(x=size)],
                n1=_summary('n1', VCPU=(16, 9), MEMORY_MB=(4096, 1024)),
                n2=_summary('n2', VCPU=(8, 0), MEMORY_MB=(1024, 0)),
                x=_summary('x', VCPU=(800, 0), MEMORY_MB=(10240, 0)),
            ),
            _NODES,
        )
        self.assertEqual({'VCPU': 3, 'MEMORY_MB': 6}, candidates.of_node('n1'))
        self.assertEqual({'VCPU': 4, 'MEMORY_MB': 2}, candidates.of_node('n2'))
        # The other node does not count.
        self.assert_fits(candidates, 5, 5)

    def test_disks_that_hosts_share_count_once(self) -> None:
        disk = {'DISK_GB': 10}
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1={'VCPU': 1}, disks=disk),
                    _candidate(n2={'VCPU': 1}, disks=disk),
                    _candidate(n3={'VCPU': 1, 'DISK_GB': 10}),
                ],
                n1=_summary('n1', VCPU=(4, 1)),
                n2=_summary('n2', VCPU=(8, 0)),
                n3=_summary('n3', VCPU=(8, 0), DISK_GB=(25, 0)),
                disks=_summary('disks', DISK_GB=(100, 35)),
            ),
            _NODES,
        )
        self.assertEqual({'VCPU': 3, 'DISK_GB': 6}, candidates.of_node('n1'))
        self.assertEqual({'VCPU': 8, 'DISK_GB': 6}, candidates.of_node('n2'))
        self.assert_fits(candidates, 6 + 2, 6 + 2)

    def test_hosts_with_pools_of_their_own_are_counted_apart(self) -> None:
        disk = {'DISK_GB': 1}
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1={'VCPU': 1}, a=disk),
                    _candidate(n2={'VCPU': 1}, b=disk),
                ],
                n1=_summary('n1', VCPU=(2, 0)),
                n2=_summary('n2', VCPU=(9, 0)),
                a=_summary('a', DISK_GB=(9, 0)),
                b=_summary('b', DISK_GB=(3, 0)),
            ),
            _NODES,
        )
        self.assert_fits(candidates, 2 + 3, 2 + 3)

    def test_pools_that_meet_in_a_host_are_counted_together(self) -> None:
        disk = {'DISK_GB': 1}
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1={'VCPU': 1}, a=disk),
                    _candidate(n2={'VCPU': 1}, b=disk),
                    _candidate(n3={'VCPU': 1}, a=disk),
                    _candidate(n3={'VCPU': 1}, b=disk),
                ],
                n1=_summary('n1', VCPU=(4, 0)),
                n2=_summary('n2', VCPU=(9, 0)),
                n3=_summary('n3', VCPU=(9, 0)),
                a=_summary('a', DISK_GB=(5, 0)),
                b=_summary('b', DISK_GB=(2, 0)),
            ),
            _NODES,
        )
        self.assert_fits(candidates, 7, 7)

    def test_a_host_with_own_disks_may_have_a_pool_beside_it(self) -> None:
        """What is certain depends on the order, so it may be less."""
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1={'VCPU': 1}, a={'DISK_GB': 1}),
                    _candidate(n1={'VCPU': 1, 'DISK_GB': 1}),
                    _candidate(n2={'VCPU': 1}, a={'DISK_GB': 1}),
                ],
                n1=_summary('n1', VCPU=(1, 0), DISK_GB=(1, 0)),
                n2=_summary('n2', VCPU=(1, 0)),
                a=_summary('a', DISK_GB=(1, 0)),
            ),
            _NODES,
        )
        self.assert_fits(candidates, 1, 2)

    def test_each_part_of_a_host_has_room_for_whole_servers(self) -> None:
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1={'MEMORY_MB': 1}, cell0={'VCPU': 3}),
                    _candidate(n1={'MEMORY_MB': 1}, cell1={'VCPU': 3}),
                ],
                n1=_summary('n1', MEMORY_MB=(99, 0)),
                cell0=_summary('n1', VCPU=(8, 0)),
                cell1=_summary('n1', VCPU=(8, 1)),
            ),
            _NODES,
        )
        self.assert_fits(candidates, 4, 4)

    def test_a_server_may_take_parts_of_a_class_from_each(self) -> None:
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(cell0={'VCPU': 2}, cell1={'VCPU': 1}),
                    _candidate(cell1={'VCPU': 2}, cell0={'VCPU': 1}),
                ],
                cell0=_summary('n1', VCPU=(8, 1)),
                cell1=_summary('n1', VCPU=(8, 2)),
            ),
            _NODES,
        )
        # 13 are free, and a server needs 3.
        self.assertEqual({'VCPU': 4}, candidates.of_node('n1'))
        self.assert_fits(candidates, 4, 4)

    def test_no_candidate_is_no_room(self) -> None:
        candidates = capacity.Candidates(_NO_ANSWER, _NODES)
        self.assert_fits(candidates, 0, 0)
        self.assertFalse(candidates.is_cut({'VCPU': Able({'n1': {'n1'}})}))

    def test_a_plain_node_is_one_candidate_with_one_provider(self) -> None:
        size = {'VCPU': 1}
        candidates = capacity.Candidates(
            _answer(
                [
                    _candidate(n1=size),
                    _candidate(n2=size, disks={'DISK_GB': 1}),
                    _candidate(n3=size),
                    _candidate(n3=size),
                ],
                n1=_summary('n1', VCPU=(1, 0)),
                n2=_summary('n2', VCPU=(1, 0)),
                n3=_summary('n3', VCPU=(1, 0)),
                disks=_summary('disks', DISK_GB=(1, 0)),
            ),
            _NODES,
        )
        self.assertTrue(candidates.is_plain(['n1']))
        self.assertTrue(candidates.is_plain([]))
        for nodes in (['n2'], ['n3'], ['n4'], ['n1', 'n2']):
            self.assertFalse(candidates.is_plain(nodes), nodes)

    def test_a_provider_that_is_in_no_candidate_may_be_cut_off(self) -> None:
        candidates = capacity.Candidates(
            _answer(
                [_candidate(cell0={'VCPU': 1}, disks={'DISK_GB': 1})],
                cell0=_summary('n1', VCPU=(1, 0)),
                disks=_summary('disks', DISK_GB=(1, 0)),
            ),
            _NODES,
        )
        for name, nodes, sharing, is_cut in (
            ('VCPU', {'n1': {'cell0'}}, (), False),
            ('VCPU', {'n1': {'cell0', 'cell1'}}, (), True),
            # Another node tells of itself.
            ('VCPU', {'n2': {'n2'}}, (), False),
            ('DISK_GB', {}, {'disks'}, False),
            ('DISK_GB', {}, {'disks', 'more'}, True),
            ('HW_A', {'n1': {'cell1'}}, (), False),
        ):
            able = {name: Able(nodes, sharing)}
            self.assertIs(is_cut, candidates.is_cut(able), able)


class CountTest(unittest.TestCase):
    NODES = {'n1': 'h1', 'n2': 'h2', 'n3': 'h3'}
    SIZE = {'VCPU': 1, 'DISK_GB': 10}

    def count(
        self,
        rooms: dict[str, tuple[int, int]],
        hosts: str = 'h1 h2 h3',
        nodes: dict[str, str] | None = None,
        **able: str,
    ) -> capacity.Room:
        """Return what is left of a flavor on three hosts.

        :param rooms: the CPUs and the disk that nodes have left.
        :param able: the nodes that have a class.
        """
        answer = _answer(
            [_candidate(**{node: self.SIZE}) for node in rooms],
            **{
                node: _summary(node, VCPU=(cpus, 0), DISK_GB=(disk, 0))
                for node, (cpus, disk) in rooms.items()
            },
        )
        return capacity.count(
            flavor='f',
            hosts=hosts.split(),
            nodes=nodes or self.NODES,
            answer=answer,
            able={
                name: Able({node: {node} for node in names.split()})
                for name, names in able.items()
            },
            unjudged=['hw:tpm_version'],
        )

    def test_the_scarcest_class_of_a_node_limits_it(self) -> None:
        room = self.count({'n1': (3, 60), 'n2': (2, 20), 'n3': (1, 10)})
        numbers = ('f', 3, 3, 6, 'at most', 0)
        self.assertEqual(numbers, room[:6])
        self.assertEqual(['VCPU', 'DISK_GB'], room.scarce)
        self.assertEqual(['hw:tpm_version'], room.unjudged)

    def test_a_node_without_room_is_full_for_want_of_a_class(self) -> None:
        room = self.count(
            {'n1': (2, 90)}, VCPU='n1 n2 n3', DISK_GB='n1', HW_A='n1 n2'
        )
        self.assertEqual((2, 'at most', 2), room[3:6])
        # What the host with room has enough of is scarce on the two others.
        self.assertEqual(['DISK_GB', 'VCPU', 'HW_A'], room.scarce)

    def test_a_node_that_lacks_nothing_is_left_out_of_the_answer(self) -> None:
        room = self.count({'n1': (2, 90)}, VCPU='n1 n2 n3', DISK_GB='n1 n2')
        self.assertEqual((2, 'at least', 1), room[3:6])

    def test_a_host_that_does_not_take_the_flavor_has_no_part(self) -> None:
        rooms = {'n1': (2, 99), 'n2': (5, 99)}
        for hosts, servers, full in (('h1', 2, 0), ('h2 h3', 5, 1)):
            room = self.count(rooms, hosts, VCPU='n1 n2', DISK_GB='n1 n2')
            self.assertEqual(
                (len(hosts.split()), servers, full),
                (room.hosts, room.servers, room.full),
            )

    def test_a_host_of_ironic_has_many_nodes(self) -> None:
        nodes = {'n1': 'h1', 'n2': 'h1', 'n3': 'h1', 'n4': 'h2'}
        room = self.count(
            {'n1': (1, 10)}, 'h1', nodes, VCPU='n1', DISK_GB='n1'
        )
        self.assertEqual((1, 3, 1, 'at most', 2), room[1:6])

    def test_the_four_scarcest_classes_are_named(self) -> None:
        lacking = {f'CUSTOM_{letter}': '' for letter in 'ABCDEF'}
        room = self.count({}, **lacking)
        self.assertEqual([*lacking][:4], room.scarce)


@ddt.ddt
class ExpositionTest(unittest.TestCase):
    def exposed(
        self, flavor: str, servers: int | None, bound: str = 'at most'
    ) -> list[str]:
        """Return the lines for one flavor."""
        bound = '' if servers is None else bound
        room = capacity.Room(flavor, 3, 3, servers, bound, 0, [], [])
        text = capacity.exposition([room])
        self.assertTrue(text.endswith('\n'), text)
        return text.splitlines()

    def test_each_number_has_its_help_and_its_type(self) -> None:
        lines = self.exposed('small', 0)
        self.assertEqual(
            [
                f'# HELP {_HOSTS} Hosts that take the flavor and are up.',
                f'# TYPE {_HOSTS} gauge',
                f'{_HOSTS}{{flavor="small"}} 3',
                f'# HELP {_SERVERS} Servers of the flavor that fit, at most, '
                f'if all else stays; at least, where {_CUT} is 1.',
                f'# TYPE {_SERVERS} gauge',
                f'{_SERVERS}{{flavor="small"}} 0',
                f'# HELP {_CUT} Whether Placement has told of a part of the '
                'hosts only.',
                f'# TYPE {_CUT} gauge',
                f'{_CUT}{{flavor="small"}} 0',
            ],
            lines,
        )
        lines = self.exposed('small', 0, 'at least')
        self.assertEqual(f'{_CUT}{{flavor="small"}} 1', lines[-1])

    def test_what_placement_does_not_say_is_no_number(self) -> None:
        lines = self.exposed('small', None)
        for name in (_SERVERS, _CUT):
            self.assertFalse([ln for ln in lines if ln.startswith(name)])
        self.assertIn(f'{_HOSTS}{{flavor="small"}} 3', lines)

    @ddt.data(
        ('a"b', r'a\"b'),
        ('a\\b', r'a\\b'),
        ('a\nb', r'a\nb'),
        ('"\\\n', r'\"\\\n'),
    )
    @ddt.unpack
    def test_a_name_is_escaped_as_prometheus_reads_it(
        self, name: str, label: str
    ) -> None:
        lines = self.exposed(name, 1)
        self.assertEqual(9, len(lines))
        self.assertEqual(f'{_SERVERS}{{flavor="{label}"}} 1', lines[5])
