# SPDX-License-Identifier: Apache-2.0

"""What the filter must answer, as data: read and checked.

``examples.yaml`` holds every example of the specification "Aggregate
Instance Type Filter"; ``tables.yaml`` holds cases for each cell of the tables
in the documentation (``doc/source/nova.rst``). The unit tests ask the pure
evaluator for them, the functional tests and the demo the filter in Nova.

Nothing here imports a service.
"""

import dataclasses
import functools
import pathlib
from collections.abc import Collection, Hashable, Mapping
from typing import Any, Final

import yaml

from nova_filters import matching

FOLDER: Final = pathlib.Path(__file__).parent


class CaseError(ValueError):
    """A file of cases says something that the loader does not understand."""


@dataclasses.dataclass(frozen=True, slots=True)
class Refusal:
    """That a host is refused, and the first reason why.

    :param side: which check refuses it.
    :param kind: what is wrong.
    :param key: the key, without the filter's own scope.
    """

    side: matching.Side
    kind: matching.Kind
    key: str

    @classmethod
    def of(cls, reason: matching.Reason | None) -> 'Refusal | None':
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
        """Return a mapping.

        :param node: what stands in the file.
        :param deep: whether to construct the values at once.
        :returns: the mapping.
        :raises CaseError: when a key comes twice.
        """
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                line = node.start_mark.line + 1
                raise CaseError(f'line {line}: {key!r} comes twice')
        return super().construct_mapping(node, deep=deep)


def _mapping(data: Any, where: str) -> dict[str, Any]:
    """Return a mapping whose keys are texts."""
    if not isinstance(data, dict):
        raise CaseError(f'{where}: {data!r} is no mapping')
    for key in data:
        _text(key, where)
    return data


def _fields(
    data: Any, where: str, needed: Collection[str], more: Collection[str] = ()
) -> dict[str, Any]:
    """Return a mapping that has all the keys it needs and no unknown ones."""
    known = [*needed, *more]
    for key in _mapping(data, where):
        if key not in known:
            raise CaseError(
                f'{where}: {key!r} is unknown, known are {", ".join(known)}'
            )
    for key in needed:
        if key not in data:
            raise CaseError(f'{where}: {key!r} is missing')
    return data


def _text(data: Any, where: str) -> str:
    """Return a text that is not empty."""
    if not isinstance(data, str) or not data:
        raise CaseError(f'{where}: {data!r} is no text; quote it')
    return data


def _metadata(data: Any, where: str) -> dict[str, str]:
    """Return extra specs or metadata: texts by key."""
    for key, value in _mapping(data, where).items():
        if not isinstance(value, str):
            raise CaseError(f'{where}, {key}: {value!r} is no text; quote it')
    return data


def _list(data: Any, where: str) -> list[Any]:
    """Return a list."""
    if not isinstance(data, list):
        raise CaseError(f'{where}: {data!r} is no list')
    return data


def _outcome(data: Any, where: str) -> Refusal | None:
    """Return what is wanted of a host."""
    if data == 'passes':
        return None
    words = _text(data, where).split(maxsplit=2)
    try:
        side, kind, key = words
        return Refusal(matching.Side(side), matching.Kind(kind), key)
    except ValueError as exc:
        raise CaseError(
            f'{where}: {data!r} is neither "passes" nor a side '
            f'({", ".join(matching.Side)}), a kind '
            f'({", ".join(matching.Kind)}) and a key'
        ) from exc


def _example(data: Any, where: str) -> Example:
    """Return one example of the specification."""
    needed = ('section', 'slug', 'quote', 'flavors', 'aggregates', 'wanted')
    _fields(data, where, needed, ('decision',))
    where = f'{where} ({data["slug"]})'
    sides = {
        side: {
            name: _metadata(metadata, f'{where}, {name}')
            for name, metadata in _mapping(
                data[side], f'{where}, {side}'
            ).items()
        }
        for side in ('flavors', 'aggregates')
    }
    wanted = _fields(data['wanted'], f'{where}, wanted', sides['flavors'])
    for flavor, row in wanted.items():
        _fields(row, f'{where}, wanted, {flavor}', sides['aggregates'])
    return Example(
        **{key: _text(data[key], f'{where}, {key}') for key in needed[:3]},
        flavors=sides['flavors'],
        aggregates=sides['aggregates'],
        wanted={
            flavor: {
                name: _outcome(outcome, f'{where}, {flavor}, {name}')
                for name, outcome in row.items()
            }
            for flavor, row in wanted.items()
        },
        decision=data.get('decision', ''),
    )


def _case(data: Any, where: str, exempt: Any) -> Case:
    """Return one case of a cell."""
    _fields(data, where, ('flavor', 'aggregates', 'wanted'), ('exempt',))
    patterns = _list(data.get('exempt', exempt), f'{where}, exempt')
    return Case(
        flavor=_metadata(data['flavor'], f'{where}, flavor'),
        aggregates=tuple(
            _metadata(metadata, f'{where}, aggregates')
            for metadata in _list(data['aggregates'], f'{where}, aggregates')
        ),
        wanted=_outcome(data['wanted'], f'{where}, wanted'),
        exempt=tuple(_text(text, f'{where}, exempt') for text in patterns),
    )


def _cell(data: Any, where: str) -> Cell:
    """Return one cell of a table."""
    titles = ('table', 'row', 'column', 'decides')
    _fields(data, where, (*titles, 'cases'), ('exempt', 'decision'))
    where = f'{where} ({data["row"]})'
    entries = _list(data['cases'], f'{where}, cases')
    if not entries:
        raise CaseError(f'{where}: there is no case')
    return Cell(
        **{key: _text(data[key], f'{where}, {key}') for key in titles},
        cases=tuple(
            _case(entry, f'{where}, case {number}', data.get('exempt', []))
            for number, entry in enumerate(entries, 1)
        ),
        decision=data.get('decision', ''),
    )


def _read(path: pathlib.Path, read: Any) -> tuple[Any, ...]:
    """Return what the entries of a file hold.

    :param path: the file.
    :param read: called with each entry, and with where it stands.
    :returns: what it returned.
    :raises CaseError: when the file cannot be understood.
    """
    try:
        entries = yaml.load(path.read_text(), Loader=_Loader)  # noqa: S506
        return tuple(
            read(entry, f'entry {number}')
            for number, entry in enumerate(_list(entries, 'the file'), 1)
        )
    except (CaseError, yaml.YAMLError, OSError) as exc:
        raise CaseError(f'{path}: {exc}') from exc


@functools.cache
def examples(
    path: pathlib.Path = FOLDER / 'examples.yaml',
) -> tuple[Example, ...]:
    """Return the examples of the specification.

    :param path: the file.
    :returns: the examples, in its order.
    :raises CaseError: when the file cannot be understood.
    """
    found = _read(path, _example)
    slugs = [example.slug for example in found]
    for slug in slugs:
        if slugs.count(slug) > 1:
            raise CaseError(f'{path}: the slug {slug!r} comes twice')
    return found


@functools.cache
def cells(path: pathlib.Path = FOLDER / 'tables.yaml') -> tuple[Cell, ...]:
    """Return the cells of the tables in the documentation.

    :param path: the file.
    :returns: the cells, in its order.
    :raises CaseError: when the file cannot be understood.
    """
    return _read(path, _cell)


def show(metadata: Mapping[str, str]) -> str:
    """Return extra specs or metadata as an operator would type them.

    :param metadata: the extra specs or the metadata.
    :returns: the text.
    """
    return ', '.join(f'{k}={v}' for k, v in metadata.items()) or '(none)'
