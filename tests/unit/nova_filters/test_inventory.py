# SPDX-License-Identifier: Apache-2.0

"""What the client printed, read back as records."""

import unittest
from typing import Any

import ddt

from nova_filters.advice import inventory, rows

_FLAVOR = {'ID': '1', 'Name': 'small', 'Properties': {'k': '1'}}
_AGGREGATE = {
    'ID': 1,
    'Name': 'a',
    'Availability Zone': None,
    'Properties': {'k': '1'},
    'Hosts': ['h1', 'h2'],
}


def _flavor(properties: Any) -> dict[str, Any]:
    """Return a flavor with anything as its properties."""
    return {'Name': 'f', 'Properties': properties}


@ddt.ddt
class ReadTest(unittest.TestCase):
    @ddt.data(
        # flavor list --long, flavor show, Nova's own names
        _FLAVOR,
        {'id': '1', 'name': 'small', 'properties': {'k': '1'}},
        {'id': '1', 'name': 'small', 'extra_specs': {'k': '1'}},
        # YAML that somebody wrote by hand
        {'id': 1, 'name': 'small', 'properties': {'k': 1}},
    )
    def test_a_flavor_is_read_from_every_form(
        self, row: dict[str, Any]
    ) -> None:
        self.assertEqual(
            [inventory.Flavor('small', {'k': '1'}, '1')],
            rows.read_flavors([row]),
        )

    @ddt.data('', None, {})
    def test_properties_may_be_empty(self, value: object) -> None:
        (flavor,) = rows.read_flavors([_flavor(value)])
        self.assertEqual({}, flavor.extra_specs)

    def test_the_availability_zone_is_metadata_again(self) -> None:
        row = _AGGREGATE | {'Availability Zone': 'az1'}
        (aggregate,) = rows.read_aggregates([row])
        self.assertEqual(
            {'k': '1', 'availability_zone': 'az1'}, aggregate.metadata
        )
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

    def test_hosts_come_with_their_state(self) -> None:
        compute = {'Binary': 'nova-compute', 'Status': 'enabled'}
        given = [
            {'Binary': 'nova-scheduler', 'Host': 'controller'},
            {**compute, 'Host': 'h1', 'State': 'up'},
            {**compute, 'Host': 'h2', 'State': 'down'},
            {'Hypervisor Hostname': 'h3.example', 'State': 'up'},
            {'host': 'h4', 'status': 'disabled', 'state': 'up'},
            {'host': 'h5', 'status': 'disabled', 'state': 'down'},
            {'Host': 'h6'},
            # GET /os-hypervisors/detail
            {
                'hypervisor_hostname': 'h7.example',
                'service': {'host': 'h7', 'id': 7},
                'state': 'up',
                'status': 'enabled',
            },
        ]
        hosts = rows.read_hosts(given)
        self.assertEqual(
            [
                ('h1', 'up', True),
                ('h2', 'down', False),
                ('h3.example', 'up', True),
                ('h4', 'disabled', False),
                ('h5', 'disabled and down', False),
                ('h6', '', True),
                ('h7', 'up', True),
            ],
            [(host.name, host.state, host.usable) for host in hosts],
        )

    def test_a_server_brings_its_own_flavor(self) -> None:
        row = {
            'id': 'i',
            'name': 's',
            'OS-EXT-SRV-ATTR:host': 'h1',
            'flavor': {'original_name': 'small', 'extra_specs': {'k': '1'}},
        }
        flavor = inventory.Flavor('small', {'k': '1'})
        self.assertEqual(
            [inventory.Server('s', 'i', 'h1', flavor)],
            rows.read_servers([row]),
        )

    @ddt.data(
        (rows.read_flavors, {'Properties': {}}, '"Name"'),
        (rows.read_flavors, {'Name': 'f'}, 'flavor list --all --long'),
        (rows.read_flavors, _flavor('neither'), 'no keys with values'),
        (rows.read_flavors, _flavor(['k']), 'no keys with values'),
        # an unquoted ~ is "null" in YAML
        (rows.read_flavors, _flavor({'k': None}), "in quotes: '~'"),
        (rows.read_flavors, _flavor({'k': {'l': '1'}}), 'is not text'),
        (rows.read_aggregates, _flavor({}), '"Hosts"'),
        (rows.read_aggregates, _flavor({}) | {'Hosts': 3}, 'no list'),
        (rows.read_hosts, {'State': 'up'}, 'is not a host'),
        # before API version 2.47
        (
            rows.read_servers,
            {'name': 's', 'flavor': 'small (1)'},
            '--os-compute-api-version 2.47',
        ),
    )
    @ddt.unpack
    def test_what_is_missing_is_named(
        self, read: Any, row: dict[str, Any], words: str
    ) -> None:
        with self.assertRaisesRegex(inventory.UnreadableError, '') as caught:
            read([row])
        self.assertIn(words, str(caught.exception))

    def test_a_name_stands_for_one_object(self) -> None:
        with self.assertRaisesRegex(inventory.UnreadableError, 'twice'):
            rows.read_flavors([_FLAVOR, _FLAVOR])
        with self.assertRaisesRegex(inventory.UnreadableError, 'twice'):
            rows.read_aggregates([_AGGREGATE, _AGGREGATE])


