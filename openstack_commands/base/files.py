# SPDX-License-Identifier: Apache-2.0

"""Read the files that a command line names."""

import contextlib
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import yaml
from osc_lib import exceptions
from oslo_config import cfg

from openstack_commands.records import rows
from os_placement_plugins import options
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import quote

_T = TypeVar('_T')


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Convert an error while a file is read to one line that names the file.

    :raises CommandError: in place of the error.
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
    """Return the text of a file.

    :raises CommandError: if the file cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8')


def read_configuration(
    path: str | None, opts: options.Options
) -> cfg.ConfigOpts:
    """Return the options of a configuration file, or the defaults.

    :raises CommandError: if the file cannot be read, or a value is wrong.
    """
    config = cfg.ConfigOpts()
    options.register(config, opts)
    if not path:
        config(args=[], default_config_files=[], default_config_dirs=[])
        return config
    with reading(path):
        # If the file cannot be read, open() raises an error with the reason.
        # oslo.config would not say the reason.
        pathlib.Path(path).open('rb').close()
        config(args=[], default_config_files=[path], default_config_dirs=[])
        options.check(config, opts)
    return config


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object as a dictionary.

    :raises UnreadableError: if the object has a key twice.
    """
    if len(dict(pairs)) < len(pairs):
        raise rows.UnreadableError('a key is there twice in one object')
    return dict(pairs)


def _read(path: str) -> list[object]:
    """Return the JSON documents of a file.

    A file has several documents if several commands have appended to the file.
    """
    text = read_text(path).strip()
    if not text.startswith(('[', '{')):
        first = quote(text.partition('\n')[0])
        text = f'it begins with {first}, which is no JSON; use -f json'
        raise rows.UnreadableError(text)
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    documents: list[object] = []
    position = 0
    while position < len(text):
        document, position = decoder.raw_decode(text, position)
        documents.append(document)
        while text[position : position + 1].isspace():
            position += 1
    return documents


def read(
    paths: Sequence[str], parse: Callable[[Iterable[rows.Row]], _T]
) -> _T:
    """Return the parsed rows of files.

    :param paths: the paths of JSON files, with output of the ``openstack``
        shell or answers of Nova's API.
    :param parse: a function that parses rows from :func:`rows.unwrap`.
    :returns: the result of ``parse`` for the rows of all files together.
    :raises CommandError: if a file cannot be read, or has no such content. The
        text is one line that names the file.
    """
    documents: list[object] = []
    for path in paths:
        with reading(path):
            documents_of_file = _read(path)
            # The rows are parsed here, too, so that an error names the file
            # at fault. The result is not used.
            parse(rows.unwrap(documents_of_file))
        documents += documents_of_file
    with reading(', '.join(paths)):
        if rows.continues(documents[-1]):
            raise rows.UnreadableError(
                'Nova has further pages: ask for "next" in the links at the '
                'end, too, and append the answer'
            )
        return parse(rows.unwrap(documents))
