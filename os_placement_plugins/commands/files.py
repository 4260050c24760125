# SPDX-License-Identifier: Apache-2.0

"""Read the files that a command line names."""

import contextlib
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import yaml
from osc_lib import exceptions
from oslo_config import cfg

from os_placement_plugins import options
from os_placement_plugins.commands import rows
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import quote

_T = TypeVar('_T')


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what is wrong with a file into one line that names it.

    :raises CommandError: in place of what reading or parsing raises.
    """
    try:
        yield
    except OSError as exc:
        raise exceptions.CommandError(
            f'Cannot read {path!r}: {exc.strerror}'
        ) from exc
    except (ValueError, RecursionError, cfg.Error, yaml.YAMLError) as exc:
        raise exceptions.CommandError(
            f'Cannot use {path!r}: {one_line(exc)}'
        ) from exc


def read_text(path: str) -> str:
    """Return what a file holds.

    :raises CommandError: if it cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8')


def read_configuration(path: str, opts: options.Options) -> cfg.ConfigOpts:
    """Return what a configuration file says.

    :raises CommandError: if the file cannot be read, or a value is wrong.
    """
    config = cfg.ConfigOpts()
    options.register(config, opts)
    with reading(path):
        # Opened first: oslo.config does not say why it cannot read a file.
        pathlib.Path(path).open('rb').close()
        config(args=[], default_config_files=[path], default_config_dirs=[])
        options.check(config, opts)
    return config


# The one in C, where there is one, is ten times faster.
_Safe: Any = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def _whole(found: dict[Any, Any], pairs: int) -> dict[Any, Any]:
    """Return an object, if none of its pairs got lost."""
    if len(found) < pairs:
        # The output of several commands, one after the other, looks so.
        raise rows.UnreadableError(
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
    raise rows.UnreadableError(f'{problem}; use -f json')


def _read(path: str) -> list[object]:
    """Return the documents of a file."""
    documents = [d for d in _documents(read_text(path)) if d is not None]
    if not documents:
        raise rows.UnreadableError('it is empty')
    return documents


def read(
    paths: Sequence[str], parse: Callable[[Iterable[rows.Row]], _T]
) -> _T:
    """Return what files that the ``openstack`` shell printed say.

    :param paths: the files, JSON or YAML.
    :param parse: takes the rows, columns in one form; see
        :func:`rows.unwrap`.
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
            raise rows.UnreadableError(
                'Nova has further pages: ask for "next" in the links at the '
                'end, too, and append the answer'
            )
        return parse(rows.unwrap(documents))
