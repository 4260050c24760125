# SPDX-License-Identifier: Apache-2.0

"""Hosts that aggregates reserve for projects and flavors."""

import unittest

import ddt

from openstack_commands.aggregates.advice import inventory, reservations


def _host(*metadata: dict[str, str]) -> inventory.Host:
    """Return a host in aggregates."""
    aggregates = [
        inventory.HostAggregate(f'a{number}', pairs)
        for number, pairs in enumerate(metadata)
    ]
    return inventory.Host('h', tuple(aggregates))


@ddt.ddt
class ReservationsTest(unittest.TestCase):
    @ddt.data(
        ([], set()),
        ([{'rack': 'p'}], set()),
        ([{'filter_tenant_id': 'p'}], {'p'}),
        ([{'filter_tenant_id': 'p, q'}], {'p', 'q'}),
        # Any number of projects has room in keys with a suffix.
        ([{'filter_tenant_id.2': 'p'}, {'filter_tenant_id': 'q'}], {'p', 'q'}),
        # An empty value reserves the host for nobody, as in Nova.
        ([{'filter_tenant_id': ''}], {''}),
    )
    @ddt.unpack
    def test_aggregates_name_the_projects(
        self, metadata: list[dict[str, str]], projects: set[str]
    ) -> None:
        self.assertEqual(projects, reservations.projects(_host(*metadata)))

    def test_aggregates_name_the_flavors(self) -> None:
        host = _host({'instance_type': 'a,b'}, {'instance_type.2': 'c'})
        self.assertEqual({'a', 'b'}, reservations.flavors(host))

    @ddt.data(
        ((), 'p', True), (('p',), 'p', True), (('p',), 'q', False),
        (('',), 'p', False),
    )  # fmt: skip
    @ddt.unpack
    def test_a_reserved_host_takes_the_named(
        self, reserved: tuple[str, ...], name: str, admits: bool
    ) -> None:
        self.assertIs(admits, reservations.admits(reserved, name))
