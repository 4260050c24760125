# SPDX-License-Identifier: Apache-2.0

"""Running servers that their own host would refuse today."""

import unittest
from collections.abc import Iterable

from openstack_commands.aggregates.advice import audit, inventory

_WINDOWS = {'os': 'windows', 'force_metadata_check': 'True'}
_FLAVOR = inventory.Flavor('f', {})


def _server(
    name: str, host: str | None, flavor: inventory.Flavor | None = _FLAVOR
) -> inventory.Server:
    """Return a server."""
    return inventory.Server(name, f'id of {name}', host, flavor)


def _audit(
    servers: Iterable[inventory.Server],
    *aggregates: inventory.HostAggregate,
) -> audit.Audit:
    """Return the audit of servers in a cloud with the hosts h1, h2 and h3."""
    hosts = [inventory.Host(name, state='up') for name in ('h1', 'h2', 'h3')]
    stock = inventory.Stock([], aggregates, listed_hosts=hosts)
    return audit.Audit(servers, stock)


class AuditTest(unittest.TestCase):
    def test_a_server_without_a_host_is_neither_judged_nor_unknown(
        self,
    ) -> None:
        audited = _audit([
            _server('b', 'h1'),
            _server('a', 'h2'),
            _server('away', ''),
            _server('hidden', None),
            _server('stranger', 'h9'),
            _server('bare', 'h1', None),
        ])  # fmt: skip
        self.assertEqual(['a', 'b'], [s.name for s in audited.running])
        self.assertEqual(
            [
                (
                    'unknown',
                    '',
                    ['bare (h1)', 'hidden'],
                    'Nova does not show the flavor or the host',
                ),
                (
                    'unknown',
                    '',
                    ['stranger (h9)'],
                    'the host is not among the compute hosts',
                ),
            ],
            _rows(audited.unknown()),
        )

    def test_servers_that_their_host_refuses_are_told_by_reason(self) -> None:
        windows = inventory.Flavor('win', {'os': 'windows'})
        audited = _audit(
            [
                _server('c', 'h1'),
                _server('b', 'h2'),
                _server('a', 'h3'),
                _server('fine', 'h1', windows),
            ],
            inventory.HostAggregate('licensed', _WINDOWS, ('h1', 'h2')),
            inventory.HostAggregate('other', _WINDOWS, ('h3',)),
            inventory.HostAggregate('second', _WINDOWS, ('h3',)),
        )
        self.assertEqual(
            [
                (
                    'refused',
                    'f',
                    ['a (h3)'],
                    "aggregate 'other', 'second' demands 'os'",
                ),
                (
                    'refused',
                    'f',
                    ['b (h2)', 'c (h1)'],
                    "aggregate 'licensed' demands 'os'",
                ),
            ],
            _rows(audited.refused()),
        )

    def test_a_problem_has_the_ids_and_hosts_of_its_servers(self) -> None:
        servers = [_server('a', 'h2'), _server('b', 'h1'), _server('c', 'h2')]
        problem = audit.Problem(audit.REFUSED, 'f', servers, '')
        self.assertEqual(['id of a', 'id of b', 'id of c'], problem.server_ids)
        self.assertEqual(['h1', 'h2'], problem.hosts)


def _rows(problems: Iterable[audit.Problem]) -> list[tuple[object, ...]]:
    """Return what is wrong, as text."""
    return [(p.kind, p.flavor, p.places, p.reason) for p in problems]
