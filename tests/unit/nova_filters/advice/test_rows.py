# SPDX-License-Identifier: Apache-2.0

"""What the client printed, read back as records."""

import unittest
from typing import Any

import ddt

from nova_filters.advice import inventory, rows
from os_placement_plugins.records import rows as records
from os_placement_plugins.records.rows import UnreadableError

_FLAVOR = {'ID': '1', 'Name': 'small', 'Properties': {'k': '1'}}
_AGGREGATE = {
    'ID': 1,
    'Name': 'a',
    'Availability Zone': None,
    'Properties': {'k': '1'},
    'Hosts': ['h1', 'h2'],
}


def _rows(*given: dict[str, Any]) -> list[records.Row]:
    """Return rows as files and answers are read."""
    return [*map(records.columns, given)]


def _flavor(properties: Any) -> dict[str, Any]:
    """Return a flavor with anything as its properties."""
    return {'Name': 'f', 'Properties': properties}


@ddt.ddt
class ReadTest(unittest.TestCase):
    @ddt.data(
        # flavor list --long, flavor show, Nova's own names
        (_FLAVOR, {'k': '1'}),
        ({'id': '1', 'name': 'small', 'properties': {'k': '1'}}, {'k': '1'}),
        ({'id': '1', 'name': 'small', 'extra_specs': {'k': '1'}}, {'k': '1'}),
        # YAML that somebody wrote by hand
        ({'id': 1, 'name': 'small', 'properties': {'k': 1}}, {'k': '1'}),
        *(({**_FLAVOR, 'Properties': none}, {}) for none in ('', None, {})),
    )
    @ddt.unpack
    def test_a_flavor_is_read_from_every_form(self, row, specs) -> None:
        wanted = inventory.Flavor('small', specs, '1')
        self.assertEqual([wanted], rows.read_flavors(_rows(row)))

    def test_the_availability_zone_is_metadata_again(self) -> None:
        row = _AGGREGATE | {'Availability Zone': 'az1'}
        (aggregate,) = rows.read_aggregates(_rows(row))
        self.assertEqual(
            {'k': '1', 'availability_zone': 'az1'}, aggregate.metadata
        )
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

    def test_hosts_come_with_their_state(self) -> None:
        compute = {'Binary': 'nova-compute', 'Status': 'enabled'}
        disabled = {'binary': 'nova-compute', 'status': 'disabled'}
        for row, state in (
            ({**compute, 'State': 'up'}, 'up'),
            ({**compute, 'State': 'down'}, 'down'),
            ({**disabled, 'state': 'up'}, 'disabled'),
            ({**disabled, 'state': 'down'}, 'disabled and down'),
            # In a cell that is down, by the shell and by the API.
            ({**compute, 'Status': 'UNKNOWN', 'State': None}, 'unknown'),
            ({**disabled, 'status': 'UNKNOWN'}, 'unknown'),
            (compute, 'unknown'),
        ):
            others = {'Binary': 'nova-scheduler', 'Host': 'h'}
            (host,) = rows.read_hosts(_rows(others, {**row, 'Host': 'h'}))
            found = host.name, host.state, host.usable
            self.assertEqual(('h', state, state == 'up'), found)

    @ddt.data(
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': ''}, ''),
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': 'a1b2'}, None),
        ({}, None),
        ({'OS-EXT-SRV-ATTR:host': 'h1', 'hostId': 'a1b2'}, 'h1'),
    )
    @ddt.unpack
    def test_a_hidden_host_is_not_no_host(
        self, columns: dict[str, Any], host: str | None
    ) -> None:
        own = {'original_name': 'small', 'extra_specs': {'k': '1'}}
        row = {'id': 'i', 'name': 's', 'flavor': own, **columns}
        flavor = inventory.Flavor('small', {'k': '1'})
        self.assertEqual(
            [inventory.Server('s', 'i', host, flavor)],
            rows.read_servers(_rows(row)),
        )

    @ddt.data(
        (rows.read_flavors, {'Properties': {}}, '"Name"'),
        (rows.read_flavors, {'Name': 'f'}, 'flavor list --all --long'),
        (rows.read_flavors, _flavor('neither'), 'no keys with values'),
        (rows.read_flavors, _flavor(['k']), 'no keys with values'),
        (rows.read_flavors, _flavor({'k': None}), 'has no value'),
        (rows.read_flavors, _flavor({'k': {'l': '1'}}), 'is not text'),
        (rows.read_aggregates, _flavor({}), '"Hosts"'),
        (rows.read_aggregates, _flavor({}) | {'Hosts': 3}, 'no list'),
        (rows.read_hosts, {'State': 'up'}, 'compute service list'),
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
        with self.assertRaisesRegex(UnreadableError, words):
            read(_rows(row))

    def test_a_name_stands_for_one_object(self) -> None:
        for read, row in (
            (rows.read_flavors, _FLAVOR),
            (rows.read_aggregates, _AGGREGATE),
        ):
            with self.assertRaisesRegex(UnreadableError, 'twice'):
                read(_rows(row, row))
