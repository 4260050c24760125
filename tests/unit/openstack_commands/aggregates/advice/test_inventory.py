# SPDX-License-Identifier: Apache-2.0

"""What a cloud has: what each host is in, and what an operator names."""

import unittest

from openstack_commands.aggregates.advice import inventory
from openstack_commands.records.rows import UnreadableError


class StockTest(unittest.TestCase):
    def test_every_host_has_its_aggregates(self) -> None:
        stock = inventory.Stock(
            [],
            [
                inventory.HostAggregate('b', {}, ('h2', 'h1')),
                inventory.HostAggregate('a', {'k': '1'}, ('h1',)),
            ],
            listed_hosts=[inventory.Host('h3'), inventory.Host('h1')],
        )
        self.assertEqual(
            [('h1', ['a', 'b']), ('h2', ['b']), ('h3', [])],
            [
                (name, [a.name for a in host.aggregates])
                for name, host in stock.hosts.items()
            ],
        )

    def test_a_host_that_no_service_has_is_not_usable(self) -> None:
        aggregates = [inventory.HostAggregate('a', {}, ('h1', 'h2'))]
        up = inventory.Host('h1', state='up')
        for listed_hosts, usable in ((None, 2), ([up], 1), ([], 0)):
            stock = inventory.Stock([], aggregates, listed_hosts=listed_hosts)
            usable_hosts = [
                host for host in stock.hosts.values() if host.usable
            ]
            self.assertEqual(usable, len(usable_hosts))


class SelectTest(unittest.TestCase):
    def test_flavors_are_found_by_name_or_id(self) -> None:
        flavors = [
            inventory.Flavor('1', {}, '2'),
            inventory.Flavor('b', {}, '1'),
        ]
        # The ID goes first, as in the client's own commands.
        selected = inventory.select(flavors, ['1', '2', 'b'], 'flavor')
        # Each is one flavor, however often it is named.
        self.assertEqual(['b', '1'], [flavor.name for flavor in selected])
        with self.assertRaisesRegex(UnreadableError, "'c'"):
            inventory.select(flavors, ['c'], 'flavor')

    def test_a_server_must_be_unambiguous(self) -> None:
        servers = [inventory.Server('web', n, '', None) for n in '12']
        selected = inventory.select(servers, ['2'], 'server')
        self.assertEqual(servers[1:], selected)
        with self.assertRaisesRegex(UnreadableError, '2 servers .*web'):
            inventory.select(servers, ['web'], 'server')


class HostTest(unittest.TestCase):
    def test_the_words_of_nova_are_a_state(self) -> None:
        for status, state, words in (
            ('enabled', 'up', 'up'),
            ('enabled', 'down', 'down'),
            ('disabled', 'up', 'disabled'),
            ('disabled', 'down', 'disabled and down'),
            ('UNKNOWN', 'up', 'unknown'),
            ('enabled', '', 'unknown'),
            ('UNKNOWN', 'down', 'down'),
        ):
            host_state = inventory.state_of(status, state)
            self.assertEqual(words, host_state, (status, state))
            usable = inventory.Host('h', state=host_state).usable
            self.assertEqual(words == 'up', usable)
