# SPDX-License-Identifier: Apache-2.0

"""Read files that an operator saved with the ``openstack`` command."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import yaml
from osc_lib import exceptions

from nova_filters.advice import inventory, rows
from os_placement_plugins.commands.files import read_text, reading
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import quote

_T = TypeVar('_T')

# The one in C, where there is one, is ten times faster.
_Safe: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def _whole(found: dict[Any, Any], pairs: int) -> dict[Any, Any]:
    """Return an object, if none of its pairs got lost."""
    if len(found) < pairs:
        # The output of several commands, one after the other, looks so.
        raise inventory.UnreadableError(
            'a key is there twice in one object; write a line "---" between '
            'objects, or save them with -f json'
        )
    return found


class _Loader(_Safe):  # type: ignore[misc]
    """PyYAML's safe loader, for objects that have each key once."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Return an object."""
        found = super().construct_mapping(node, deep)
        return _whole(found, len(node.value))


def _documents(text: str) -> Iterable[object]:
    """Return the documents of a JSON or YAML text.

    :raises UnreadableError: if it is neither.
    """
    text = text.strip()
    if not text.startswith(('[', '{')):
        return _yaml_documents(text)
    # Several commands may have written into one file, one after another.
    decoder = json.JSONDecoder(
        object_pairs_hook=lambda pairs: _whole(dict(pairs), len(pairs))
    )
    found, position = [], 0
    while position < len(text):
        document, position = decoder.raw_decode(text, position)
        found.append(document)
        while text[position : position + 1].isspace():
            position += 1
    return found


def _yaml_documents(text: str) -> list[object]:
    """Return the documents of a text that does not begin like JSON."""
    problem = 'it does not hold what "openstack … -f json" prints'
    try:
        found = list(yaml.load_all(text, Loader=_Loader))  # noqa: S506
    except yaml.YAMLError as exc:
        found, problem = [''], one_line(exc)
    if not any(isinstance(document, (str, int)) for document in found):
        return found
    first, *lines = text.splitlines()
    if any(line.startswith(('[', '{')) for line in lines):
        problem = f'{quote(first)} stands before the JSON; remove it'
    raise inventory.UnreadableError(f'{problem}; use -f json')


def _read(path: str) -> list[object]:
    """Return the documents of a file."""
    documents = [d for d in _documents(read_text(path)) if d is not None]
    if not documents:
        raise inventory.UnreadableError('it is empty')
    return documents


def read(
    paths: Sequence[str], parse: Callable[[Iterable[rows.Row]], _T]
) -> _T:
    """Return what files say.

    :param paths: the files, JSON or YAML.
    :param parse: a function of :mod:`nova_filters.advice.rows`.
    :returns: its result on the rows of all files.
    :raises CommandError: when a file is missing or is something else; one
        line that names it.
    """
    documents: list[object] = []
    for path in paths:
        with reading(path):
            own = _read(path)
            # So that the message names the right one of several files.
            parse(rows.unwrap(own))
        documents += own
    with reading(', '.join(paths)):
        if rows.continues(documents[-1]):
            raise inventory.UnreadableError(
                'Nova has further pages: ask for "next" in the links at the '
                'end, too, and append the answer'
            )
        return parse(rows.unwrap(documents))


class Saved:
    """Flavors, aggregates, hosts and servers, as files have them.

    Each method raises ``CommandError`` if its files cannot be used.

    :param paths: the files with ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        self._paths = paths

    def flavors(self) -> list[inventory.Flavor]:
        """Return the flavors."""
        return read(self._needed('flavors'), rows.read_flavors)

    def aggregates(self) -> list[inventory.HostAggregate]:
        """Return the host aggregates."""
        return read(self._needed('aggregates'), rows.read_aggregates)

    def hosts(self) -> list[inventory.Host] | None:
        """Return all hosts; None if no file has them."""
        paths = self._paths['hosts']
        return read(paths, rows.read_hosts) if paths else None

    def servers(self) -> list[inventory.Server] | None:
        """Return the servers; None if no file has them."""
        paths = self._paths['servers']
        return read(paths, rows.read_servers) if paths else None

    def servers_named(self, names: Sequence[str]) -> list[inventory.Server]:
        """Return the servers with these names or IDs; without one, all."""
        if not names:
            return self.servers() or []
        found = read(self._needed('servers'), rows.read_servers)
        return inventory.select(found, names, 'server')

    def _needed(self, noun: str) -> Sequence[str]:
        """Return files without which the command cannot answer."""
        if not self._paths[noun]:
            raise exceptions.CommandError(
                f'Offline input takes --{noun} <file> too'
            )
        return self._paths[noun]
