# SPDX-License-Identifier: Apache-2.0

"""What the client printed, read back as records."""

import unittest
from typing import Any

import ddt

from osc_placement_plugins import records, rows
from osc_placement_plugins.records import UnreadableError

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
class RowsTest(unittest.TestCase):
    @ddt.data(
        # The shell's names and Nova's own.
        (_FLAVOR, {'k': '1'}),
        ({'id': '1', 'name': 'small', 'extra_specs': {'k': 1}}, {'k': '1'}),
        ({**_FLAVOR, 'Properties': {}}, {}),
    )
    @ddt.unpack
    def test_a_flavor_is_read_from_both_forms(self, row, specs) -> None:
        flavor = rows.read_flavor(rows.normalize(row))
        self.assertEqual(records.Flavor('small', specs, '1'), flavor)

    @ddt.data(
        # The shell takes the zone out of the metadata; Nova does not.
        ({'Availability Zone': 'az1'}, {'k': '1', 'availability_zone': 'az1'}),
        (
            {
                'Availability Zone': 'shown',
                'Properties': {'availability_zone': 'set'},
            },
            {'availability_zone': 'set'},
        ),
    )
    @ddt.unpack
    def test_the_availability_zone_is_metadata(self, columns, metadata):
        row = rows.normalize(_AGGREGATE | columns)
        aggregate = rows.read_aggregate(row)
        self.assertEqual(metadata, aggregate.metadata)
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

    @ddt.data(
        ({'Status': 'disabled', 'State': 'up'}, 'disabled'),
        # In a cell that is down.
        ({'Status': 'UNKNOWN', 'State': None}, 'unknown'),
    )
    @ddt.unpack
    def test_a_host_comes_with_its_state(self, columns, state) -> None:
        row = {'Binary': 'nova-compute', 'Host': 'h', **columns}
        host = rows.read_host(rows.normalize(row))
        self.assertEqual(records.Host('h', state=state), host)
        row['Binary'] = 'nova-scheduler'
        self.assertIsNone(rows.read_host(rows.normalize(row)))

    @ddt.data(
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': ''}, ''),
        ({'OS-EXT-SRV-ATTR:host': None, 'hostId': 'a1b2'}, None),
        ({}, None),
        ({'OS-EXT-SRV-ATTR:host': 'h1', 'hostId': 'a1b2'}, 'h1'),
        # The shell shows the flavor in a cell that is down, if it can.
        ({'status': 'UNKNOWN'}, None),
    )
    @ddt.unpack
    def test_a_hidden_host_is_not_no_host(self, columns, host):
        copy = {'original_name': 'small', 'extra_specs': {'k': '1'}}
        row = {'id': 'i', 'name': 's', 'flavor': copy, **columns}
        server = rows.read_server(rows.normalize(row))
        flavor = records.Flavor('small', {'k': '1'})
        self.assertEqual(records.Server('s', 'i', host, flavor), server)

    @ddt.data(({'name': 's'}, 's'), ({}, 'i'))
    @ddt.unpack
    def test_a_server_whose_cell_is_down_has_a_name_at_most(
        self, columns: dict[str, str], name: str
    ) -> None:
        server = rows.read_server({'id': 'i', 'status': 'UNKNOWN', **columns})
        self.assertEqual(records.Server(name, 'i', None, None), server)

    @ddt.data(
        (rows.read_flavor, {'Properties': {}}, '"Name"'),
        (rows.read_flavor, {'Name': 'f'}, 'flavor list --all --long'),
        (rows.read_flavor, _flavor(None), 'flavor list --all --long'),
        (rows.read_flavor, _flavor(['k']), 'no keys with values'),
        (rows.read_flavor, _flavor(''), 'no keys with values'),
        (rows.read_flavor, _flavor({'k': None}), 'has no value'),
        (rows.read_flavor, _flavor({'k': {'l': '1'}}), 'is not text'),
        (rows.read_flavor, _AGGREGATE, "'a' is no flavor; save the flavors"),
        (rows.read_aggregate, _flavor({}), 'no list of hosts'),
        (rows.read_aggregate, _flavor({}) | {'Hosts': None}, 'no list'),
        (
            rows.read_aggregate,
            _AGGREGATE | {'Properties': None},
            'aggregate list --long',
        ),
        (rows.read_host, {'Host': 'h'}, 'compute service list'),
        (rows.read_host, {'Binary': 'nova-compute'}, 'compute service list'),
        # Only a server whose cell is down may lack the flavor.
        (rows.read_server, {'name': 's', 'status': 'ACTIVE'}, 'extra specs'),
        # Before microversion 2.47.
        (
            rows.read_server,
            {'name': 's', 'flavor': 'small (1)'},
            '--os-compute-api-version 2.47',
        ),
    )
    @ddt.unpack
    def test_what_is_missing_is_named(self, read, row, words):
        with self.assertRaisesRegex(UnreadableError, words):
            read(rows.normalize(row))
