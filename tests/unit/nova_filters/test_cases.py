# SPDX-License-Identifier: Apache-2.0

"""The files of cases: complete, and refused when they are malformed."""

import pathlib
import re
import tempfile
import textwrap
import unittest

import ddt

from nova_filters import batch, matching
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


def _outcomes(cell: cases.Cell) -> set[bool]:
    """Return which verdicts the cases of a cell must have."""
    text = cell.decides
    if cell.table == 'How values are read':
        return {False} if text.startswith('malformed') else {True, False}
    if text in ('passes', 'ignored'):
        return {True}
    return {False} if text == 'refused' else {True, False}


@ddt.ddt
class CoverageTest(unittest.TestCase):
    """Every cell of the documentation has its cases."""

    def test_the_cells_are_those_of_the_documentation(self) -> None:
        written = documented()
        self.assertEqual(
            ["How keys are read", "How values are read",
             "The demand on one key", "The flavor's check of one key"],
            sorted({table for table, _, _ in written}),
        )  # fmt: skip
        self.assertEqual(
            written,
            {(c.table, c.row, c.column): c.decides for c in cases.cells()},
        )
        self.assertEqual(len(written), len(cases.cells()))

    @ddt.data(*cases.cells())
    def test_a_cell_has_every_verdict_that_its_text_names(
        self, cell: cases.Cell
    ) -> None:
        self.assertEqual(
            _outcomes(cell), {case.wanted is None for case in cell.cases}, cell
        )

    def test_every_kind_of_refusal_by_either_side_occurs(self) -> None:
        found = {
            (case.wanted.side, case.wanted.kind)
            for cell in cases.cells()
            for case in cell.cases
            if case.wanted is not None
        }
        flavor, aggregate = matching.Side.FLAVOR, matching.Side.AGGREGATE
        kinds = matching.Kind
        self.assertEqual(
            {
                (flavor, kinds.MISSING),
                (flavor, kinds.MISMATCH),
                (flavor, kinds.FORBIDDEN),
                (flavor, kinds.MALFORMED),
                (aggregate, kinds.MISSING),
                (aggregate, kinds.MISMATCH),
                (aggregate, kinds.FORBIDDEN),
                (aggregate, kinds.CONTRADICTION),
            },
            found,
        )

    def test_every_section_of_the_specification_has_its_example(self) -> None:
        sections = [example.section for example in cases.examples()]
        for title in ('Description', *(f'Use case {n}' for n in range(1, 8))):
            self.assertTrue(
                [s for s in sections if re.match(rf'{title}\b', s)], title
            )


_EXAMPLE = """
- section: Use case 1
  slug: one
  quote: All hosts pass.
  flavors:
    f: {key: "*"}
  aggregates:
    a: {key: "1"}
  wanted:
    f:
      a: passes
"""
_CELL = """
- table: t
  row: r
  column: c
  decides: passes
  cases:
    - flavor: {key: "1"}
      aggregates:
        - {key: "1"}
      wanted: passes
"""


