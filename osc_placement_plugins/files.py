# SPDX-License-Identifier: Apache-2.0

"""Read the files that a command line names."""

import contextlib
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import yaml
from osc_lib.exceptions import CommandError
from oslo_config import cfg

from os_placement_plugins import options
from os_placement_plugins.text import one_line, quote
from osc_placement_plugins import records, rows

_T = TypeVar('_T')


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Convert an error while a file is read to one line that names the file.

    :raises CommandError: in place of the error.
    """
    try:
        yield
    except OSError as exc:
        raise CommandError(f'Cannot read {path!r}: {exc.strerror}') from exc
    except (ValueError, RecursionError, cfg.Error, yaml.YAMLError) as exc:
        raise CommandError(f'Cannot use {path!r}: {one_line(exc)}') from exc


def read_text(path: str) -> str:
    """Return the text of a file, without a byte order mark.

    :raises CommandError: if the file cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8-sig')


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


class Saved:
    """Flavors, aggregates, hosts and servers from files.

    A method raises ``CommandError`` if its files are missing or unusable.

    :param paths: for each of ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``, the paths of the files: JSON output of the ``openstack``
        shell, or answers of Nova's API.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        self._paths = paths

    def flavors(self) -> list[records.Flavor]:
        """Return the flavors."""
        return self._unique('flavors', rows.read_flavor)

    def aggregates(self) -> list[records.Aggregate]:
        """Return the host aggregates."""
        return self._unique('aggregates', rows.read_aggregate)

    def hosts(self) -> list[records.Host] | None:
        """Return the hosts with a compute service; None without a file."""
        if not self._paths['hosts']:
            return None
        return self._unique('hosts', rows.read_host)

    def servers(self) -> list[records.Server]:
        """Return the servers."""
        return self._read('servers', rows.read_server)

    def servers_named(self, names: Sequence[str]) -> list[records.Server]:
        """Return the servers with these names or IDs."""
        if not names:
            return []
        return records.select(self.servers(), names, 'server')

    def _unique(
        self, noun: str, parse: Callable[[rows.Row], Any]
    ) -> list[Any]:
        objects = self._read(noun, parse)
        names = set()
        for each in objects:
            if each.name in names:
                raise CommandError(
                    f'Cannot use {", ".join(self._paths[noun])!r}: '
                    f'{noun[:-1]} {each.name!r} is there twice'
                )
            names.add(each.name)
        return objects

    def _read(
        self, noun: str, parse: Callable[[rows.Row], _T | None]
    ) -> list[_T]:
        paths = self._paths[noun]
        if not paths:
            raise CommandError(f'Offline input takes --{noun} <file> too')
        objects = []
        has_next_page = False
        for path in paths:
            with reading(path):
                for document in _read_documents(read_text(path)):
                    has_next_page = rows.has_next_page(document)
                    for row in rows.list_rows(document):
                        parsed = parse(row)
                        if parsed is not None:
                            objects.append(parsed)
        if has_next_page:
            raise CommandError(
                f'Cannot use {path!r}: Nova has further pages: ask for "next" '
                'in the links at the end, too, and append the answer'
            )
        return objects


def _read_documents(text: str) -> Iterator[object]:
    """Yield the JSON documents of a file.

    A file has several documents if several commands have appended to the file.
    """
    text = text.strip()
    if not text.startswith(('[', '{')):
        first = quote(text.partition('\n')[0])
        raise records.UnreadableError(
            f'it begins with {first}, which is no JSON; use -f json'
        )
    decoder = json.JSONDecoder(object_pairs_hook=_object)
    position = 0
    while position < len(text):
        document, position = decoder.raw_decode(text, position)
        yield document
        while text[position : position + 1].isspace():
            position += 1


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object as a dictionary.

    :raises UnreadableError: if the object has a key twice.
    """
    if len(dict(pairs)) < len(pairs):
        raise records.UnreadableError('a key is there twice in one object')
    return dict(pairs)
