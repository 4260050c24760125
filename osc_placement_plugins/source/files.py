# SPDX-License-Identifier: Apache-2.0

"""Read the files that a command line names."""

import contextlib
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from osc_lib.exceptions import CommandError

from os_placement_plugins.errors import one_line
from os_placement_plugins.text import quote
from osc_placement_plugins.source import records


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Convert an error while a file is read to one line that names the file.

    :raises CommandError: in place of the error.
    """
    try:
        yield
    except OSError as exc:
        raise CommandError(f'Cannot read {path!r}: {exc.strerror}') from exc
    except (ValueError, RecursionError, yaml.YAMLError) as exc:
        raise CommandError(f'Cannot use {path!r}: {one_line(exc)}') from exc


def read_text(path: str) -> str:
    """Return the text of a file, without a byte order mark.

    :raises CommandError: if the file cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8-sig')


def read_exempt_keys(path: str) -> list[str]:
    """Return the option ``exempt_metadata_keys`` of a ``nova.conf``.

    :raises CommandError: if the file cannot be read, or the value is wrong.
    """
    from oslo_config import cfg

    from nova_filters import conf
    from os_placement_plugins import options

    # oslo.config would not say why the file cannot be read.
    read_text(path)
    config = cfg.ConfigOpts()
    options.register(config, [(conf.GROUP, conf.OPTS)])
    try:
        config(args=[], default_config_files=[path], default_config_dirs=[])
        keys: list[str] = config.nova_filters.exempt_metadata_keys
    except (cfg.Error, ValueError) as exc:
        raise CommandError(f'Cannot use {path!r}: {one_line(exc)}') from exc
    return keys


class Files:
    """Flavors, aggregates, hosts and servers from files.

    :param paths: for each of ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``, the paths of the files: JSON output of the ``openstack``
        shell, or answers of Nova's API.
    """

    def __init__(self, paths: Mapping[str, Sequence[str]]) -> None:
        self._paths = paths

    def read(self, noun: str) -> Any:
        """Return all records of one kind.

        :param noun: ``flavors``, ``aggregates``, ``hosts`` or ``servers``.
        :returns: a list; None for hosts without a file.
        :raises CommandError: if the files are missing or unusable.
        """
        paths = self._paths[noun]
        if not paths and noun == 'hosts':
            return None
        if not paths:
            raise CommandError(f'Offline input takes --{noun} <file> too')
        objects: list[Any] = []
        for path, document in _read_documents(paths):
            objects += records.parse_document(noun, document, repr(path))
        names = set()
        for each in objects:
            name = each.id if noun == 'servers' else each.name
            if name and name in names:
                raise CommandError(
                    f'Cannot use {", ".join(paths)!r}: {noun[:-1]} {name!r} '
                    'is there twice'
                )
            names.add(name)
        return objects

    def find_servers(self, names: Sequence[str]) -> list[records.CloudServer]:
        """Return the servers with these names or IDs."""
        return records.select_named(self.read('servers'), names, 'server')


def _read_documents(paths: Sequence[str]) -> Iterator[tuple[str, object]]:
    """Yield the JSON documents of some files, each with its path.

    A file has several documents if several commands have appended to the file.
    """
    document: object = None
    decoder = json.JSONDecoder(object_pairs_hook=_convert_object)
    for path in paths:
        text = read_text(path).strip()
        if not text.startswith(('[', '{')):
            first = quote(text.partition('\n')[0])
            raise CommandError(
                f'Cannot use {path!r}: it begins with {first}, which is no '
                'JSON; use -f json'
            )
        position = 0
        while position < len(text):
            with reading(path):
                document, position = decoder.raw_decode(text, position)
            yield path, document
            while text[position : position + 1].isspace():
                position += 1
    if records.has_next_page(document):
        raise CommandError(
            f'Cannot use {path!r}: Nova has further pages: ask for "next" in '
            'the links at the end, too, and append the answer'
        )


def _convert_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object as a dictionary.

    :raises UnreadableError: if the object has a key twice.
    """
    if len(dict(pairs)) < len(pairs):
        raise records.UnreadableError('a key is there twice in one object')
    return dict(pairs)
