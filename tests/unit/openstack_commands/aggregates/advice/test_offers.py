# SPDX-License-Identifier: Apache-2.0

"""What Placement's answers say of hosts, one by one."""

import unittest
from typing import Any

import ddt

from openstack_commands.aggregates.advice import offers
from openstack_commands.aggregates.advice.offers import Obstacle

_NODES = ('n1', 'n2')


class RootsTest(unittest.TestCase):
    def test_a_candidate_may_have_several_providers(self) -> None:
        roots = {'n1': 'n1', 'numa': 'n2', 'disks': 'disks', 'other': 'n3'}
        answer = {
            'allocation_requests': [
                {'allocations': {'n1': {}, 'disks': {}}},
                {'allocations': {'numa': {}}},
            ],
            'provider_summaries': {
                name: {'root_provider_uuid': root}
                for name, root in roots.items()
            },
        }
        self.assertEqual({'n1', 'n2', 'disks'}, offers.roots(answer))


@ddt.ddt
class AbleTest(unittest.TestCase):
    def able(self, name: str, **providers: str) -> Any:
        """Return the hosts that have a class or trait.

        :param providers: the root of each provider that has it.
        """
        rows = [
            {'uuid': provider, 'root_provider_uuid': root}
            for provider, root in providers.items()
        ]
        return offers.able(rows, name, _NODES, ['disks'])

    def test_a_part_of_a_host_has_it_for_the_host(self) -> None:
        cpus = self.able('VCPU', n1='n1', numa='n2', cell='n2')
        self.assertEqual(({'n1': {'n1'}, 'n2': {'numa', 'cell'}}, set()), cpus)
        self.assertFalse(cpus.lacks('n2'))
        self.assertTrue(cpus.lacks('n3'))
        self.assertEqual(({}, set()), self.able('VCPU'))

    def test_a_provider_that_is_no_host_may_share_it(self) -> None:
        disks = self.able('DISK_GB', n1='n1', disks='disks', gone='gone')
        self.assertEqual(({'n1': {'n1'}}, {'disks'}), disks)
        self.assertFalse(disks.lacks('n2'))

    def test_no_part_of_a_host_makes_up_for_a_forbidden_trait(self) -> None:
        without_trait = self.able('!HW_A', n1='n1', numa='n2', disks='disks')
        self.assertEqual(({'n1': {'n1'}}, set()), without_trait)
        self.assertTrue(without_trait.lacks('n2'))


@ddt.ddt
class ObstaclesTest(unittest.TestCase):
    @ddt.data(
        ('candidate', True, []),
        ('other', False, []),
        ('other', True, [('is', 'disabled in Placement')]),
        ('full', True, [('lacks', 'VCPU')]),
        ('full', False, [('lacks', 'VCPU')]),
        ('bare', True, [('lacks', 'VCPU'), ('has', 'HW_A')]),
        ('able', True, [('is', 'no candidate of Placement')]),
    )
    @ddt.unpack
    def test_each_host_is_told_for_itself(
        self, host: str, enabled: bool, obstacles: list[tuple[str, str]]
    ) -> None:
        offered = offers.Offers(
            candidates=['candidate'],
            anywhere=['candidate', 'other'],
            able={
                'VCPU': ['able'],
                'DISK_GB': None,
                '!HW_A': ['able', 'full'],
            },
        )
        self.assertEqual(obstacles, offered.obstacles(host, enabled))

    def test_nova_may_look_at_some_candidates_only(self) -> None:
        offered = offers.Offers(['h1'], cut_at=3, anywhere=['h1', 'h2'])
        obstacles = [('is', 'beyond the first 3 candidates')]
        self.assertEqual(obstacles, offered.obstacles('h2', enabled=True))
        self.assertEqual([], offered.obstacles('h2', enabled=False))


class SentenceTest(unittest.TestCase):
    def test_hosts_alike_are_told_together(self) -> None:
        full = [Obstacle('lacks', 'MEMORY_MB')]
        obstacles = {
            'g1': [Obstacle('is', 'disabled')],
            'g2': full,
            'g3': [],
            'g4': full,
            'g5': [
                Obstacle('is', 'down'),
                Obstacle('lacks', 'VCPU'),
                Obstacle('lacks', 'PCPU'),
                Obstacle('lacks', 'VGPU'),
                Obstacle('has', 'HW_A'),
            ],
        }
        self.assertEqual(
            'g1 is disabled; g2 and g4 lack MEMORY_MB; g5 is down, lacks '
            'VCPU, PCPU and VGPU and has HW_A',
            offers.sentence(obstacles, 4),
        )
        self.assertEqual('', offers.sentence({'g': []}, 4))

    def test_the_first_hosts_are_named(self) -> None:
        down = {f'h{n}': [Obstacle('is', 'down')] for n in range(5)}
        self.assertEqual(
            'h0, h1 and 3 more are down', offers.sentence(down, 2)
        )
        self.assertEqual(
            'h0, h1, h2, h3 and h4 are down', offers.sentence(down, 5)
        )
        self.assertEqual(
            'h0, h1, h2, h3 and 1 more are down', offers.sentence(down, 4)
        )