@ddt.ddt
class UnwrapTest(unittest.TestCase):
    @ddt.data(
        [_FLAVOR, _FLAVOR],
        [[_FLAVOR, _FLAVOR]],
        [{'flavors': [_FLAVOR]}, {'flavor': _FLAVOR}],
        [{'flavors': [_FLAVOR, _FLAVOR], 'flavors_links': [{'rel': 'next'}]}],
    )
    def test_rows_are_found_in_whatever_holds_them(
        self, documents: list[object]
    ) -> None:
        self.assertEqual([_FLAVOR] * 2, list(rows.unwrap(documents)))

    def test_a_column_of_that_name_is_no_answer(self) -> None:
        server = {'name': 's', 'flavor': {'original_name': 'f'}}
        self.assertEqual([server], list(rows.unwrap([server])))

    @ddt.data('text', ['text'], {'servers': ['text']}, 42)
    def test_something_else_is_refused(self, document: object) -> None:
        with self.assertRaisesRegex(inventory.UnreadableError, '-f json'):
            list(rows.unwrap([document]))


class SelectTest(unittest.TestCase):
    def test_flavors_are_found_by_name_or_id(self) -> None:
        flavors = [
            inventory.Flavor('1', {}, '2'),
            inventory.Flavor('b', {}, '1'),
        ]
        # The ID goes first, as in the client's own commands.
        found = inventory.select(flavors, ['1', '2', 'b'], 'flavor')
        self.assertEqual(['b', '1', 'b'], [flavor.name for flavor in found])
        with self.assertRaisesRegex(inventory.UnreadableError, "'c'"):
            inventory.select(flavors, ['c'], 'flavor')

    def test_a_server_must_be_unambiguous(self) -> None:
        flavor = inventory.Flavor('f', {})
        servers = [
            inventory.Server('web', '1', '', flavor),
            inventory.Server('web', '2', '', flavor),
        ]
        self.assertEqual(
            servers[1:], inventory.select(servers, ['2'], 'server')
        )
        for name in ('web', 'db'):
            with self.assertRaisesRegex(inventory.UnreadableError, name):
                inventory.select(servers, [name], 'server')

    def test_every_host_has_its_aggregates(self) -> None:
        hosts = inventory.hosts_of(
            [
                inventory.HostAggregate('b', {}, ('h2', 'h1')),
                inventory.HostAggregate('a', {'k': '1'}, ('h1',)),
            ],
            [inventory.Host('h3'), inventory.Host('h1')],
        )
        names = {
            host: [aggregate.name for aggregate in own.aggregates]
            for host, own in hosts.items()
        }
        self.assertEqual({'h1': ['a', 'b'], 'h2': ['b'], 'h3': []}, names)
        self.assertEqual(['h1', 'h2', 'h3'], list(hosts))
