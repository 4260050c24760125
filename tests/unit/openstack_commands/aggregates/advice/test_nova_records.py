# SPDX-License-Identifier: Apache-2.0

"""What the client printed, read back as records."""

import unittest
from typing import Any

import ddt

from openstack_commands.aggregates.advice import inventory, nova_records
from openstack_commands.records import rows as records
from openstack_commands.records.rows import UnreadableError

_FLAVOR = {'ID': '1', 'Name': 'small', 'Properties': {'k': '1'}}
_AGGREGATE = {
    'ID': 1,
    'Name': 'a',
    'Availability Zone': None,
    'Properties': {'k': '1'},
    'Hosts': ['h1', 'h2'],
}


def _rows(*objects: dict[str, Any]) -> list[records.Row]:
    """Return rows as files and answers are read."""
    return [*map(records.columns, objects)]


def _flavor(properties: Any) -> dict[str, Any]:
    """Return a flavor with anything as its properties."""
    return {'Name': 'f', 'Properties': properties}


@ddt.ddt
class ReadTest(unittest.TestCase):
    @ddt.data(
        # The shell's names and Nova's own.
        (_FLAVOR, {'k': '1'}),
        ({'id': '1', 'name': 'small', 'extra_specs': {'k': '1'}}, {'k': '1'}),
        ({**_FLAVOR, 'Properties': {}}, {}),
    )
    @ddt.unpack
    def test_a_flavor_is_read_from_both_forms(self, row, specs) -> None:
        flavor = inventory.Flavor('small', specs, '1')
        self.assertEqual([flavor], nova_records.read_flavors(_rows(row)))

    def test_the_availability_zone_is_metadata_again(self) -> None:
        row = _AGGREGATE | {'Availability Zone': 'az1'}
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual(
            {'k': '1', 'availability_zone': 'az1'}, aggregate.metadata
        )
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

    def test_an_aggregate_has_its_id(self) -> None:
        row = {'id': 1, 'name': 'a', 'metadata': {'k': '1'}, 'hosts': []}
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual(('a', '1'), (aggregate.name, aggregate.id))
        self.assertEqual({'k': '1'}, aggregate.metadata)
        self.assertEqual((), aggregate.hosts)

    def test_metadata_go_before_the_column_of_the_zone(self) -> None:
        row = _AGGREGATE | {
            'Availability Zone': 'shown',
            'Properties': {'availability_zone': 'set'},
        }
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual({'availability_zone': 'set'}, aggregate.metadata)

    def test_hosts_come_with_their_state(self) -> None:
        compute = {'Binary': 'nova-compute', 'Host': 'h'}
        for columns, state in (
            ({'Status': 'disabled', 'State': 'up'}, 'disabled'),
            # In a cell that is down.
            ({'Status': 'UNKNOWN', 'State': None}, 'unknown'),
        ):
            scheduler = {'Binary': 'nova-scheduler', 'Host': 'h'}
            rows = _rows(scheduler, {**compute, **columns})
            self.assertEqual(
                [inventory.Host('h', state=state)],
                nova_records.read_hosts(rows),
            )

    @ddt.data(
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': ''}, ''),
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': 'a1b2'}, None),
        ({}, None),
        ({'OS-EXT-SRV-ATTR:host': 'h1', 'hostId': 'a1b2'}, 'h1'),
        # The shell shows the flavor in a cell that is down, if it can.
        ({'status': 'UNKNOWN'}, None),
    )
    @ddt.unpack
    def test_a_hidden_host_is_not_no_host(
        self, columns: dict[str, Any], host: str | None
    ) -> None:
        copy = {'original_name': 'small', 'extra_specs': {'k': '1'}}
        row = {'id': 'i', 'name': 's', 'flavor': copy, **columns}
        flavor = inventory.Flavor('small', {'k': '1'})
        self.assertEqual(
            [inventory.Server('s', 'i', host, flavor)],
            nova_records.read_servers(_rows(row)),
        )

    @ddt.data(
        (nova_records.read_flavors, {'Properties': {}}, '"Name"'),
        (nova_records.read_flavors, {'Name': 'f'}, 'flavor list --all --long'),
        (nova_records.read_flavors, _flavor(['k']), 'no keys with values'),
        (nova_records.read_flavors, _flavor({'k': None}), 'has no value'),
        (nova_records.read_flavors, _flavor({'k': {'l': '1'}}), 'is not text'),
        (nova_records.read_aggregates, _flavor({}), '"Hosts"'),
        (nova_records.read_aggregates, _flavor({}) | {'Hosts': 3}, 'no list'),
        (
            nova_records.read_flavors,
            _AGGREGATE,
            "'a' is no flavor; save the flavors",
        ),
        (nova_records.read_hosts, {'Host': 'h'}, 'compute service list'),
        (
            nova_records.read_hosts,
            {'Binary': 'nova-compute'},
            'compute service list',
        ),
        # Only a server whose cell is down may lack the flavor.
        (
            nova_records.read_servers,
            {'name': 's', 'status': 'ACTIVE'},
            'extra specs',
        ),
        # before API version 2.47
        (
            nova_records.read_servers,
            {'name': 's', 'flavor': 'small (1)'},
            '--os-compute-api-version 2.47',
        ),
    )
    @ddt.unpack
    def test_what_is_missing_is_named(
        self, read: Any, row: dict[str, Any], words: str
    ) -> None:
        with self.assertRaisesRegex(UnreadableError, words):
            read(_rows(row))

    def test_a_name_stands_for_one_object(self) -> None:
        for read, row in (
            (nova_records.read_flavors, _FLAVOR),
            (nova_records.read_aggregates, _AGGREGATE),
            (nova_records.read_hosts, {'Binary': 'nova-compute', 'Host': 'h'}),
        ):
            with self.assertRaisesRegex(UnreadableError, 'twice'):
                read(_rows(row, row))

    def test_a_server_whose_cell_is_down_has_nothing_but_its_name(
        self,
    ) -> None:
        row = {'id': 'i', 'status': 'UNKNOWN'}
        for name, shown in (({'name': 's'}, 's'), ({}, 'i')):
            (server,) = nova_records.read_servers(_rows({**row, **name}))
            lost = inventory.Server(shown, 'i', None, None)
            self.assertEqual(lost, server)
