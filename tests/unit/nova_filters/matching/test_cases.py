# SPDX-License-Identifier: Apache-2.0

"""The cases: those of the documentation, and answered as wanted."""

import itertools
import re
import unittest
from collections.abc import Iterator

import ddt

from nova_filters.matching import inputs
from nova_filters.matching.judge import Judge
from osc_placement_plugins.records import Host
from testing.nova import cases
from tests import processes

_PAGE = processes.ROOT / 'doc' / 'source' / 'nova.rst'
_SECTION = re.compile(r'The rules in full\n=+\n(.*?)\n\* ', re.DOTALL)
#: A table's title, and its lines from the first ruler to the last one.
_TABLE = re.compile(
    r'^([^\n:;]+)[^\n]*:\n\n(=.*?\n=.*?\n=[= ]+)\n', re.M | re.S
)


def documented() -> Iterator[tuple[str, str, str, str]]:
    """Yield the cells of the tables in the documentation of the rules.

    :returns: a table's title, a row's and a column's, and the cell's text.
    """
    for title, table in _TABLE.findall(_SECTION.search(_PAGE.read_text())[1]):
        ruler, *lines = table.splitlines()
        starts = [*(m.start() for m in re.finditer('=+', ruler)), None]
        rows: list[list[str]] = []
        for line in lines:
            cells = [line[i:j] for i, j in itertools.pairwise(starts)]
            # As in reStructuredText, a line whose first column is blank
            # continues the row above.
            if not cells[0].strip():
                both = zip(rows.pop(), cells, strict=True)
                cells = [' '.join(two) for two in both]
            rows.append([' '.join(c.replace('``', '').split()) for c in cells])
        (_, *columns), *rows = (row for row in rows if row[0][0] != '=')
        for name, *texts in rows:
            for column, text in zip(columns, texts, strict=True):
                yield title, name, column, text


class CoverageTest(unittest.TestCase):
    """Every cell of the documentation has its cases."""

    def test_the_cells_are_those_of_the_documentation(self) -> None:
        cells = [(c.table, c.row, c.column, c.decides) for c in cases.cells()]
        self.assertEqual(sorted(documented()), sorted(cells))


@ddt.ddt
class VerdictTest(unittest.TestCase):
    """The evaluator answers what is wanted."""

    def assert_verdict(self, outcome, extra_specs, metadata, exempt=()):
        """Assert the verdict and the first reason."""
        flavor = inputs.read_flavor(extra_specs)
        aggregates = [
            inputs.Aggregate(f'a{n}', data) for n, data in enumerate(metadata)
        ]
        reason = next(Judge(flavor, exempt).reasons(aggregates), None)
        what = f'{extra_specs}, {metadata}, exempt {exempt}'
        self.assertEqual(outcome, cases.outcome(reason), what)
        host = Host('h', aggregates)
        passed, _ = Judge(flavor, exempt).sift([host])
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
