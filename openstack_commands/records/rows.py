# SPDX-License-Identifier: Apache-2.0

"""Read rows. A row is one object, such as a server, with its columns.

Rows come from the output of the ``openstack`` shell or from Nova's API. The
names of some columns differ between the shell and the API.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

#: The columns of one object: column -> value.
Row = Mapping[str, object]

#: The keys under which an answer of Nova's API has its objects.
_NOUNS: Final = ('flavors', 'aggregates', 'services', 'servers')
#: The keys under which an answer has a link to the next page, if there is one.
_LINKS: Final = frozenset(f'{noun}_links' for noun in _NOUNS)


class UnreadableError(ValueError):
    """The input cannot be used; the text says what to give instead."""


def unwrap(documents: Iterable[object]) -> Iterator[Row]:
    """Yield the rows in some documents.

    :param documents: rows, lists of rows, or answers of Nova's API.
    :returns: rows whose column names have lower case and underscores.
    :raises UnreadableError: if a document is something else.
    """
    for document in documents:
        for entry in _entries(document):
            if not isinstance(entry, Mapping):
                raise UnreadableError(
                    'it does not hold what "openstack … -f json" prints; use '
                    '-f json'
                )
            yield columns(entry)


def _entries(document: object) -> list[object]:
    """Return the objects in a document."""
    if isinstance(document, Mapping):
        for noun in _NOUNS:
            entries = document.get(noun)
            if isinstance(entries, list):
                return entries
    if isinstance(document, list):
        return document
    return [document]


def continues(document: object) -> bool:
    """Tell whether an answer of Nova's API has a link to the next page."""
    return isinstance(document, Mapping) and not _LINKS.isdisjoint(document)


def columns(row: Row) -> Row:
    """Return a row whose column names have lower case and underscores."""
    return {
        column.lower().replace(' ', '_'): value
        for column, value in row.items()
    }


def text(row: Row, column: str) -> str:
    """Return the value in a column as text; empty if there is no value."""
    value = row.get(column)
    if value is None:
        return ''
    return str(value)
