# SPDX-License-Identifier: Apache-2.0

"""Nova's answers, read as records."""

import unittest
from typing import Any

import ddt

from osc_placement_plugins.source import records
from osc_placement_plugins.source.records import UnreadableError

_AGGREGATE = {'name': 'a', 'metadata': {'k': '1'}, 'hosts': ['h1', 'h2']}


def _flavor(extra_specs: Any, **columns: Any) -> dict[str, Any]:
    """Return a flavor with anything as its extra specs."""
    return {'name': 'f', 'extra_specs': extra_specs, **columns}


def read_row(noun: str, row: dict[str, Any]) -> Any:
    """Return the record in a row; None if the row has none."""
    key = 'services' if noun == 'hosts' else noun
    for record in records.parse_answer(noun, {key: [row]}):
        return record
    return None


@ddt.ddt
class RowsTest(unittest.TestCase):
    def test_a_flavor_is_public_if_nova_does_not_deny_it(self) -> None:
        for columns, is_public in (
            ({}, True),
            ({'os-flavor-access:is_public': True}, True),
            ({'os-flavor-access:is_public': False}, False),
        ):
            row = _flavor({'k': 1}, id='1', **columns)
            flavor = records.Flavor('f', {'k': '1'}, '1', is_public)
            self.assertEqual(flavor, read_row('flavors', row))
            self.assertEqual(is_public, bool(records.note_public([flavor])))

    def test_an_aggregate_has_its_hosts(self) -> None:
        aggregate = read_row('aggregates', _AGGREGATE)
        self.assertEqual({'k': '1'}, aggregate.metadata)
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
        ('flavors', {'extra_specs': {}}, 'has no name'),
        ('flavors', {'name': 'f'}, 'no extra_specs: the microversion'),
        ('flavors', _flavor(None), 'no extra_specs'),
        ('flavors', _flavor(['k']), 'no extra_specs'),
        ('flavors', _flavor(''), 'no extra_specs'),
        ('flavors', _flavor({'k': None}), 'is not text'),
        ('flavors', _flavor({'k': {'l': '1'}}), 'is not text'),
        ('aggregates', {'name': 'a', 'metadata': {}}, 'no list of hosts'),
        ('aggregates', _AGGREGATE | {'hosts': None}, 'no list of hosts'),
        ('aggregates', _AGGREGATE | {'metadata': None}, 'no metadata'),
        ('hosts', {'host': 'h'}, 'no binary'),
        ('hosts', {'binary': 'nova-compute'}, 'no host'),
        # Only a server whose cell is down may lack the flavor.
        ('servers', {'name': 's', 'status': 'ACTIVE'}, "'s' has no flavor"),
        # Before microversion 2.47.
        ('servers', {'name': 's', 'flavor': {'id': '1'}}, 'no extra_specs'),
    )
    @ddt.unpack
    def test_what_is_missing_is_named(self, noun, row, words):
        with self.assertRaisesRegex(UnreadableError, words):
            read_row(noun, row)


class SelectTest(unittest.TestCase):
    FLAVORS = (records.Flavor('gpu', {}, '1'), records.Flavor('m1', {}, 'gpu'))

    def test_flavors_are_found_by_name_or_id(self) -> None:
        selected = records.select_named(self.FLAVORS, ['m1', '1'], 'flavor')
        self.assertEqual(['m1', 'gpu'], [flavor.name for flavor in selected])
        # Each is one flavor, however often it is named.
        selected = records.select_named(self.FLAVORS, ['1', '1'], 'flavor')
        self.assertEqual(1, len(selected))
        with self.assertRaisesRegex(ValueError, "^No flavor .*'c'. They say$"):
            records.select_named(self.FLAVORS, ['c'], 'flavor', 'They say.')

    def test_a_name_that_is_the_id_of_another_one_is_ambiguous(self) -> None:
        # The log of nova-scheduler has names, and the client prefers IDs.
        with self.assertRaisesRegex(
            ValueError, r"^2 flavors .*'gpu'.* 1 \(gpu\), gpu \(m1\)$"
        ):
            records.select_named(self.FLAVORS, ['gpu'], 'flavor')


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
        row = {'binary': 'nova-compute', 'host': 'h'}
        row |= {'status': status, 'state': state}
        host = read_row('hosts', row)
        self.assertEqual(records.ComputeHost('h', state=words), host)
        self.assertEqual(words == 'up', host.usable)
        row['binary'] = 'nova-scheduler'
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
