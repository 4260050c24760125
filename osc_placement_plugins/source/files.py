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
from osc_placement_plugins.source import REQUESTS, records


@contextlib.contextmanager
def reading(path: str, advice: str = '') -> Iterator[None]:
    """Convert an error while a file is read to one line that names the file.

    :param advice: what to read instead, for the end of the line.
    :raises CommandError: in place of the error.
    """
    try:
        yield
    except OSError as exc:
        raise CommandError(f'Cannot read {path!r}: {exc.strerror}') from exc
    except (ValueError, RecursionError, yaml.YAMLError) as exc:
        problem = f'{one_line(exc)}{advice}'
        raise CommandError(f'Cannot use {path!r}: {problem}') from exc


def read_text(path: str) -> str:
    """Return the text of a file, without a byte order mark.

    :raises CommandError: if the file cannot be read.
    """
    with reading(path):
        return pathlib.Path(path).read_text('utf-8-sig')


class Files:
    """Flavors, aggregates, hosts and servers from files.

    :param paths: for each of ``flavors``, ``aggregates``, ``hosts`` and
        ``servers``, the paths of the files, each with one answer of Nova's
        API.
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
        all_records: list[Any] = []
        markers = []
        for path in paths:
            text = read_text(path)
            with reading(path, f'; save the answer to GET {REQUESTS[noun]}'):
                answer = json.loads(text)
                all_records += records.parse_answer(noun, answer)
            markers.append(records.read_marker(noun, answer))
        if None not in markers:
            raise CommandError(
                f'{", ".join(paths)}: Nova has further pages of {noun}: save '
                'the next one, too, and pass it with a further option'
            )
        names = {getattr(each, 'id', '') or each.name for each in all_records}
        if len(names) < len(all_records):
            raise CommandError(
                f'{", ".join(paths)}: one of the {noun} is there twice'
            )
        return all_records

    def find_servers(self, names: Sequence[str]) -> list[records.CloudServer]:
        """Return the servers with these names or IDs."""
        return records.select_named(self.read('servers'), names, 'server')
