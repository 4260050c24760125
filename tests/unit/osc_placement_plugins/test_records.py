# SPDX-License-Identifier: Apache-2.0

"""What a cloud has: what each host is in, and what an operator names."""

import unittest

import ddt

from osc_placement_plugins import records
from osc_placement_plugins.records import Aggregate, Host, Inventory


class InventoryTest(unittest.TestCase):
    def test_every_host_has_its_aggregates(self) -> None:
        inventory = Inventory(
            [
                Aggregate('b', {}, ('h2', 'h1')),
                Aggregate('a', {'k': '1'}, ('h1',)),
            ],
            services=[Host('h3'), Host('h1')],
        )
        self.assertEqual(
            [('h1', ['a', 'b']), ('h2', ['b']), ('h3', [])],
            [
                (name, [aggregate.name for aggregate in host.aggregates])
                for name, host in inventory.hosts.items()
            ],
        )

    def test_a_host_without_a_service_is_not_usable_and_is_told(self) -> None:
        aggregates = [Aggregate('a', {}, ('h1', 'h2'))]
        up = Host('h1', state='up')
        for services, usable, words in (
            (None, 2, 'There is no list of compute services'),
            ([up], 1, "no compute service has, .*: 'h2'"),
            ([up, Host('H2')], 1, r"'h2' \(a service's host is 'H2'\)"),
        ):
            inventory = Inventory(aggregates, services=services)
            hosts = [h for h in inventory.hosts.values() if h.usable]
            self.assertEqual(usable, len(hosts) - hosts.count(Host('H2')))
            (sentence,) = inventory.notes()
            self.assertRegex(sentence, words)
        known = Inventory(aggregates, services=[up, Host('h2')])
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
            inventory = Inventory([Aggregate('a', data)], exempt, [])
            self.assertEqual(notes, inventory.notes())


class SelectTest(unittest.TestCase):
    def test_flavors_are_found_by_name_or_id(self) -> None:
        flavors = [
            records.Flavor('1', {}, '2'),
            records.Flavor('b', {}, '1'),
        ]
        # The ID goes first, as in the client's own commands.
        selected = records.select(flavors, ['1', '2', 'b'], 'flavor')
        # Each is one flavor, however often it is named.
        self.assertEqual(['b', '1'], [flavor.name for flavor in selected])
        with self.assertRaisesRegex(ValueError, "No flavor .*'c'"):
            records.select(flavors, ['c'], 'flavor')

    def test_an_ambiguous_name_is_told_with_the_ids(self) -> None:
        servers = [records.Server('web', n, '', None) for n in 'ab']
        selected = records.select(servers, ['b'], 'server')
        self.assertEqual(servers[1:], selected)
        with self.assertRaisesRegex(ValueError, "2 servers .*'web'.*: a, b"):
            records.select(servers, ['web'], 'server')


@ddt.ddt
class HostTest(unittest.TestCase):
    @ddt.data(
        ('enabled', 'up', 'up'),
        ('enabled', 'down', 'down'),
        ('disabled', 'up', 'disabled'),
        ('disabled', 'down', 'disabled and down'),
        ('UNKNOWN', 'up', 'unknown'),
        ('enabled', '', 'unknown'),
        ('UNKNOWN', 'down', 'down'),
    )
    @ddt.unpack
    def test_the_words_of_nova_are_a_state(self, status, state, words):
        host_state = records.state_of(status, state)
        self.assertEqual(words, host_state)
        self.assertEqual(words == 'up', Host('h', state=host_state).usable)
