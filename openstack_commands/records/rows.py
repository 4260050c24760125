# SPDX-License-Identifier: Apache-2.0

"""Read rows. A row is one object, such as a server, with its columns.

Rows come from the output of the ``openstack`` shell or from an API. The names
of the columns differ between the shell and the API, and between releases of
the client.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

#: The columns of one object: column -> value.
Row = Mapping[str, object]

#: The keys under which an answer of Nova's API has its objects.
_NOUNS: Final = ('flavor', 'aggregate', 'service', 'server', 'server_group')
_ANSWERS: Final = frozenset([*_NOUNS, *(f'{noun}s' for noun in _NOUNS)])
#: The keys under which an answer has a link to the next page, if there is one.
_LINKS: Final = frozenset(f'{name}_links' for name in _ANSWERS)
#: The columns that can have a server's hints: in Nova's API and in the shell.
_HINTS: Final = ('scheduler_hints', 'os-sch-hnt:scheduler_hints')


class UnreadableError(ValueError):
    """The input cannot be used; the text says what to give instead."""


def unwrap(documents: Iterable[object]) -> Iterator[Row]:
    """Yield the rows in some documents.

    :param documents: rows, lists of rows, or answers of Nova's API.
    :returns: rows whose column names have lower case and underscores.
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
    """Return a row whose column names have lower case and underscores."""
    return {
        str(column).strip().lower().replace(' ', '_'): value
        for column, value in row.items()
    }


def text(row: Row, *names: str) -> str:
    """Return the first value in the named columns as text.

    :returns: an empty text if none of the columns has a value.
    """
    for name in names:
        value = row.get(name)
        if value is not None:
            return str(value)
    return ''


def hints(row: Row) -> Mapping[str, object] | None:
    """Return the scheduler hints of a server; None if they are not shown.

    :raises UnreadableError: if the hints are not a mapping.
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
