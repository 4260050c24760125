# SPDX-License-Identifier: Apache-2.0

"""The cases are answered as wanted."""

import re
import unittest

import ddt

from nova_filters.matching import inputs
from nova_filters.matching.matcher import Matcher
from osc_placement_plugins.source.records import ComputeHost as Host
from testing.nova import cases


@ddt.ddt
class VerdictTest(unittest.TestCase):
    def assert_verdict(self, outcome, extra_specs, metadata, exempt=()):
        """Assert the verdict and the first reason."""
        flavor = inputs.read_flavor(extra_specs)
        aggregates = [
            inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
        ]
        mismatches = Matcher(flavor, exempt).explain_mismatches(aggregates)
        reason = next(mismatches, None)
        what = f'{extra_specs}, {metadata}, exempt {exempt}'
        self.assertEqual(outcome, cases.outcome(reason), what)
        host = Host('h', aggregates)
        passed, _ = Matcher(flavor, exempt).match_hosts([host])
        self.assertEqual([host] * (outcome == cases.PASSES), passed, what)

    @ddt.data(*cases.examples())
    def test_the_example_comes_out_as_written(self, example) -> None:
        for flavor, extra_specs in example.flavors.items():
            for aggregate, metadata in example.aggregates.items():
                outcome = example.outcome(flavor, aggregate)
                self.assert_verdict(outcome, extra_specs, [metadata])

    @ddt.data(*cases.cells())
    def test_the_cell_comes_out_as_documented(self, cell) -> None:
        for flavor, metadata, outcome in cell.cases:
            self.assert_verdict(outcome, flavor, metadata, cell.exempt)
            if 'k' not in flavor or not cell.table.startswith("The flavor's"):
                continue
            # The same holds with the scope, and for an optional key.
            scoped = {f'{inputs.SCOPE}k': flavor['k']}
            self.assert_verdict(outcome, scoped, metadata, cell.exempt)
            renamed = []
            for data in metadata:
                data = dict(data)
                if 'k' in data:
                    data['n:k'] = data.pop('k')
                renamed.append(data)
            if cell.column == 'no aggregate has a value':
                outcome = cases.PASSES
            self.assert_verdict(
                re.sub(' k$', ' n:k', outcome),
                {'n:k': flavor['k']},
                renamed,
                cell.exempt,
            )
