# SPDX-License-Identifier: Apache-2.0

"""Explanations: the evaluator's verdict, all its reasons, and their order."""

import unittest

import ddt
import hypothesis.strategies
from hypothesis import given

from nova_filters import conf
from nova_filters.advice import explanation, inventory
from nova_filters.matching import inputs, report
from nova_filters.matching.reason import Side
from nova_filters.matching.request import Request
from testing.nova import cases, strategies

_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_ON = {'force_metadata_check': 'True'}


def _explain(
    flavor: inventory.Flavor, hosts: inventory.Hosts, *exempt: str
) -> list[explanation.Explanation]:
    """Return the verdicts with all reasons."""
    panel = explanation.Panel(hosts.values(), exempt)
    return explanation.explain(panel.judge(flavor))


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
        panel = explanation.Panel(alone.values(), ())
        for name, extra_specs in case.flavors.items():
            found = panel.judge(inventory.Flavor(name, extra_specs))
            self.assertEqual(
                case.boots_in(name),
                sorted(host.name for host in found.passed),
            )

    def test_hosts_that_pass_come_first_and_then_near_misses(self) -> None:
        flavor = inventory.Flavor('f', {'k': '1', 'l': '1', 'm': '1'})
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
        found = _explain(flavor, hosts)
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
        flavor = inventory.Flavor('f', {'k': '1'})
        hosts = inventory.hosts_of(
            [inventory.HostAggregate('a', {'k': '2', **_ON}, ('h',))]
        )
        (found,) = _explain(flavor, hosts)
        self.assertEqual(
            [Side.FLAVOR, Side.AGGREGATE],
            [reason.side for reason in found.reasons],
        )
        self.assertEqual(('k',), found.failing_keys)

    def test_exempt_keys_are_not_demanded(self) -> None:
        flavor = inventory.Flavor('f', {})
        hosts = inventory.hosts_of(
            [inventory.HostAggregate('a', {'zone': '2', **_ON}, ('h',))]
        )
        self.assertTrue(_explain(flavor, hosts)[0].reasons)
        self.assertFalse(_explain(flavor, hosts, 'z*')[0].reasons)

    def test_hosts_are_counted_by_reason(self) -> None:
        hosts = inventory.hosts_of(
            [
                inventory.HostAggregate('a', {'k': '1'}, ('h1',)),
                inventory.HostAggregate('b', {'k': '2'}, ('h2',)),
            ],
            [inventory.Host('h3'), inventory.Host('h4')],
        )
        panel = explanation.Panel(hosts.values(), ())
        self.assertEqual(
            [
                (2, "'k' not in any aggregate"),
                (1, "'k' does not match '1'"),
            ],
            panel.judge(inventory.Flavor('f', {'k': '1'})).counts(),
        )
        self.assertEqual([], panel.judge(inventory.Flavor('g', {})).counts())

    @given(
        hypothesis.strategies.lists(strategies.extra_specs(), max_size=3),
        strategies.metadata_lists(),
    )
    def test_a_panel_judges_as_the_filter_does(self, wanted, metadata) -> None:
        aggregates = [
            # One host is in all of them, and each has a host of its own.
            inventory.HostAggregate(f'a{number}', data, ('h', f'h{number}'))
            for number, data in enumerate(metadata)
        ]
        hosts = inventory.hosts_of(aggregates, [inventory.Host('bare')])
        panel = explanation.Panel(hosts.values(), _EXEMPT)
        for extra_specs in wanted:
            flavor = inventory.Flavor('f', extra_specs or {})
            request = Request(inputs.read_flavor(extra_specs), _EXEMPT)
            passed, refused = request.sift(hosts.values())
            found = panel.judge(flavor)
            self.assertEqual((passed, refused), (found.passed, found.refused))
            # The log has the same numbers and words.
            logged = report.summarize(request, refused)
            self.assertEqual(logged, found.counts())
