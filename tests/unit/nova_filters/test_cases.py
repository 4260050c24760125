# SPDX-License-Identifier: Apache-2.0

"""The cases: those of the documentation, and answered as wanted."""

import re
import unittest

import ddt

from nova_filters.matching import inputs
from nova_filters.matching.request import Request
from testing.nova import cases
from tests import processes

_PAGE = processes.ROOT / 'doc' / 'source' / 'nova.rst'
_SECTION = re.compile(r'The rules in full\n-+\n(.*?)\n\* ', re.DOTALL)
_RULER = re.compile(r'=+(  =+)+')

#: A table's title, a row's and a column's.
_Place = tuple[str, str, str]


def _plain(lines: list[str]) -> str:
    """Return text without markup, its lines joined."""
    return ' '.join(' '.join(lines).replace('``', '').split())


def _rows(lines: list[str], ruler: str) -> list[list[str]]:
    """Return the cells of each row between two rulers.

    As in reStructuredText, a line whose first column is blank continues the
    row above.
    """
    starts = [match.start() for match in re.finditer('=+', ruler)]
    ends = [*starts[1:], None]
    found: list[list[list[str]]] = []
    for line in lines:
        parts = [line[i:j] for i, j in zip(starts, ends, strict=True)]
        if parts[0].strip():
            found.append([[] for _ in parts])
        for cell, part in zip(found[-1], parts, strict=True):
            cell.append(part)
    return [[_plain(cell) for cell in row] for row in found]


def documented() -> dict[_Place, str]:
    """Return the cells of the tables in the documentation of the rules."""
    match = _SECTION.search(_PAGE.read_text())
    if match is None:
        raise AssertionError(f'{_PAGE} has no section on the rules')
    found = {}
    tables = re.split(r'\n\n(?==)', match[1])
    for introduction, text in zip(tables, tables[1:], strict=False):
        title = introduction.rpartition('\n\n')[2].partition(';')[0]
        title = title.partition(':')[0].strip()
        lines = text.partition('\n\n')[0].splitlines()
        rulers = [n for n, line in enumerate(lines) if _RULER.match(line)]
        (names,) = _rows(lines[1 : rulers[1]], lines[0])
        for row in _rows(lines[rulers[1] + 1 : rulers[2]], lines[0]):
            for column, decides in zip(names[1:], row[1:], strict=True):
                found[title, row[0], column] = decides
    return found


class CoverageTest(unittest.TestCase):
    """Every cell of the documentation has its cases."""

    def test_the_cells_are_those_of_the_documentation(self) -> None:
        written = documented()
        self.assertEqual(
            ["How keys are read",
             "How values are read in flavors and in forced aggregates",
             "The demand for one key", "The flavor's check of one key"],
            sorted({table for table, _, _ in written}),
        )  # fmt: skip
        self.assertEqual(
            written,
            {(c.table, c.row, c.column): c.decides for c in cases.cells()},
        )
        self.assertEqual(len(written), len(cases.cells()))


class HostLike:
    """A host, as far as the filter looks at it."""

    def __init__(self, *metadata: dict[str, str]) -> None:
        self.aggregates = [
            inputs.Aggregate(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]


@ddt.ddt
class VerdictTest(unittest.TestCase):
    """The evaluator answers what is wanted."""

    def assertVerdict(self, wanted, extra_specs, metadata, exempt=()) -> None:
        """Assert the verdict and the first reason."""
        host = HostLike(*metadata)
        flavor = inputs.read_flavor(extra_specs)
        found = next(Request(flavor, exempt).reasons(host.aggregates), None)
        what = f'{extra_specs}, {metadata}, exempt {exempt}'
        self.assertEqual(wanted, cases.Refusal.of(found), what)
        passed, _ = Request(flavor, exempt).sift([host])
        self.assertIs(wanted is None, bool(passed), what)

    @ddt.data(*cases.examples())
    def test_the_example_comes_out_as_written(
        self, example: cases.Example
    ) -> None:
        for flavor, row in example.wanted.items():
            for name, wanted in row.items():
                self.assertVerdict(
                    wanted, example.flavors[flavor], [example.aggregates[name]]
                )

    @ddt.data(*cases.cells())
    def test_the_cell_comes_out_as_documented(self, cell: cases.Cell) -> None:
        for case in cell.cases:
            self.assertVerdict(
                case.wanted, case.flavor, case.aggregates, case.exempt
            )

    @ddt.data(
        *(c for c in cases.cells() if c.table.startswith("The flavor's check"))
    )
    def test_the_flavors_check_holds_for_scoped_and_optional_keys(
        self, cell: cases.Cell
    ) -> None:
        absent = cell.column == 'no aggregate has a value'
        for case in cell.cases:
            text = case.flavor.get('k')
            if text is None:
                continue
            scoped = {f'{inputs.SCOPE}k': text}
            self.assertVerdict(
                case.wanted, scoped, case.aggregates, case.exempt
            )
            renamed = [
                {f'n:{k}' if k == 'k' else k: v for k, v in data.items()}
                for data in case.aggregates
            ]
            wanted = case.wanted
            if wanted is not None:
                wanted = cases.Refusal(wanted.side, wanted.kind, 'n:k')
            self.assertVerdict(
                None if absent else wanted, {'n:k': text}, renamed, case.exempt
            )
