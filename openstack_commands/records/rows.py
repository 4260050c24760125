# SPDX-License-Identifier: Apache-2.0

"""Rows: one object in the output of the ``openstack`` shell or of an API.

Pure. The names of the columns differ between these forms, and between
releases of the client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

#: A row of a file.
Row = Mapping[str, object]

#: What Nova's API calls the objects of an answer.
_NOUNS: Final = ('flavor', 'aggregate', 'service', 'server', 'server_group')
_ANSWERS: Final = frozenset([*_NOUNS, *(f'{noun}s' for noun in _NOUNS)])
#: Beside its objects, an answer that is a page has a link to the next one.
_LINKS: Final = frozenset(f'{name}_links' for name in _ANSWERS)
#: Where a server's hints are: in Nova's API and in the shell.
_HINTS: Final = ('scheduler_hints', 'os-sch-hnt:scheduler_hints')


class UnreadableError(ValueError):
    """The input cannot be used; the text says what to give instead."""


def unwrap(documents: Iterable[object]) -> Iterator[Row]:
    """Yield the rows of documents, their columns in one form.

    :param documents: rows, lists of rows, or answers of Nova's API.
    :returns: rows with columns in lower case, with underscores.
    :raises UnreadableError: if a document is something else.
    """
    for document in documents:
        inner = document
        if isinstance(document, Mapping):
            names = [key for key in document if key not in _LINKS]
            if len(names) == 1 and names[0] in _ANSWERS:
                inner = document[names[0]]
        entries = [inner]
        if isinstance(inner, list):
            entries = inner
        for entry in entries:
            if not isinstance(entry, Mapping):
                raise UnreadableError(
                    'it does not hold what "openstack … -f json" prints; use '
                    '-f json'
                )
            yield columns(entry)


def continues(document: object) -> bool:
    """Tell whether an answer of Nova's API has a link to the next page."""
    return isinstance(document, Mapping) and not _LINKS.isdisjoint(document)


def columns(row: Row) -> Row:
    """Return a row with its columns in lower case, with underscores."""
    return {
        str(column).strip().lower().replace(' ', '_'): value
        for column, value in row.items()
    }


def text(row: Row, *names: str) -> str:
    """Return the first of some columns that has a value; empty if none."""
    for name in names:
        value = row.get(name)
        if value is not None:
            return str(value)
    return ''


def hints(row: Row) -> Mapping[str, object] | None:
    """Return the scheduler hints of a server; None if they are not shown.

    :raises UnreadableError: if they are something else.
    """
    for column in _HINTS:
        if column not in row:
            continue
        # Nova shows null for a server without hints.
        shown = row[column] or {}
        if not isinstance(shown, Mapping):
            raise UnreadableError(
                f'the "scheduler_hints" of {text(row, "name")!r} are not a '
                'mapping'
            )
        return shown
    return None