@ddt.ddt
class LoaderTest(unittest.TestCase):
    """A file that is malformed is refused, and the message says where."""

    def path(self, text: str) -> pathlib.Path:
        """Return a file with this text."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / 'cases.yaml'
        path.write_text(textwrap.dedent(text))
        return path

    def refused(self, load, path: pathlib.Path) -> str:
        """Return why a file is refused; the message names the file."""
        with self.assertRaises(cases.CaseError) as caught:
            load(path)
        text = str(caught.exception)
        self.assertTrue(text.startswith(f'{path}: '), text)
        return text

    def test_what_the_tests_below_spoil_is_sound(self) -> None:
        (example,) = cases.examples(self.path(_EXAMPLE))
        self.assertEqual(['a'], example.boots_in('f'))
        (cell,) = cases.cells(self.path(_CELL))
        self.assertIsNone(cell.cases[0].wanted)

    @ddt.data(
        ('  quote: All hosts pass.\n', '', "'quote' is missing"),
        ('  quote:', '  Quote:', "'Quote' is unknown, known are section"),
        ('a: passes', 'b: passes', "'b' is unknown, known are a"),
        ('      a: passes', '      {}', "'a' is missing"),
        ('    f:\n      a: passes', '    {}', "'f' is missing"),
        ('a: passes', 'a: pass', 'neither "passes" nor a side'),
        ('a: passes', 'a: host missing k', 'neither "passes" nor a side'),
        ('a: passes', 'a: flavor missing', 'neither "passes" nor a side'),
        ('"1"', '1', '(one), a, key: 1 is no text; quote it'),
        ('{key: "*"}', '{key: "*", key: "1"}', "line 6: 'key' comes twice"),
        ('{key: "*"}', '[]', '[] is no mapping'),
        ('{key: "*"}', '{1: "*"}', '1 is no text; quote it'),
        ('section: Use case 1', 'section:', 'section: None is no text'),
        (_EXAMPLE, 'examples: []', 'is no list'),
        ('flavors:', 'flavors: [', 'while parsing'),
    )
    @ddt.unpack
    def test_a_malformed_example_is_refused(
        self, old: str, new: str, message: str
    ) -> None:
        self.assertIn(old, _EXAMPLE)
        path = self.path(_EXAMPLE.replace(old, new))
        self.assertIn(message, self.refused(cases.examples, path))

    @ddt.data(
        ('  row: r\n', '', "'row' is missing"),
        ('decides', 'says', "'says' is unknown, known are table, row"),
        ('flavor:', 'flavour:', "'flavour' is unknown, known are flavor"),
        ('        - {key: "1"}\n', '', 'aggregates: None is no list'),
        ('{key: "1"}\n      a', '{key: 1}\n      a', '1 is no text'),
        ('wanted: passes', 'wanted: maybe', 'neither "passes" nor a side'),
        ('  cases:', '  exempt: k\n  cases:', "exempt: 'k' is no list"),
    )
    @ddt.unpack
    def test_a_malformed_cell_is_refused(
        self, old: str, new: str, message: str
    ) -> None:
        self.assertIn(old, _CELL)
        path = self.path(_CELL.replace(old, new))
        self.assertIn(message, self.refused(cases.cells, path))

    def test_a_cell_without_cases_is_refused(self) -> None:
        head = _CELL.partition('  cases:')[0]
        message = self.refused(cases.cells, self.path(head + '  cases: []'))
        self.assertIn('entry 1 (r): there is no case', message)

    def test_two_examples_of_one_name_are_refused(self) -> None:
        message = self.refused(cases.examples, self.path(_EXAMPLE * 2))
        self.assertIn("the slug 'one' comes twice", message)

    def test_a_file_that_is_not_there_is_told(self) -> None:
        path = self.path('').with_name('nowhere.yaml')
        self.assertIn('No such file', self.refused(cases.cells, path))


class HostLike:
    """A host, as far as the filter looks at it."""

    def __init__(self, *metadata: dict[str, str]) -> None:
        self.aggregates = [
            matching.Aggregate(f'a{number}', data)
            for number, data in enumerate(metadata)
        ]


@ddt.ddt
class VerdictTest(unittest.TestCase):
    """The evaluator, and the judge of many hosts, answer what is wanted."""

    def assertVerdict(self, wanted, extra_specs, metadata, exempt=()) -> None:
        """Assert both verdicts, and the evaluator's reason."""
        host = HostLike(*metadata)
        flavor = matching.read_flavor(extra_specs)
        found = matching.evaluate(flavor, host.aggregates, exempt)
        what = f'{extra_specs}, {metadata}, exempt {exempt}'
        self.assertEqual(wanted, cases.Refusal.of(found.reason), what)
        sifted = batch.Batch(flavor, exempt).sift([host])
        self.assertIs(wanted is None, bool(sifted.passed), what)

    @ddt.data(*cases.examples())
    def test_the_example_comes_out_as_written(
        self, example: cases.Example
    ) -> None:
        for flavor, row in example.wanted.items():
            for name, wanted in row.items():
                self.assertVerdict(
                    wanted,
                    example.flavors[flavor],
                    [example.aggregates[name]],
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
            scoped = {f'{matching.SCOPE}:k': text}
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
                None if absent else wanted,
                {'n:k': text},
                renamed,
                case.exempt,
            )
