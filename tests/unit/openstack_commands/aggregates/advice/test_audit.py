# SPDX-License-Identifier: Apache-2.0

"""Running servers that break the rules, or could stand better."""

import unittest
from collections.abc import Mapping, Sequence
from typing import Any

import ddt

from openstack_commands.aggregates.advice import audit, breaches, inventory
from openstack_commands.aggregates.advice.nova_records import Group

_WINDOWS = {'os': 'windows', 'force_metadata_check': 'True'}
_FLAVOR = inventory.Flavor('f', {})


def _server(name: str, host: str | None, **fields: Any) -> inventory.Server:
    """Return a server of the flavor "f" that may stand in any zone."""
    all_fields = {'flavor': _FLAVOR, 'zone': '', **fields}
    return inventory.Server(name, f'id of {name}', host, **all_fields)


def _servers(**hosts: str) -> list[inventory.Server]:
    """Return servers on hosts."""
    return [_server(name, host) for name, host in hosts.items()]


def _aggregate(
    name: str, metadata: Mapping[str, str], *hosts: str
) -> inventory.HostAggregate:
    """Return an aggregate."""
    return inventory.HostAggregate(name, metadata, hosts)


def _stock(
    *aggregates: inventory.HostAggregate,
    hosts: str = 'h1 h2 h3',
    down: str = '',
) -> inventory.Stock:
    """Return a cloud whose hosts are up, but for some."""
    listed_hosts = [
        inventory.Host(name, state='down' if name in down.split() else 'up')
        for name in hosts.split()
    ]
    return inventory.Stock([_FLAVOR], aggregates, listed_hosts=listed_hosts)


class JudgedTest(unittest.TestCase):
    def test_a_server_without_a_host_is_neither_judged_nor_unknown(
        self,
    ) -> None:
        servers = [
            _server('b', 'h1'),
            _server('a', 'h2'),
            _server('away', ''),
            _server('hidden', None),
            _server('stranger', 'h9'),
            _server('bare', 'h1', flavor=None),
        ]
        judged = audit.Audit(servers, _stock(), ['host'])
        self.assertEqual(['id of a', 'id of b'], [*judged.running])
        self.assertEqual(
            [
                (
                    ['bare (h1)', 'hidden'],
                    'Nova does not show the flavor or the host',
                ),
                (
                    ['stranger (h9)'],
                    'the host is not among the compute hosts',
                ),
            ],
            [(row.places, row.reason) for row in judged.unknown()],
        )
        for row in judged.unknown():
            self.assertEqual(('unknown', 'server', ''), row[:3])


class ReservedTest(unittest.TestCase):
    def test_a_host_may_be_reserved_for_projects(self) -> None:
        for metadata, reserves in (
            ({'rack': 'p'}, False),
            ({'filter_tenant_id': 'p'}, True),
        ):
            stock = _stock(_aggregate('a', metadata, 'h2'))
            self.assertIs(reserves, audit.Audit([], stock, []).reserves)


class RefusedTest(unittest.TestCase):
    def test_servers_that_their_host_refuses_are_told_by_reason(self) -> None:
        windows = inventory.Flavor('win', {'os': 'windows'})
        stock = _stock(
            _aggregate('licensed', _WINDOWS, 'h1', 'h2'),
            _aggregate('other', _WINDOWS, 'h3'),
        )
        servers = [
            *_servers(c='h1', b='h2', a='h3'),
            _server('fine', 'h1', flavor=windows),
        ]
        refused = [*audit.Audit(servers, stock, ['host']).refused()]
        self.assertEqual(
            [
                (
                    'refused',
                    'flavor',
                    'f',
                    ['a (h3)'],
                    "aggregate 'other' demands 'os'",
                    '',
                ),
                (
                    'refused',
                    'flavor',
                    'f',
                    ['b (h2)', 'c (h1)'],
                    "aggregate 'licensed' demands 'os'",
                    '',
                ),
            ],
            _told(refused),
        )


def _told(rows: Sequence[breaches.Breach]) -> list[tuple[object, ...]]:
    """Return what is wrong, as text."""
    return [(*row[:3], row.places, row.reason, row.id) for row in rows]


def _uneven(
    servers: Sequence[inventory.Server],
    stock: inventory.Stock,
    policy: str = 'soft-anti-affinity',
    levels: Sequence[str] = ('host',),
) -> list[breaches.Breach]:
    """Return what is uneven if all servers are in one server group."""
    group = Group('g', policy, [server.id for server in servers], 'id of g')
    return [*audit.Audit(servers, stock, levels).uneven([group], True)]


