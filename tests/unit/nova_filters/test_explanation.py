# SPDX-License-Identifier: Apache-2.0

"""Explanations: the evaluator's verdict, all its reasons, and their order."""

import unittest

import ddt

from nova_filters.advice import explanation, inventory
from nova_filters.matching.reason import Side
from testing.nova import cases

_ON = {'force_metadata_check': 'True'}


@ddt.ddt
class ExplanationTest(unittest.TestCase):
    @ddt.data(*cases.examples())
    def test_the_matrix_is_that_of_the_specification(
        self, case: cases.Example
    ) -> None:
        rows = explanation.matrix(
            [inventory.Flavor(*entry) for entry in case.flavors.items()],
            [inventory.HostAggregate(*e) for e in case.aggregates.items()],
            exempt=(),
        )
        self.assertEqual(
            {flavor: case.boots_in(flavor) for flavor in case.flavors},
            {
                flavor: sorted(
                    cell.host
                    for cell in cells
                    if cell.passed and cell.host != explanation.NO_AGGREGATE
                )
                for flavor, cells in rows
            },
        )

    def test_the_matrix_begins_with_a_host_in_no_aggregate(self) -> None:
        flavors = [inventory.Flavor('f', {'k': '1'})]
        aggregates = [inventory.HostAggregate('a', {'k': '1'}, ('h',))]
        ((flavor, cells),) = explanation.matrix(flavors, aggregates, ())
        self.assertEqual('f', flavor)
        self.assertEqual(
            [(explanation.NO_AGGREGATE, False), ('a', True)],
            [(cell.host, cell.passed) for cell in cells],
        )

    def test_hosts_that_pass_come_first_and_then_near_misses(self) -> None:
        flavors = [inventory.Flavor('f', {'k': '1', 'l': '1', 'm': '1'})]
        hosts = inventory.hosts_of(
            [
                inventory.HostAggregate('far', {}, ('h1',)),
                inventory.HostAggregate(
                    'near', {'k': '1', 'l': '1'}, ('h3', 'h2')
                ),
                inventory.HostAggregate(
                    'in', {'k': '1', 'l': '1', 'm': '1'}, ('h4',)
                ),
            ]
        )
        found = explanation.explain(flavors, hosts, ())
        self.assertEqual(
            [
                ('h4', ()),
                ('h2', ('m',)),
                ('h3', ('m',)),
                ('h1', ('k', 'l', 'm')),
            ],
            [(e.host, e.failing_keys) for e in found],
        )
        self.assertEqual(('near',), found[1].aggregates)

    def test_a_key_that_both_sides_refuse_counts_once(self) -> None:
        flavors = [inventory.Flavor('f', {'k': '1'})]
        hosts = inventory.hosts_of(
            [inventory.HostAggregate('a', {'k': '2', **_ON}, ('h',))]
        )
        (found,) = explanation.explain(flavors, hosts, ())
        self.assertEqual(
            [Side.FLAVOR, Side.AGGREGATE],
            [reason.side for reason in found.reasons],
        )
        self.assertEqual(('k',), found.failing_keys)

    def test_exempt_keys_are_not_demanded(self) -> None:
        flavors = [inventory.Flavor('f', {})]
        hosts = inventory.hosts_of(
            [inventory.HostAggregate('a', {'zone': '2', **_ON}, ('h',))]
        )
        self.assertFalse(explanation.explain(flavors, hosts, ())[0].passed)
        self.assertTrue(explanation.explain(flavors, hosts, ('z*',))[0].passed)

    def test_hosts_are_counted_by_reason(self) -> None:
        flavors = [
            inventory.Flavor('f', {'k': '1'}),
            inventory.Flavor('g', {}),
        ]
        hosts = inventory.hosts_of(
            [
                inventory.HostAggregate('a', {'k': '1'}, ('h1',)),
                inventory.HostAggregate('b', {'k': '2'}, ('h2',)),
            ],
            ['h3', 'h4'],
        )
        self.assertEqual(
            [
                explanation.Count('f', True, '', 1),
                explanation.Count('f', False, "'k' not in any aggregate", 2),
                explanation.Count('f', False, "'k' does not match '1'", 1),
                explanation.Count('g', True, '', 4),
            ],
            explanation.summarize(explanation.explain(flavors, hosts, ())),
        )
