# SPDX-License-Identifier: Apache-2.0

"""Changes: what they leave, and the commands that make them."""

import unittest

import ddt

from openstack_commands.aggregates.advice import changes, inventory
from openstack_commands.records.rows import UnreadableError

_STOCK = inventory.Stock(
    [inventory.Flavor('f', {'k': '1', 'l': '2'}, '7')],
    [
        inventory.HostAggregate('a', {'k': '1'}, ('h1',), '3'),
        inventory.HostAggregate('b', {}, (), '4'),
    ],
)


@ddt.ddt
class ChangeTest(unittest.TestCase):
    @ddt.data(
        (('flavor', 'set', 'f', 'k', '~'), "set --property 'k=~' f"),
        (('flavor', 'unset', 'f', 'k'), 'unset --property k f'),
        (('aggregate', 'set', 'a', 'k', '1'), 'set --property k=1 a'),
        (('aggregate', 'unset', 'my a', 'k'), "unset --property k 'my a'"),
        (('aggregate', 'add host', 'a', 'h2'), 'add host a h2'),
        (('aggregate', 'remove host', 'a', 'h1'), 'remove host a h1'),
    )
    @ddt.unpack
    def test_a_change_is_a_command(
        self, words: tuple[str, ...], arguments: str
    ) -> None:
        self.assertEqual(
            f'openstack {words[0]} {arguments}',
            str(changes.ObjectChange(*words)),
        )

    def test_changes_are_made_one_after_the_other(self) -> None:
        then = changes.apply(
            [
                changes.ObjectChange('flavor', 'set', '7', 'm', ''),
                changes.ObjectChange('flavor', 'unset', 'f', 'l'),
                changes.ObjectChange('aggregate', 'remove host', 'a', 'h1'),
                changes.ObjectChange('aggregate', 'add host', 'b', 'h1'),
                changes.ObjectChange('aggregate', 'set', '4', 'k', '2'),
                changes.ObjectChange('aggregate', 'unset', 'a', 'k'),
            ],
            _STOCK,
        )
        (flavor,), (first, second) = then.flavors, then.aggregates
        self.assertEqual({'k': '1', 'm': ''}, flavor.extra_specs)
        self.assertEqual(({}, ()), (first.metadata, first.hosts))
        self.assertEqual(
            ({'k': '2'}, ('h1',)), (second.metadata, second.hosts)
        )
        # What was given stays.
        self.assertEqual({'k': '1', 'l': '2'}, _STOCK.flavors[0].extra_specs)

    @ddt.data(
        (('flavor', 'set', 'g', 'k', '1'), "no flavors have the name .* 'g'"),
        (('flavor', 'unset', 'f', 'm'), "flavor 'f' has no key 'm' to remove"),
        (('aggregate', 'add host', 'a', 'h1'), "'h1' is already in aggregate"),
        (('aggregate', 'remove host', 'b', 'h1'), "'h1' is not in aggregate"),
    )
    @ddt.unpack
    def test_what_cannot_be_changed_is_named(
        self, words: tuple[str, ...], problem: str
    ) -> None:
        with self.assertRaisesRegex(UnreadableError, problem):
            changes.apply([changes.ObjectChange(*words)], _STOCK)

    def test_hosts_whose_zone_changes_are_told(self) -> None:
        zones = [
            inventory.HostAggregate('w', {'availability_zone': 'w'}, ('h1',)),
            inventory.HostAggregate('e', {'availability_zone': 'e'}),
            inventory.HostAggregate('a', {}, ('h1',)),
        ]
        stock = inventory.Stock([], zones)
        for words, names in (
            (('remove host', 'a', 'h1'), []),
            (('add host', 'e', 'h2'), ['h2']),
            (('remove host', 'w', 'h1'), ['h1']),
            (('set', 'w', 'availability_zone', 'x'), ['h1']),
        ):
            change = changes.ObjectChange('aggregate', *words)
            then = changes.apply([change], stock)
            moved = changes.zone_moves(stock.hosts, then.hosts)
            self.assertEqual(names, moved, words)
        change = changes.ObjectChange('aggregate', 'add host', 'e', 'h1')
        then = changes.apply([change], stock)
        with self.assertRaisesRegex(UnreadableError, 'zones e and w'):
            changes.zone_moves(stock.hosts, then.hosts)

    def test_zones_are_named_in_order(self) -> None:
        zones = [
            inventory.HostAggregate(name, {'availability_zone': name}, ('h',))
            for name in 'fbdace'
        ]
        stock = inventory.Stock([], zones)
        expected = 'zones a and b and c and d and e and f$'
        with self.assertRaisesRegex(UnreadableError, expected):
            changes.zone_moves({}, stock.hosts)
