# SPDX-License-Identifier: Apache-2.0

"""What the filter must answer, as data.

``examples.yaml`` holds every example of the specification "Aggregate
Instance Type Filter"; ``tables.yaml`` holds cases for each cell of the tables
in the documentation (``doc/source/nova.rst``). The unit tests ask the pure
evaluator for them, the functional tests and the demo the filter in Nova.

Nothing here imports a service.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Hashable, Mapping
from typing import Any, Final

import yaml

from nova_filters.matching.reason import Kind, Reason, Side

FOLDER: Final = pathlib.Path(__file__).parent


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """That a host is refused, and the first reason why.

    :param side: which check refuses it.
    :param kind: what is wrong.
    :param key: the key, without the filter's own scope.
    """

    side: Side
    kind: Kind
    key: str

    @classmethod
    def of(cls, reason: Reason | None) -> 'Refusal | None':
        """Return what a reason of the evaluator says.

        :param reason: the reason; None for a host that passes.
        :returns: the refusal; None for a host that passes.
        """
        if reason is None:
            return None
        return cls(reason.side, reason.kind, reason.key)


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """One example of the specification: who may boot where.

    :param section: the section of the specification.
    :param slug: a short name, unique; hosts and flavors are named after it.
    :param quote: the sentences that say what is wanted.
    :param flavors: extra specs by flavor name.
    :param aggregates: metadata by aggregate name.
    :param wanted: by flavor and aggregate, how a host is refused that is in
        this aggregate; None if it passes.
    :param decision: what was decided where the specification is silent or
        contradicts itself; empty if it is neither.
    """

    section: str
    slug: str
    quote: str
    flavors: dict[str, dict[str, str]]
    aggregates: dict[str, dict[str, str]]
    wanted: dict[str, dict[str, Refusal | None]]
    decision: str = ''

    def boots_in(self, flavor: str) -> list[str]:
        """Return where the specification lets a flavor boot.

        :param flavor: the flavor's name.
        :returns: the names of the aggregates whose hosts pass, sorted.
        """
        wanted = self.wanted[flavor]
        return sorted(name for name in wanted if wanted[name] is None)


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """One host and one flavor.

    :param flavor: the extra specs.
    :param aggregates: the metadata of each of the host's aggregates.
    :param wanted: how the host is refused; None if it passes.
    :param exempt: the option ``exempt_metadata_keys``.
    """

    flavor: dict[str, str]
    aggregates: tuple[dict[str, str], ...]
    wanted: Refusal | None
    exempt: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table of the documentation, and cases for it.

    :param table: the sentence that introduces the table, up to the colon.
    :param row: the row's first cell, without markup.
    :param column: the column's title.
    :param decides: the cell's text, without markup.
    :param cases: what follows from it.
    :param decision: where this is not what the specification's words say.
    """

    table: str
    row: str
    column: str
    decides: str
    cases: tuple[Case, ...]
    decision: str = ''


class _Loader(yaml.SafeLoader):
    """Read YAML, and refuse a key that comes twice: one would be lost."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, Any]:
        """Return a mapping."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if len(keys) > len(set(keys)):
            raise ValueError(f'{node.start_mark}: a key comes twice in {keys}')
        return super().construct_mapping(node, deep=deep)


def _read(name: str) -> Any:
    """Return what a file holds."""
    text = (FOLDER / name).read_text()
    return yaml.load(text, Loader=_Loader)  # noqa: S506


def _outcome(text: str) -> Refusal | None:
    """Return what is wanted of a host: "passes", or side, kind and key."""
    if text == 'passes':
        return None
    side, kind, key = text.split(maxsplit=2)
    return Refusal(Side(side), Kind(kind), key)


def _example(wanted: dict[str, dict[str, str]], **rest: Any) -> Example:
    """Return one example of the specification."""
    outcomes = {
        flavor: {name: _outcome(text) for name, text in row.items()}
        for flavor, row in wanted.items()
    }
    return Example(wanted=outcomes, **rest)


def _cell(cases: Any, exempt: Any = (), **rest: Any) -> Cell:
    """Return one cell of a table; its cases have its exemptions."""
    found = tuple(
        Case(flavor, tuple(aggregates), _outcome(wanted), tuple(exempt))
        for flavor, aggregates, wanted in cases
    )
    return Cell(cases=found, **rest)


@functools.cache
def examples() -> tuple[Example, ...]:
    """Return the examples of the specification, in its order."""
    return tuple(_example(**entry) for entry in _read('examples.yaml'))


@functools.cache
def cells() -> tuple[Cell, ...]:
    """Return the cells of the tables in the documentation."""
    return tuple(
        _cell(table=table, **cell)
        for table, cells in _read('tables.yaml').items()
        for cell in cells
    )


def show(metadata: Mapping[str, str]) -> str:
    """Return extra specs or metadata as an operator would type them."""
    return ', '.join(f'{k}={v}' for k, v in metadata.items()) or '(none)'
