# SPDX-License-Identifier: Apache-2.0

"""The cases: those of the documentation, and answered as wanted."""

import re
import unittest
from collections.abc import Iterator

import ddt
import docutils.core
from docutils import nodes

from nova_filters.matching import inputs
from nova_filters.matching.matcher import Matcher
from osc_placement_plugins.source.records import ComputeHost as Host
from testing.nova import cases
from tests import pages


def documented() -> Iterator[tuple[str, str, str, str]]:
    """Yield the cells of the tables in the documentation of the rules.

    :returns: the beginning of the sentence above a table, a row's title and a
        column's, and the cell's text.
    """
    page = docutils.core.publish_doctree(
        (pages.PAGES / 'nova.rst').read_text('utf-8'),
        # Directives of Sphinx are unknown to docutils.
        settings_overrides={'report_level': 5, 'halt_level': 5},
    )
    (rules,) = (
        section
        for section in page.findall(nodes.section)
        if 'the-rules-in-full' in section['ids']
    )
    for table in rules.findall(nodes.table):
        sentence = table.parent[table.parent.index(table) - 1].astext()
        title = re.split('[:;]', sentence)[0]
        lines = [
            [' '.join(entry.astext().split()) for entry in row]
            for row in table.findall(nodes.row)
        ]
        columns = lines[0]
        for row in lines[1:]:
            for column, text in zip(columns[1:], row[1:], strict=True):
                yield title, row[0], column, text


class CoverageTest(unittest.TestCase):
    def test_the_cells_are_those_of_the_documentation(self) -> None:
        cells = [(c.table, c.row, c.column, c.decides) for c in cases.cells()]
        self.assertEqual(sorted(documented()), sorted(cells))


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
