# SPDX-License-Identifier: Apache-2.0

"""The way of a request through nova-scheduler."""

import unittest
from collections.abc import Collection
from typing import Any

import ddt

from openstack_commands.aggregates.advice import inventory, walk
from openstack_commands.aggregates.advice.walk import OURS, PLACEMENT

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
        listed_hosts=[
            inventory.Host(n, state=states.get(n, 'up')) for n in _ALL
        ],
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


def _kept(way: walk.Walk) -> dict[str, str]:
    """Return what keeps the hosts that take the flavor, as text."""
    return {
        host: ' and '.join(f'{verb} {what}' for verb, what in reasons)
        for host, reasons in way.obstacles.items()
    }


def _passed(way: walk.Walk) -> list[str]:
    """Return the names of the hosts that pass the filters on aggregates."""
    assert way.verdicts is not None  # noqa: S101
    return [host.name for host in way.verdicts.passed]


@ddt.ddt
class WalkTest(unittest.TestCase):
    def test_all_hosts_come_first(self) -> None:
        steps, way = _walk(_stock(), _server())
        self.assertEqual([('All compute hosts', 'h1 h2 h3', '')], steps)
        self.assertEqual([], way.unjudged)
        self.assertIsNone(way.verdicts)
        self.assertEqual(dict.fromkeys(_ALL, ''), _kept(way))

    def test_zone_and_placement_come_before_the_filters(self) -> None:
        stock = _stock(({'availability_zone': 'z'}, 'h1 h2'))
        server = _server(zone='z')
        steps, way = _walk(
            stock, server, 'AllHostsFilter', candidates=['h2', 'h3']
        )
        self.assertEqual(
            [
                ('Availability zone', 'h1 h2', "1 in zone 'nova'"),
                (PLACEMENT, 'h2', 'VCPU=1'),
                ('AllHostsFilter', 'h2', ''),
            ],
            steps[1:],
        )
        self.assertEqual(
            {'h1': '', 'h2': '', 'h3': "is in zone 'nova'"}, _kept(way)
        )

    @ddt.data('', None, 'nova')
    def test_a_server_for_any_zone_asks_for_none(
        self, zone: str | None
    ) -> None:
        steps, _ = _walk(_stock(), _server(zone=zone), candidates=_ALL)
        self.assertEqual(
            ['All compute hosts', PLACEMENT], [name for name, _, _ in steps]
        )

    def test_an_aggregate_may_make_the_default_zone(self) -> None:
        stock = _stock(({'availability_zone': 'nova'}, 'h1'))
        steps, _ = _walk(stock, _server(zone='nova'))
        self.assertEqual('Availability zone', steps[1][0])

    def test_placement_may_have_no_candidate(self) -> None:
        steps, way = _walk(_stock(), _server(), candidates=[])
        self.assertEqual((PLACEMENT, '', 'VCPU=1'), steps[-1])
        # What Placement says of each host is asked later.
        self.assertEqual(dict.fromkeys(_ALL, ''), _kept(way))

    def test_hosts_that_are_not_up_are_counted_by_state(self) -> None:
        stock = _stock(h1='down', h2='disabled', h3='down')
        steps, _ = _walk(stock, _server(), 'ComputeFilter')
        self.assertEqual(('ComputeFilter', '', '2 down, 1 disabled'), steps[1])
        steps, _ = _walk(_stock(h2='down'), _server(), 'ComputeFilter')
        self.assertEqual(('ComputeFilter', 'h1 h3', '1 down'), steps[1])

    @ddt.data(
        (
            _ISOLATION,
            {'filter_tenant_id': 'p, q'},
            'reserved for other projects',
        ),
        (
            _ISOLATION,
            {'filter_tenant_id_2': 'q'},
            'reserved for other projects',
        ),
        (_TYPES, {'instance_type': 'big,small'}, 'reserved for other flavors'),
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
        kept = {'h1': f'is {reason}', 'h2': '', 'h3': ''}
        self.assertEqual(kept, _kept(way))

    def test_several_aggregates_reserve_a_host_for_each_project(self) -> None:
        stock = _stock(
            ({'filter_tenant_id': 'p'}, 'h1'),
            ({'filter_tenant_id': 'q'}, 'h1 h2'),
        )
        steps, _ = _walk(stock, _server(project='p'), _ISOLATION)
        self.assertEqual(
            (_ISOLATION, 'h1 h3', '1 reserved for other projects'), steps[1]
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
                OURS,
                'h1',
                "1 'os' does not match 'windows', 1 'os' not in any aggregate",
            ),
            steps[1],
        )
        self.assertEqual({'h1': ''}, _kept(way))

    @ddt.data(
        ('ComputeFilter', OURS, _ISOLATION),
        (_ISOLATION, OURS, 'ComputeFilter'),
    )
    def test_all_hosts_are_judged_whatever_the_order(
        self, filters: tuple[str, ...]
    ) -> None:
        stock = _stock(
            ({'os': 'windows'}, 'h1 h3'),
            ({'filter_tenant_id': 'q'}, 'h3'),
            h2='down',
            h3='disabled',
        )
        server = _server({'os': 'windows'}, project='p')
        steps, way = _walk(stock, server, *filters, candidates=['h2'])
        self.assertEqual('', steps[-1][1])
        self.assertEqual({'h1', 'h3'}, {*_kept(way)})
        self.assertEqual('', _kept(way)['h1'])
        reasons = {reason.what for reason in way.obstacles['h3']}
        self.assertEqual({'disabled', 'reserved for other projects'}, reasons)

    def test_nobody_may_take_the_flavor(self) -> None:
        _, way = _walk(_stock(), _server({'os': 'windows'}), OURS)
        self.assertEqual(({}, []), (_kept(way), _passed(way)))

    def test_two_filters_may_compare_flavors_with_aggregates(self) -> None:
        stock = _stock(({'os': '*'}, 'h1'), ({'os': 'bsd'}, 'h2'))
        server = _server({'os': '*'})
        for filters in ((OURS, _IN_TREE), (_IN_TREE, OURS)):
            _, way = _walk(stock, server, *filters)
            self.assertEqual(['h1'], _passed(way), filters)
            self.assertEqual({'h1': ''}, _kept(way))
        # If the first takes none, it is the one to tell of.
        server = _server({'os': 'windows'})
        _, way = _walk(stock, server, _IN_TREE, OURS)
        assert way.verdicts is not None  # noqa: S101
        self.assertEqual(3, len(way.verdicts.evaluation.hosts))

    def test_novas_own_filter_reads_no_sentinel(self) -> None:
        stock = _stock(({'os': '*'}, 'h1'), ({'os': 'bsd'}, 'h2'))
        steps, way = _walk(stock, _server({'os': '*'}), _IN_TREE)
        self.assertEqual('h1', steps[1][1])
        self.assertEqual(['h1'], _passed(way))
