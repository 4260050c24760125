# SPDX-License-Identifier: Apache-2.0

"""The way of a request through nova-scheduler."""

import unittest
from collections.abc import Collection
from typing import Any

import ddt

from nova_filters.advice import inventory, walk
from nova_filters.advice.walk import OURS, PLACEMENT

_ALL = ('h1', 'h2', 'h3')
_IN_TREE = 'AggregateInstanceExtraSpecsFilter'
_ISOLATION = 'AggregateMultiTenancyIsolation'
_TYPES = 'AggregateTypeAffinityFilter'
_AFFINITY = ('ServerGroupAffinityFilter', 'ServerGroupAntiAffinityFilter')


def _stock(
    *aggregates: tuple[dict[str, str], str], **states: str
) -> inventory.Stock:
    """Return a cloud of three hosts.

    :param aggregates: metadata, and the names of hosts.
    :param states: of hosts that are not up.
    """
    return inventory.Stock(
        [],
        [
            inventory.HostAggregate(f'a{n}', metadata, tuple(hosts.split()))
            for n, (metadata, hosts) in enumerate(aggregates)
        ],
        others=[inventory.Host(n, state=states.get(n, 'up')) for n in _ALL],
    )


def _server(
    extra_specs: dict[str, str] | None = None, **fields: Any
) -> inventory.Server:
    """Return a server that is asked for."""
    flavor = inventory.Flavor('small', extra_specs or {})
    return inventory.Server('s', 'id', '', flavor, **fields)


def _walk(
    stock: inventory.Stock,
    server: inventory.Server,
    *filters: str,
    candidates: Collection[str] | None = None,
) -> tuple[list[tuple[str, str, str]], walk.Walk]:
    """Return the steps with the names of the hosts, and the whole way."""
    way = walk.walk(stock, server, candidates, 'VCPU=1', filters)
    steps = [
        (name, ' '.join(host.name for host in left), reason)
        for name, left, reason in way.steps
    ]
    return steps, way


def _near(way: walk.Walk) -> list[str]:
    """Return the names of the hosts that only this filter refuses."""
    return [host.name for host in way.near]


