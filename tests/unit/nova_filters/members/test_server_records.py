# SPDX-License-Identifier: Apache-2.0

"""What Nova's databases say of a server."""

import datetime
import json
import unittest
from typing import Any

import ddt

from nova_filters.members import server_records
from nova_filters.spread.teams import Turn
from os_placement_plugins import signature


def flavor(**fields: Any) -> dict[str, Any]:
    """Return a flavor as a stored request has it."""
    return {'nova_object.data': fields}


def image(**properties: Any) -> dict[str, Any]:
    """Return an image as a stored request has it."""
    data = {'id': 'image', 'properties': {'nova_object.data': properties}}
    return {'nova_object.data': data}


def stored(**changes: Any) -> str:
    """Return a stored request with these changes."""
    data = {
        'project_id': 'project',
        'scheduler_hints': {'heat_root_stack_id': ['root']},
        'instance_group': None,
        'availability_zone': None,
        'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=64),
        'image': image(),
        **changes,
    }
    return json.dumps({'nova_object.data': data})


def pci(**fields: Any) -> dict[str, Any]:
    """Return the PCI devices that a stored request asks for."""
    device = {'request_id': 'device', 'spec': [], 'count': 1, **fields}
    data = {'requests': [{'nova_object.data': device}]}
    return {'nova_object.data': data}


def kind(images: bool, **changes: Any) -> str:
    """Return the kind of a server whose stored request has these changes."""
    return read(stored(**changes), images).kind


def read(text: str, images: bool = False) -> server_records.StoredRequest:
    """Return what a stored request says, if no hints are signed."""
    return server_records.read_request(text, signature.Keys(), images)


@ddt.ddt
class ServerTest(unittest.TestCase):
    """The host of a server, or whether a host is being chosen."""

    MOVE = Turn('cell', 2, datetime.datetime(2026, 11, 23))

    @ddt.data(
        # The goal, whether a host is being chosen, and the facts.
        (None, True, None, 'building'),
        ('a', False, 'a', 'building'),
        ('a', False, 'a', 'stopped'),
        ('a', False, 'a', 'error'),
        (None, False, None, 'error'),
        (None, False, None, 'shelved_offloaded'),
        (None, True, None, 'shelved_offloaded', 'unshelve', MOVE),
        ('b', False, 'b', 'shelved_offloaded', 'unshelve', MOVE),
        (None, True, 'a', 'active', 'evacuate', MOVE),
        ('b', False, 'a', 'active', 'evacuate', MOVE, 'b'),
        ('b', False, 'b', 'resized', 'resize', MOVE, 'b'),
    )
    def test_a_server_is_where_it_goes(self, case) -> None:
        goal, in_flight, *facts = case
        server = server_records.Server(*facts)
        self.assertEqual(goal, server.current_host())
        self.assertEqual(in_flight, server.is_pending())


class StackTest(unittest.TestCase):
    """The stack of a server."""

    def test_the_hints_name_it(self) -> None:
        self.assertEqual('root', read(stored()).root_stack_id)
        self.assertIsNone(read(stored(scheduler_hints=None)).root_stack_id)

    def test_what_is_no_request_raises(self) -> None:
        for text in (
            '',
            '{',
            '[1]',
            '{"nova_object.data": 1}',
            '[' * 100_000,
            stored()[:-1],
            stored(flavor=None),
            stored(image='x'),
        ):
            with self.assertRaises(ValueError):
                read(text)


@ddt.ddt
class KindTest(unittest.TestCase):
    """What tells servers apart that have different candidates."""

    @ddt.data(
        {'availability_zone': 'z'},
        {'scheduler_hints': {'different_host': ['x']}},
        {'force_hosts': ['a']},
        {'force_nodes': ['a']},
        {'flavor': flavor(extra_specs={'a': 'b', 'trait:X': 'required'})},
        {'flavor': flavor(extra_specs={'a': 'b', 'hw:cpu_policy': 'x'})},
        {'image': image(hw_architecture='aarch64')},
        {'instance_group': {'nova_object.data': {'uuid': 'group'}}},
        {'pci_requests': pci(spec=[{'physical_network': 'fast'}])},
        {'pci_requests': pci(alias_name='gpu')},
    )
    def test_what_decides_the_candidates(self, changes) -> None:
        for images in (False, True):
            self.assertNotEqual(kind(images), kind(images, **changes))

    @ddt.data(
        {'scheduler_hints': {'heat_root_stack_id': 'x', 'role': 'db'}},
        {'scheduler_hints': {'heat_resource_name': 'other'}},
        {'flavor': flavor(extra_specs={'a': 'b'}, memory_mb=1)},
        {
            'flavor': flavor(
                extra_specs={
                    'a': 'b',
                    'quota:cpu_shares': '9',
                    'aggregate_preferred:disk': 'ssd',
                }
            )
        },
    )
    def test_what_chooses_no_host(self, changes) -> None:
        for images in (False, True):
            self.assertEqual(kind(images), kind(images, **changes))

    def test_what_a_filter_compares(self) -> None:
        other = {'nova_object.data': {'id': 'other'}}
        images = [image(os_type='linux'), image(os_type='windows'), other]
        for by_image, count in (False, 1), (True, 3):
            kinds = {kind(by_image, image=data) for data in images}
            self.assertEqual(count, len(kinds))

    def test_the_port_of_a_device_does_not_count(self) -> None:
        ports = [pci(request_id=port, requester_id=port) for port in 'ab']
        kinds = {kind(False, pci_requests=port) for port in ports}
        self.assertEqual(1, len(kinds))

    def test_the_order_of_extra_specs_does_not_count(self) -> None:
        one = flavor(extra_specs={'a': 'b', 'c': 'd'})
        other = flavor(extra_specs={'c': 'd', 'a': 'b'})
        self.assertEqual(kind(False, flavor=one), kind(False, flavor=other))

    def test_nothing_of_a_tenants_text_is_kept(self) -> None:
        hints = {'heat_root_stack_id': 'root', 'different_host': 'x' * 10_000}
        request = read(stored(scheduler_hints=hints))
        self.assertLess(len(repr(request)), 1_000)

    def test_a_server_may_have_no_image(self) -> None:
        self.assertNotEqual('', kind(False, image=None))
