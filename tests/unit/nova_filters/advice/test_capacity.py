# SPDX-License-Identifier: Apache-2.0

"""How many servers fit, from Placement's answers."""

import unittest
from typing import Any

import ddt

from nova_filters.advice import capacity

_HOSTS = 'nova_flavor_hosts'
_SERVERS = 'nova_flavor_free_servers'


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


class RoomsTest(unittest.TestCase):
    def test_what_is_free_is_divided_by_what_a_server_needs(self) -> None:
        size = {'VCPU': 2, 'MEMORY_MB': 512}
        found = capacity.rooms(
            {
                'allocation_requests': [
                    _candidate(n1=size),
                    _candidate(n2=size),
                ],
                'provider_summaries': {
                    'n1': _summary('n1', VCPU=(16, 9), MEMORY_MB=(4096, 1024)),
                    'n2': _summary('n2', VCPU=(8, 0), MEMORY_MB=(1024, 0)),
                },
            }
        )
        wanted = {
            'n1': {'VCPU': 3, 'MEMORY_MB': 6},
            'n2': {'VCPU': 4, 'MEMORY_MB': 2},
        }
        self.assertEqual(wanted, found)

    def test_disks_that_hosts_share_have_room_for_each_of_them(self) -> None:
        disk = {'DISK_GB': 10}
        found = capacity.rooms(
            {
                'allocation_requests': [
                    _candidate(n1={'VCPU': 1}, disks=disk),
                    _candidate(n2={'VCPU': 1}, disks=disk),
                ],
                'provider_summaries': {
                    'n1': _summary('n1', VCPU=(4, 1)),
                    'n2': _summary('n2', VCPU=(8, 0)),
                    'disks': _summary('disks', DISK_GB=(100, 35)),
                },
            }
        )
        self.assertEqual({'VCPU': 3, 'DISK_GB': 6}, found['n1'])
        self.assertEqual({'VCPU': 8, 'DISK_GB': 6}, found['n2'])

    def test_the_nested_providers_of_a_host_are_added(self) -> None:
        found = capacity.rooms(
            {
                'allocation_requests': [
                    _candidate(cell0={'VCPU': 2}, cell1={'VCPU': 1}),
                    _candidate(cell1={'VCPU': 2}, cell0={'VCPU': 1}),
                ],
                'provider_summaries': {
                    'cell0': _summary('n1', VCPU=(8, 1)),
                    'cell1': _summary('n1', VCPU=(8, 2)),
                },
            }
        )
        # 13 are free, and a server needs 3.
        self.assertEqual({'n1': {'VCPU': 4}}, found)

    def test_no_candidate_is_no_room(self) -> None:
        answer = {'allocation_requests': [], 'provider_summaries': {}}
        self.assertEqual({}, capacity.rooms(answer))


class CountTest(unittest.TestCase):
    NODES = {'n1': 'h1', 'n2': 'h2', 'n3': 'h3'}

    def count(self, **changes: Any) -> capacity.Room:
        """Return what is left of a flavor on three hosts."""
        arguments = {
            'hosts': {'h1', 'h2', 'h3'},
            'nodes': self.NODES,
            'found': {},
            'lacking': {},
            'unjudged': (),
            **changes,
        }
        return capacity.count('f', **arguments)

    def test_the_scarcest_class_of_a_host_limits_it(self) -> None:
        found = {
            'n1': {'VCPU': 3, 'DISK_GB': 6},
            'n2': {'VCPU': 2, 'DISK_GB': 2},
            'n3': {'VCPU': 0, 'DISK_GB': 1},
        }
        room = self.count(found=found, unjudged=['hw:numa_nodes'])
        wanted = ('f', 3, 5, 0, ['VCPU', 'DISK_GB'], ['hw:numa_nodes'])
        self.assertEqual(wanted, room)

    def test_a_host_without_room_is_full_for_want_of_a_class(self) -> None:
        room = self.count(
            found={'n1': {'VCPU': 2, 'DISK_GB': 9}},
            lacking={
                'VCPU': {'n1', 'n2', 'n3'},
                'DISK_GB': {'n1'},
                'PCPU': {'n1', 'n2'},
            },
        )
        self.assertEqual((2, 2), (room.servers, room.full))
        # What the host with room has enough of is scarce on the two others.
        self.assertEqual(['DISK_GB', 'VCPU', 'PCPU'], room.scarce)

    def test_a_host_that_does_not_take_the_flavor_has_no_part(self) -> None:
        found = {'n1': {'VCPU': 2}, 'n2': {'VCPU': 5}}
        for hosts, servers, full in (({'h1'}, 2, 0), ({'h2', 'h3'}, 5, 1)):
            room = self.count(hosts=hosts, found=found)
            counts = room.hosts, room.servers, room.full
            self.assertEqual((len(hosts), servers, full), counts)

    def test_the_four_scarcest_classes_are_named(self) -> None:
        lacking = {f'CUSTOM_{letter}': () for letter in 'ABCDEF'}
        room = self.count(lacking=lacking)
        self.assertEqual([*lacking][:4], room.scarce)


@ddt.ddt
class ExpositionTest(unittest.TestCase):
    def exposed(self, flavor: str, servers: int | None) -> list[str]:
        """Return the lines for one flavor."""
        room = capacity.Room(flavor, 3, servers, 0, [], [])
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
                'if all else stays.',
                f'# TYPE {_SERVERS} gauge',
                f'{_SERVERS}{{flavor="small"}} 0',
            ],
            lines,
        )

    def test_what_placement_does_not_say_is_no_number(self) -> None:
        lines = self.exposed('small', None)
        self.assertFalse([ln for ln in lines if ln.startswith(_SERVERS)])
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
        self.assertEqual(6, len(lines))
        self.assertEqual(f'{_SERVERS}{{flavor="{label}"}} 1', lines[-1])
