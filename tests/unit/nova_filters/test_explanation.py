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
    def test_a_host_in_one_aggregate_is_judged_as_specified(
        self, case: cases.Example
    ) -> None:
        alone = {
            name: inventory.Host(
                name, (inventory.HostAggregate(name, metadata),)
            )
            for name, metadata in case.aggregates.items()
        }
        for name, extra_specs in case.flavors.items():
            flavor = inventory.Flavor(name, extra_specs)
            found = explanation.judge(flavor, alone, ())
            self.assertEqual(
                case.boots_in(name),
                sorted(cell.host.name for cell in found if cell.passed),
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
            [(e.host.name, e.failing_keys) for e in found],
        )
        (near,) = found[1].host.aggregates
        self.assertEqual('near', near.name)

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
            [inventory.Host('h3'), inventory.Host('h4')],
        )
        self.assertEqual(
            [
                ('f', '', 1),
                ('f', "'k' not in any aggregate", 2),
                ('f', "'k' does not match '1'", 1),
                ('g', '', 4),
            ],
            explanation.summarize(explanation.explain(flavors, hosts, ())),
        )
