# SPDX-License-Identifier: Apache-2.0

"""What the filter must answer, as data.

``examples.yaml`` holds every example of the specification "Aggregate
Instance Type Filter"; ``tables.yaml`` holds cases for each cell of the tables
in the documentation (``doc/source/nova.rst``). The unit tests ask the pure
evaluator for them; the demo boots the examples in Nova, and its test runs it.

Nothing here imports a service.
"""

import dataclasses
import functools
import itertools
import pathlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import yaml

from nova_filters.matching import inputs
from nova_filters.matching.reason import Reason

FOLDER: Final = pathlib.Path(__file__).parent


#: What is wanted of a host that takes a flavor.
PASSES: Final = 'passes'


def outcome(reason: Reason | None) -> str:
    """Return a verdict of the evaluator in the words of the files.

    :param reason: the first reason to refuse a host; None if it passes.
    :returns: which check refuses it, what is wrong, and the key without the
        filter's own scope.
    """
    if reason is None:
        return PASSES
    return f'{reason.side} {reason.kind} {reason.key}'


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One example of the specification: who may boot where.

    :param section: the section of the specification.
    :param quote: the sentences that say what is wanted.
    :param flavors: extra specs by flavor name.
    :param aggregates: metadata by aggregate name.
    :param outcomes: by flavor and aggregate, the :func:`outcome` for a host in
        this aggregate.
    :param decision: what was decided where the specification is silent or
        contradicts itself; empty if it is neither.
    """

    section: str
    quote: str
    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, dict[str, str]]
    outcomes: dict[str, dict[str, str]]
    decision: str = ''

    def boots_in(self, flavor: str) -> list[str]:
        """Return where the specification lets a flavor boot.

        :param flavor: the flavor's name.
        :returns: the names of the aggregates whose hosts pass, sorted.
        """
        outcomes = self.outcomes[flavor]
        return sorted(name for name in outcomes if outcomes[name] == PASSES)


class Case(NamedTuple):
    """One host and one flavor.

    :param flavor: the extra specs.
    :param aggregates: the metadata of each of the host's aggregates.
    :param outcome: the :func:`outcome`.
    :param exempt: the option ``exempt_metadata_keys``.
    """

    flavor: dict[str, str]
    aggregates: list[dict[str, str]]
    outcome: str
    exempt: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table of the documentation, and cases for it.

    :param table: the sentence that introduces the table, up to the colon.
    :param row: the row's first cell, without markup.
    :param column: the column's title.
    :param decides: the cell's text, without markup.
    :param cases: what follows from it.
    """

    table: str
    row: str
    column: str
    decides: str
    cases: tuple[Case, ...]


class _Loader(yaml.SafeLoader):
    """Read YAML with the tags of the tables."""


class _Any(tuple[Any, ...]):
    """Items of which each makes a case of its own."""


_Loader.add_constructor(
    '!on',
    lambda loader, node: {
        **loader.construct_mapping(node, deep=True),
        inputs.FLAG: 'on',
    },
)
_Loader.add_constructor(
    '!any', lambda loader, node: _Any(loader.construct_sequence(node, True))
)


def _read(name: str) -> Any:
    """Return what a file holds."""
    text = (FOLDER / name).read_text()
    return yaml.load(text, Loader=_Loader)  # noqa: S506


def _each(value: Any) -> list[Any]:
    """Return a value once with each item of what is "!any" in it."""
    match value:
        case _Any():
            copies = []
            for item in value:
                copies += _each(item)
            return copies
        case list():
            products = itertools.product(*map(_each, value))
            return [list(items) for items in products]
        case dict():
            products = itertools.product(*map(_each, value.values()))
            return [dict(zip(value, items, strict=True)) for items in products]
    return [value]


def _example(entry: Mapping[str, Any]) -> Example:
    """Return one example; one outcome may hold for all aggregates."""
    fields = dict(entry)
    outcomes = fields.pop('wanted')
    for flavor, row in outcomes.items():
        if not isinstance(row, dict):
            outcomes[flavor] = dict.fromkeys(fields['aggregates'], row)
    return Example(outcomes=outcomes, **fields)


def _case(flavor: Any, metadata: Any, outcome: str, exempt: Any) -> Case:
    """Return one case; a host may be in one aggregate."""
    if not isinstance(metadata, list):
        metadata = [metadata]
    return Case(flavor, metadata, outcome, tuple(exempt))


@functools.cache
def examples() -> tuple[Example, ...]:
    """Return the examples of the specification, in its order."""
    return tuple(_example(entry) for entry in _read('examples.yaml'))


@functools.cache
def cells() -> tuple[Cell, ...]:
    """Return the cells of the tables in the documentation."""
    documented = []
    for table in _read('tables.yaml'):
        for row, columns in table['rows'].items():
            for column, cell in columns.items():
                exempt = cell.get('exempt', table.get('exempt', ()))
                cases = []
                for case in cell['cases']:
                    for flavor, metadata, outcome in _each(case):
                        cases.append(_case(flavor, metadata, outcome, exempt))
                documented.append(
                    Cell(
                        table['table'],
                        row,
                        column,
                        cell['decides'],
                        tuple(cases),
                    )
                )
    return tuple(documented)


def show(metadata: Mapping[str, str]) -> str:
    """Return extra specs or metadata as an operator would type them."""
    return ', '.join(f'{k}={v}' for k, v in metadata.items()) or '(none)'