@ddt.ddt
class WalkTest(unittest.TestCase):
    def test_all_hosts_come_first(self) -> None:
        steps, way = _walk(_stock(), _server())
        self.assertEqual([('All compute hosts', 'h1 h2 h3', '')], steps)
        self.assertEqual(([], [*_ALL]), (way.unjudged, _near(way)))

    def test_zone_and_placement_come_before_the_filters(self) -> None:
        stock = _stock(({'availability_zone': 'z'}, 'h1 h2'))
        server = _server(zone='z')
        steps, way = _walk(
            stock, server, 'AllHostsFilter', candidates=['h2', 'h3']
        )
        self.assertEqual(
            [
                ('Availability zone', 'h1 h2', '1 in nova'),
                (PLACEMENT, 'h2', 'VCPU=1'),
                ('AllHostsFilter', 'h2', ''),
            ],
            steps[1:],
        )
        self.assertEqual(['h2'], _near(way))

    @ddt.data('', None)
    def test_a_server_for_any_zone_asks_for_none(
        self, zone: str | None
    ) -> None:
        steps, _ = _walk(_stock(), _server(zone=zone), candidates=_ALL)
        self.assertEqual(
            ['All compute hosts', PLACEMENT], [name for name, _, _ in steps]
        )

    def test_placement_may_have_no_candidate(self) -> None:
        steps, way = _walk(_stock(), _server(), candidates=[])
        self.assertEqual((PLACEMENT, '', 'VCPU=1'), steps[-1])
        self.assertEqual([], _near(way))

    def test_hosts_that_are_not_up_are_counted_by_state(self) -> None:
        stock = _stock(h1='down', h2='disabled', h3='down')
        steps, _ = _walk(stock, _server(), 'ComputeFilter')
        self.assertEqual(('ComputeFilter', '', '2 down, 1 disabled'), steps[1])
        steps, _ = _walk(_stock(h2='down'), _server(), 'ComputeFilter')
        self.assertEqual(('ComputeFilter', 'h1 h3', '1 down'), steps[1])

    @ddt.data(
        (_ISOLATION, {'filter_tenant_id': 'p, q'}, 'for other projects'),
        (_ISOLATION, {'filter_tenant_id_2': 'q'}, 'for other projects'),
        (_TYPES, {'instance_type': 'big,small'}, 'for other flavors'),
    )
    @ddt.unpack
    def test_hosts_may_be_reserved_for_others(
        self, name: str, metadata: dict[str, str], reason: str
    ) -> None:
        stock = _stock((metadata, 'h1'), ({'rack': 'q'}, 'h2'))
        small = _server(project='q')
        steps, _ = _walk(stock, small, name)
        self.assertEqual((name, 'h1 h2 h3', ''), steps[1])
        flavor = inventory.Flavor('huge', {})
        other = inventory.Server('s', 'id', '', flavor, project='r')
        steps, way = _walk(stock, other, name)
        self.assertEqual((name, 'h2 h3', f'1 {reason}'), steps[1])
        self.assertEqual(['h2', 'h3'], _near(way))

    def test_several_aggregates_reserve_a_host_for_each_project(self) -> None:
        stock = _stock(
            ({'filter_tenant_id': 'p'}, 'h1'),
            ({'filter_tenant_id': 'q'}, 'h1 h2'),
        )
        steps, _ = _walk(stock, _server(project='p'), _ISOLATION)
        self.assertEqual(
            (_ISOLATION, 'h1 h3', '1 for other projects'), steps[1]
        )

    def test_a_filter_that_cannot_be_judged_is_named(self) -> None:
        steps, way = _walk(_stock(), _server(), 'NUMATopologyFilter', 'Mine')
        self.assertEqual(1, len(steps))
        self.assertEqual(['NUMATopologyFilter', 'Mine'], way.unjudged)

    def test_filters_of_groups_matter_to_servers_in_groups(self) -> None:
        _, way = _walk(_stock(), _server(), *_AFFINITY)
        self.assertEqual([], way.unjudged)
        _, way = _walk(_stock(), _server(grouped=True), *_AFFINITY)
        self.assertEqual([*_AFFINITY], way.unjudged)

    def test_our_filter_tells_its_reasons(self) -> None:
        stock = _stock(({'os': 'windows'}, 'h1'), ({'os': 'bsd'}, 'h2'))
        server = _server({'os': 'windows'})
        steps, way = _walk(stock, server, OURS)
        self.assertEqual(
            (
                *(OURS, 'h1'),
                "1 'os' does not match 'windows', 1 'os' not in any aggregate",
            ),
            steps[1],
        )
        # No other step refuses any host.
        self.assertEqual([*_ALL], _near(way))

    def test_the_hosts_that_only_our_filter_refuses_are_near(self) -> None:
        stock = _stock(({'os': 'windows'}, 'h1 h3'), h2='down', h3='down')
        server = _server({'os': 'windows'})
        for filters in (('ComputeFilter', OURS), (OURS, 'ComputeFilter')):
            steps, way = _walk(stock, server, *filters)
            self.assertEqual('h1', steps[-1][1])
            self.assertEqual(['h1'], _near(way), filters)
        _, way = _walk(_stock(), server, OURS, candidates=['h2'])
        self.assertEqual(['h2'], _near(way))

    def test_novas_own_filter_reads_no_sentinel(self) -> None:
        stock = _stock(({'os': '*'}, 'h1'), ({'os': 'bsd'}, 'h2'))
        steps, way = _walk(stock, _server({'os': '*'}), _IN_TREE)
        self.assertEqual('h1', steps[1][1])
        self.assertEqual(['h1'], _near(way))
