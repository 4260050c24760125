# SPDX-License-Identifier: Apache-2.0

"""What the client printed, read back as records."""

import unittest
from typing import Any

import ddt

from osc_placement_plugins.source import records
from osc_placement_plugins.source.records import UnreadableError

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


def read_row(noun: str, row: dict[str, Any]) -> Any:
    """Return the record in a row; None if the row has none."""
    for record in records.parse_document(noun, row, 'it'):
        return record
    return None


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
        flavor = read_row('flavors', row)
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
        aggregate = read_row('aggregates', _AGGREGATE | columns)
        self.assertEqual(metadata, aggregate.metadata)
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

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
        server = read_row('servers', row)
        flavor = records.Flavor('small', {'k': '1'})
        self.assertEqual(records.CloudServer('s', 'i', host, flavor), server)

    @ddt.data(({'name': 's'}, 's'), ({}, 'i'))
    @ddt.unpack
    def test_a_server_whose_cell_is_down_has_a_name_at_most(
        self, columns: dict[str, str], name: str
    ) -> None:
        row = {'id': 'i', 'status': 'UNKNOWN', **columns}
        server = read_row('servers', row)
        self.assertEqual(records.CloudServer(name, 'i', None, None), server)

    @ddt.data(
        ('flavors', {'Properties': {}}, 'no flavor with a name'),
        ('flavors', {'Name': 'f'}, 'flavor list --all --long'),
        ('flavors', _flavor(None), 'flavor list --all --long'),
        ('flavors', _flavor(['k']), 'no column "Properties" with keys'),
        ('flavors', _flavor(''), 'no column "Properties" with keys'),
        ('flavors', _flavor({'k': None}), 'is not text'),
        ('flavors', _flavor({'k': {'l': '1'}}), 'is not text'),
        ('flavors', _AGGREGATE, 'a row is no flavor .*; save the flavors'),
        ('aggregates', _flavor({}), 'no aggregate with a list of hosts'),
        ('aggregates', _flavor({}) | {'Hosts': None}, 'a list of hosts'),
        (
            'aggregates',
            _AGGREGATE | {'Properties': None},
            'aggregate list --long',
        ),
        ('hosts', {'Host': 'h'}, 'compute service list'),
        ('hosts', {'Binary': 'nova-compute'}, 'compute service list'),
        # Only a server whose cell is down may lack the flavor.
        ('servers', {'name': 's', 'status': 'ACTIVE'}, 'extra specs'),
        # Before microversion 2.47.
        (
            'servers',
            {'name': 's', 'flavor': 'small (1)'},
            '--os-compute-api-version 2.47',
        ),
    )
    @ddt.unpack
    def test_what_is_missing_is_named(self, noun, row, words):
        with self.assertRaisesRegex(
            UnreadableError, f'Cannot use it: .*{words}'
        ):
            read_row(noun, row)


class SelectTest(unittest.TestCase):
    def test_flavors_are_found_by_name_or_id(self) -> None:
        flavors = [
            records.Flavor('1', {}, '2'),
            records.Flavor('b', {}, '1'),
        ]
        # The ID goes first, as in the client's own commands.
        selected = records.select_named(flavors, ['1', '2', 'b'], 'flavor')
        # Each is one flavor, however often it is named.
        self.assertEqual(['b', '1'], [flavor.name for flavor in selected])
        with self.assertRaisesRegex(ValueError, "No flavor .*'c'"):
            records.select_named(flavors, ['c'], 'flavor')

    def test_an_ambiguous_name_is_told_with_the_ids(self) -> None:
        servers = [records.CloudServer('web', n, '', None) for n in 'ab']
        selected = records.select_named(servers, ['b'], 'server')
        self.assertEqual(servers[1:], selected)
        with self.assertRaisesRegex(ValueError, "2 servers .*'web'.*: a, b"):
            records.select_named(servers, ['web'], 'server')


@ddt.ddt
class HostTest(unittest.TestCase):
    @ddt.data(
        ('enabled', 'up', 'up'),
        ('enabled', 'down', 'down'),
        ('disabled', 'up', 'disabled'),
        ('disabled', 'down', 'disabled and down'),
        # In a cell that is down.
        ('UNKNOWN', None, 'unknown'),
        ('UNKNOWN', 'up', 'unknown'),
        ('enabled', '', 'unknown'),
        ('UNKNOWN', 'down', 'down'),
    )
    @ddt.unpack
    def test_the_words_of_nova_are_a_state(self, status, state, words):
        row = {'Binary': 'nova-compute', 'Host': 'h'}
        row |= {'Status': status, 'State': state}
        host = read_row('hosts', row)
        self.assertEqual(records.ComputeHost('h', state=words), host)
        self.assertEqual(words == 'up', host.usable)
        row['Binary'] = 'nova-scheduler'
        self.assertIsNone(read_row('hosts', row))

    def test_a_disabled_host_has_the_reason_of_nova(self) -> None:
        for state, reason, condition in (
            ('disabled', 'RAM', "disabled: 'RAM'"),
            ('disabled and down', 'RAM', "disabled and down: 'RAM'"),
            ('disabled', '', 'disabled'),
            # Nova keeps the reason.
            ('down', 'RAM', 'down'),
        ):
            host = records.ComputeHost('h', (), state, reason)
            self.assertEqual(condition, host.condition)
