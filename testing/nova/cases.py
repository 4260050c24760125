# SPDX-License-Identifier: Apache-2.0

"""What the filter must answer, as data.

``examples.yaml`` holds every example of the specification "Aggregate
Instance Type Filter"; ``tables.yaml`` holds cases for each cell of the tables
in the documentation (``doc/source/nova.rst``). The unit tests ask the pure
evaluator for them; the demo boots the examples in Nova.
"""

import dataclasses
import functools
import itertools
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from nova_filters.matching import inputs
from nova_filters.matching.mismatch import Mismatch

_FOLDER: Final = pathlib.Path(__file__).parent

#: What is wanted of a host that takes a flavor.
PASSES: Final = 'passes'


def outcome(reason: Mismatch | None) -> str:
    """Return the first reason to refuse a host in the words of the files."""
    if reason is None:
        return PASSES
    return f'{reason.side} {reason.cause} {reason.key}'


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One example of the specification: who may boot where.

    ``wanted`` has, by flavor and aggregate, the :func:`outcome` for a host in
    this aggregate; one outcome may hold for all aggregates. ``decision`` is
    what was decided where the specification is silent.
    """

    section: str
    quote: str
    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, dict[str, str]]
    wanted: dict[str, Any]
    decision: str = ''

    def outcome(self, flavor: str, aggregate: str) -> str:
        """Return what is wanted of a flavor and a host in an aggregate."""
        outcomes = self.wanted[flavor]
        if isinstance(outcomes, str):
            return outcomes
        return str(outcomes[aggregate])

    def boots_in(self, flavor: str) -> list[str]:
        """Return the aggregates where a flavor may boot, sorted."""
        return [
            name
            for name in sorted(self.aggregates)
            if self.outcome(flavor, name) == PASSES
        ]


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table of the documentation, and cases for it.

    ``table`` is the sentence above the table, up to the colon. A case is a
    flavor's extra specs, the metadata of each of the host's aggregates, and
    the :func:`outcome`.
    """

    table: str
    row: str
    column: str
    decides: str
    exempt: tuple[str, ...]
    cases: list[tuple[dict[str, str], list[dict[str, str]], str]]


class _Loader(yaml.SafeLoader):
    """Read YAML with the tags of the tables."""


class _Any(list[Any]):
    """Items of which each makes a case of its own."""


def _on(loader: Any, node: Any) -> dict[str, str]:
    return {**loader.construct_mapping(node), inputs.FLAG: 'on'}


def _soft(loader: Any, node: Any) -> dict[str, str]:
    return {**loader.construct_mapping(node), inputs.SOFT_FLAG: 'on'}


def _any(loader: Any, node: Any) -> _Any:
    return _Any(loader.construct_sequence(node, deep=True))


_Loader.add_constructor('!on', _on)
_Loader.add_constructor('!soft', _soft)
_Loader.add_constructor('!any', _any)


def _read(name: str) -> Any:
    text = (_FOLDER / name).read_text()
    return yaml.load(text, Loader=_Loader)  # noqa: S506


def _each(value: Any) -> list[Any]:
    """Return a value once with each item of what is "!any" in it."""
    match value:
        case _Any():
            return [copy for item in value for copy in _each(item)]
        case list():
            products = itertools.product(*map(_each, value))
            return [list(items) for items in products]
        case dict():
            products = itertools.product(*map(_each, value.values()))
            return [dict(zip(value, items, strict=True)) for items in products]
    return [value]


@functools.cache
def examples() -> tuple[Example, ...]:
    """Return the examples of the specification, in its order."""
    return tuple(Example(**entry) for entry in _read('examples.yaml'))


def _cells(table: Mapping[str, Any]) -> Iterator[Cell]:
    for row, columns in table['rows'].items():
        if 'column' in table:
            columns = {table['column']: columns}
        for column, entry in columns.items():
            cases = []
            for case in entry['cases']:
                for flavor, metadata, result in _each(case):
                    # A host may be in one aggregate.
                    if not isinstance(metadata, list):
                        metadata = [metadata]
                    cases.append((flavor, metadata, result))
            exempt = tuple(entry.get('exempt', table.get('exempt', ())))
            yield Cell(
                table['table'], row, column, entry['decides'], exempt, cases
            )


@functools.cache
def cells() -> tuple[Cell, ...]:
    """Return the cells of the tables in the documentation."""
    tables = _read('tables.yaml')
    return tuple(cell for table in tables for cell in _cells(table))


def show(metadata: Mapping[str, str]) -> str:
    """Return extra specs or metadata as an operator would type them."""
    return ', '.join(f'{k}={v}' for k, v in metadata.items()) or '(none)'
