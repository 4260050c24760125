# SPDX-License-Identifier: Apache-2.0

"""Explanations: the evaluator's verdict, all its reasons, and their order."""

import unittest

import hypothesis.strategies
from hypothesis import given

from nova_filters import conf
from nova_filters.advice import explanation, inventory
from nova_filters.matching import inputs, report
from nova_filters.matching.reason import Side
from nova_filters.matching.request import Request
from testing.nova import strategies

_EXEMPT = tuple(conf.DEFAULTS['exempt_metadata_keys'])
_ON = {'force_metadata_check': 'True'}


class ExplanationTest(unittest.TestCase):
    def test_a_key_that_both_sides_refuse_counts_once(self) -> None:
        flavor = inventory.Flavor('f', {'k': '1'})
        aggregate = inventory.HostAggregate('a', {'k': '2', **_ON}, ('h',))
        panel = explanation.Panel(inventory.Stock([], [aggregate]))
        (found,) = explanation.explain(panel.judge(flavor))
        self.assertEqual(
            [Side.FLAVOR, Side.AGGREGATE],
            [reason.side for reason in found.reasons],
        )
        self.assertEqual(('k',), found.failing_keys)

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
        bare = inventory.Host('bare')
        stock = inventory.Stock([], aggregates, _EXEMPT, [bare])
        panel = explanation.Panel(stock)
        for extra_specs in wanted:
            flavor = inventory.Flavor('f', extra_specs or {})
            request = Request(inputs.read_flavor(extra_specs), _EXEMPT)
            passed, refused = request.sift(stock.hosts.values())
            found = panel.judge(flavor)
            self.assertEqual((passed, refused), (found.passed, found.refused))
            # The log has the same numbers and words.
            logged = report.summarize(request, refused)
            self.assertEqual(logged, found.counts())