@ddt.ddt
class GroupTest(unittest.TestCase):
    def test_the_move_that_would_spread_a_group_is_told(self) -> None:
        servers = _servers(a='h1', b='h1')
        self.assertEqual(
            [
                (
                    'spread',
                    'server group',
                    'g',
                    ['a (h1)'],
                    'host h1 has 2 of 2 members; h2 takes the server, and '
                    'host h2 has 0',
                    'id of g',
                )
            ],
            _told(_uneven(servers, _stock())),
        )

    @ddt.data('affinity', 'soft-affinity', 'anti-affinity', '')
    def test_other_groups_may_share_a_host(self, policy: str) -> None:
        servers = _servers(a='h1', b='h1')
        self.assertEqual([], _uneven(servers, _stock(), policy))

    @ddt.data(
        # Members of h1, h2 and h3; the host that takes one more.
        ('h1 h1 h2', 'h3'),
        ('h1 h1 h1 h2 h2 h3', 'h3'),
        ('h3 h3 h3 h2', 'h1'),
        # One more or less is even.
        ('h1 h1 h2 h3', None),
        ('h1 h2 h3', None),
        ('h1', None),
    )
    @ddt.unpack
    def test_the_emptiest_host_takes_a_member_of_a_fuller_one(
        self, hosts: str, there: str | None
    ) -> None:
        servers = [_server(str(n), h) for n, h in enumerate(hosts.split())]
        uneven = _uneven(servers, _stock())
        self.assertEqual(there is not None, bool(uneven))
        for breach in uneven:
            self.assertIn(f'; {there} takes the server', breach.reason)

    def test_a_host_that_is_not_up_takes_nothing(self) -> None:
        servers = _servers(a='h1', b='h1')
        (breach,) = _uneven(servers, _stock(down='h2'))
        self.assertIn('; h3 takes the server', breach.reason)
        self.assertEqual([], _uneven(servers, _stock(down='h2 h3')))

    def test_a_host_that_refuses_the_server_takes_nothing(self) -> None:
        stock = _stock(_aggregate('licensed', _WINDOWS, 'h2', 'h3'))
        windows = inventory.Flavor('win', {'os': 'windows'})
        self.assertEqual([], _uneven(_servers(a='h1', b='h1'), stock))
        # The other member may go there, although its host refuses it.
        servers = [_server('a', 'h1'), _server('b', 'h1', flavor=windows)]
        stock = _stock(_aggregate('licensed', _WINDOWS, 'h2'), hosts='h1 h2')
        plain = _uneven([servers[0], _server('c', 'h1')], stock)
        self.assertEqual([], plain)

    @ddt.data(('', 'h2'), ('z', 'h3'), ('nova', 'h2'), (None, None))
    @ddt.unpack
    def test_a_server_stays_in_its_zone(
        self, zone: str | None, there: str | None
    ) -> None:
        stock = _stock(_aggregate('z', {'availability_zone': 'z'}, 'h3'))
        servers = [_server(name, 'h1', zone=zone) for name in 'ab']
        uneven = _uneven(servers, stock)
        self.assertEqual(there is not None, bool(uneven))
        for breach in uneven:
            self.assertIn(f'; {there} takes the server', breach.reason)

    def test_a_rack_counts_before_its_hosts(self) -> None:
        stock = _stock(
            _aggregate('r1', {'rack': 'red'}, 'h1', 'h2'),
            _aggregate('r2', {'rack': 'blue'}, 'h3', 'h4'),
            hosts='h1 h2 h3 h4',
        )
        levels = 'rack', 'host'
        (breach,) = _uneven(_servers(a='h1', b='h1'), stock, levels=levels)
        self.assertEqual(
            'rack red has 2 of 2 members; h3 takes the server, and rack blue '
            'has 0',
            breach.reason,
        )
        # The racks are even.
        servers = _servers(a='h1', b='h1', c='h3', d='h4')
        (breach,) = _uneven(servers, stock, levels=levels)
        self.assertIn('host h1 has 2 of 4 members; h2 takes', breach.reason)
        self.assertEqual([], _uneven(servers, stock, levels=['rack']))

    def test_a_host_in_no_rack_is_a_rack_of_its_own(self) -> None:
        stock = _stock(_aggregate('r1', {'rack': 'red'}, 'h1', 'h2'))
        servers = _servers(a='h1', b='h2')
        (breach,) = _uneven(servers, stock, levels=['rack'])
        self.assertIn('; h3 takes the server, and rack h3', breach.reason)


class StackTest(unittest.TestCase):
    def uneven(
        self,
        *servers: inventory.Server,
        stacks: bool = True,
        grouped: str = '',
    ) -> list[breaches.Breach]:
        """Return what is uneven in stacks.

        :param grouped: the names of servers in a server group.
        """
        ids = [f'id of {name}' for name in grouped.split()]
        groups = [Group('g', 'soft-affinity', ids)]
        stack_audit = audit.Audit(servers, _stock(), ['host'])
        return [*stack_audit.uneven(groups, stacks)]

    def member(
        self, name: str, host: str, project: str = 'p', **hints: Any
    ) -> inventory.Server:
        """Return a server of a stack."""
        hints = {'heat_root_stack_id': 'root', **hints}
        return _server(name, host, project=project, hints=hints)

    def test_a_stack_that_could_be_spread_is_told(self) -> None:
        servers = self.member('a', 'h1'), self.member('b', 'h1')
        self.assertEqual(
            [
                (
                    'spread',
                    'stack',
                    'root',
                    ['a (h1)'],
                    'host h1 has 2 of 2 members; h2 takes the server, and '
                    'host h2 has 0',
                    'root',
                )
            ],
            _told(self.uneven(*servers)),
        )
        # The weigher packs stacks, or does not look at them.
        self.assertEqual([], self.uneven(*servers, stacks=False))

    def test_a_stack_has_the_name_of_its_root_stack(self) -> None:
        path = ['web', 'group,web-group']
        servers = [
            self.member(name, 'h1', heat_path_in_stack=path) for name in 'ab'
        ]
        (breach,) = self.uneven(*servers)
        self.assertEqual('web', breach.name)

    def test_a_server_group_goes_before_the_stack(self) -> None:
        servers = self.member('a', 'h1'), self.member('b', 'h1')
        self.assertEqual([], self.uneven(*servers, grouped='a'))
        self.assertEqual([], self.uneven(*servers, grouped='a b'))

    def test_a_stack_of_another_project_is_another_stack(self) -> None:
        servers = [
            self.member('a', 'h1'),
            self.member('b', 'h1', project='q'),
            _server('plain', 'h1'),
            _server('hidden', 'h1', hints={'heat_root_stack_id': 'another'}),
        ]
        self.assertEqual([], self.uneven(*servers))
