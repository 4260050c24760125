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
        flavor = inventory.Flavor('small', specs, '1')
        self.assertEqual([flavor], nova_records.read_flavors(_rows(row)))

    def test_the_availability_zone_is_metadata_again(self) -> None:
        row = _AGGREGATE | {'Availability Zone': 'az1'}
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual(
            {'k': '1', 'availability_zone': 'az1'}, aggregate.metadata
        )
        self.assertEqual(('h1', 'h2'), aggregate.hosts)

    def test_a_flavor_has_numbers(self) -> None:
        row = {
            'name': 'small',
            'properties': {'k': 1, 2: 'x'},
            'vcpus': 2,
            'ram': '512',
            'disk': 20,
            'OS-FLV-EXT-DATA:ephemeral': 5,
        }
        for swap, disk in (('', 5), (None, 5), (1, 6), (1024, 6), (1025, 7)):
            small = inventory.Flavor(
                'small', {'k': '1', '2': 'x'}, '', 2, 512, 20, disk
            )
            (flavor,) = nova_records.read_flavors(_rows({**row, 'swap': swap}))
            self.assertEqual(small, flavor, swap)

    def test_an_aggregate_has_its_ids(self) -> None:
        row = _AGGREGATE | {'uuid': 'u', 'Hosts': None}
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        names = aggregate.name, aggregate.id, aggregate.uuid, aggregate.hosts
        self.assertEqual(('a', '1', 'u', ()), names)
        # YAML that somebody wrote by hand.
        row = _AGGREGATE | {'Availability Zone': 1, 'Hosts': [1]}
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual('1', aggregate.metadata['availability_zone'])
        self.assertEqual(('1',), aggregate.hosts)

    def test_metadata_go_before_the_column_of_the_zone(self) -> None:
        row = _AGGREGATE | {
            'Availability Zone': 'shown',
            'Properties': {'availability_zone': 'set'},
        }
        (aggregate,) = nova_records.read_aggregates(_rows(row))
        self.assertEqual({'availability_zone': 'set'}, aggregate.metadata)

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
            scheduler = {'Binary': 'nova-scheduler', 'Host': 'h'}
            (host,) = nova_records.read_hosts(
                _rows(scheduler, {**row, 'Host': 'h'})
            )
            fields = host.name, host.state, host.usable
            self.assertEqual(('h', state, state == 'up'), fields)

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
        (nova_records.read_flavors, _flavor('neither'), 'no keys with values'),
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
        (nova_records.read_hosts, {'State': 'up'}, 'compute service list'),
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


class ServerTest(unittest.TestCase):
    """A server, as ``server show`` and Nova's API describe it."""

    FLAVOR = inventory.Flavor('small', {'k': '1'})

    def read(self, **columns: Any) -> inventory.Server:
        """Return the server that a row with more columns describes."""
        row = {
            'id': 'i',
            'name': 's',
            'flavor': {'Original_Name': 'small', 'Extra_Specs': {'k': '1'}},
            **columns,
        }
        (server,) = nova_records.read_servers(_rows(row))
        return server

    def test_a_server_is_read(self) -> None:
        columns = {
            'compute_host': 'h1',
            'tenant_id': 'p',
            'pinned_availability_zone': 'z',
            'os-ext-az:availability_zone': 'shown',
            'scheduler_hints': {'group': 'g'},
            'server_groups': ['g'],
            'image': '',
        }
        self.assertEqual(
            inventory.Server(
                's',
                'i',
                'h1',
                self.FLAVOR,
                'p',
                zone='z',
                hints={'group': 'g'},
                grouped=True,
                from_volume=True,
            ),
            self.read(**columns),
        )

    def test_what_is_not_shown_is_not_known(self) -> None:
        self.assertEqual(
            inventory.Server('s', 'i', None, self.FLAVOR), self.read()
        )
        self.assertFalse(self.read(image={'id': 'x'}).from_volume)
        self.assertFalse(self.read(server_groups=[]).grouped)

    def test_a_server_without_a_host_has_the_zone_that_it_asked_for(
        self,
    ) -> None:
        zones = {
            'pinned_availability_zone': 'pinned',
            'OS-EXT-AZ:availability_zone': 'asked',
        }
        self.assertEqual('asked', self.read(hostId='', **zones).zone)
        self.assertEqual('pinned', self.read(hostId='x', **zones).zone)
        self.assertEqual('', self.read(pinned_availability_zone=None).zone)

    def test_a_request_that_failed_has_its_fault(self) -> None:
        fault = {'message': 'No valid host', 'code': 500}
        server = self.read(status='ERROR', hostId='', fault=fault)
        self.assertEqual(
            (True, 'No valid host'), (server.failed, server.fault)
        )
        # A server that runs may be in error, too.
        self.assertFalse(self.read(status='ERROR', host='h1').failed)
        self.assertFalse(self.read(status='ERROR').failed)
        self.assertFalse(self.read(status='BUILD', hostId='').failed)
        self.assertEqual('', self.read(fault='text').fault)

    def test_a_server_whose_cell_is_down_has_nothing_but_its_name(
        self,
    ) -> None:
        row = {'id': 'i', 'status': 'UNKNOWN'}
        for name, shown in (({'name': 's'}, 's'), ({}, 'i')):
            (server,) = nova_records.read_servers(_rows({**row, **name}))
            lost = inventory.Server(shown, 'i', None, None)
            self.assertEqual(lost, server)
        # The shell shows the flavor nevertheless, if it can.
        self.assertEqual(self.FLAVOR, self.read(status='UNKNOWN').flavor)

    def test_a_flavor_without_a_name_is_a_question_mark(self) -> None:
        server = self.read(flavor={'extra_specs': {}})
        self.assertEqual('?', server.flavor_name)


class GroupTest(unittest.TestCase):
    def test_server_groups_have_a_policy_and_members(self) -> None:
        row = {'Name': 'g', 'Policy': 'affinity', 'Members': ['i', 'j']}
        groups = nova_records.read_groups(
            _rows(row, {'Name': 'text', 'Members': 'i'})
        )
        self.assertEqual([('g', 'affinity', ['i', 'j'], '', 1)], groups)

    def test_an_anti_affine_group_may_allow_more_than_one(self) -> None:
        row = {'ID': 'u', 'Name': 'g', 'Members': []}
        for rules, most in (
            ({'max_server_per_host': 3}, 3),
            ({'max_server_per_host': '2'}, 2),
            ({}, 1),
            (None, 1),
            # Not Nova's: a file may hold anything.
            (['max_server_per_host'], 1),
        ):
            (group,) = nova_records.read_groups(_rows({**row, 'Rules': rules}))
            self.assertEqual(('u', most), (group.id, group.most_per_host))
