# SPDX-License-Identifier: Apache-2.0

"""What each host is in, and what is not known of a cloud."""

import unittest

from osc_placement_plugins.inventory import Inventory
from osc_placement_plugins.source.records import ComputeHost, HostAggregate


class InventoryTest(unittest.TestCase):
    def test_every_host_has_its_aggregates(self) -> None:
        inventory = Inventory(
            [
                HostAggregate('b', {}, ('h2', 'h1')),
                HostAggregate('a', {'k': '1'}, ('h1',)),
            ],
            services=[ComputeHost('h3'), ComputeHost('h1')],
        )
        self.assertEqual(
            [('h1', ['a', 'b']), ('h2', ['b']), ('h3', [])],
            [
                (name, [aggregate.name for aggregate in host.aggregates])
                for name, host in inventory.hosts.items()
            ],
        )

    def test_a_host_without_a_service_is_not_usable_and_is_told(self) -> None:
        aggregates = [HostAggregate('a', {}, ('h1', 'h2'))]
        up = ComputeHost('h1', state='up')
        for services, usable, words in (
            (None, 2, 'There is no list of compute services'),
            ([up], 1, "no compute service has, .*: 'h2'"),
            ([up, ComputeHost('H2')], 1, "no compute service has, .*: 'h2'"),
        ):
            inventory = Inventory(aggregates, services=services)
            hosts = [h for h in inventory.hosts.values() if h.usable]
            self.assertEqual(
                usable, len(hosts) - hosts.count(ComputeHost('H2'))
            )
            (sentence,) = inventory.notes()
            self.assertRegex(sentence, words)
        known = Inventory(aggregates, services=[up, ComputeHost('h2')])
        self.assertEqual([], known.notes())

    def test_the_keys_that_an_option_exempts_are_told(self) -> None:
        metadata = {'rack': '1', 'gpu': '1', 'zone': '1'}
        forced = metadata | {'force_metadata_check': 'True'}
        for data, exempt, notes in (
            (metadata, ('rack', 'z*'), []),
            (forced, ('x',), []),
            (
                forced,
                ('rack', 'z*'),
                [
                    'Keys that are not demanded because of '
                    "exempt_metadata_keys: 'rack', 'zone'."
                ],
            ),
        ):
            inventory = Inventory([HostAggregate('a', data)], exempt, [])
            self.assertEqual(notes, inventory.notes())
