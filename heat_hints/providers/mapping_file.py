# SPDX-License-Identifier: Apache-2.0

"""The provider ``mapping_file``: hints from a file that an operator edits."""

import functools
import os
import pathlib
import stat
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import yaml
from oslo_config import cfg
from oslo_log import log as logging

from heat_hints.deciding import mapping
from heat_hints.providers import ProviderError, Request
from os_placement_plugins.errors import one_line
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)

#: The largest mapping file that is read, in bytes. It takes about 2 seconds to
#: read a file of this size.
MAX_BYTES = 2 * 1024 * 1024
#: The most levels of lists and mappings in a file. A file with many more
#: levels would exhaust the stack of a thread.
MAX_DEPTH = 8

# The fast loader exists only if PyYAML was built with libyaml.
_LOADER = getattr(yaml, 'CBaseLoader', yaml.BaseLoader)
_END = object()


class _File:
    """A mapping file, and the rules of its last valid content.

    :param resource_types: the types whose resources get hints.
    """

    def __init__(
        self, path: pathlib.Path, resource_types: tuple[str, ...]
    ) -> None:
        self.path = path
        self._resource_types = resource_types
        # The result of _stat() when the file was last read. At first, it is a
        # value that _stat() never returns, so that rules() reads the file.
        self._stamp: tuple[int, ...] | None = ()
        self._rules: tuple[mapping.Rule, ...] | None = None
        self._lock = threading.Lock()
        self.rules()

    def rules(self) -> tuple[mapping.Rule, ...] | None:
        """Return the rules; read the file again if it has changed.

        :returns: None if the file has never had a valid content.
        """
        # While one thread reads a changed file, other threads use the old
        # rules.
        if self._lock.acquire(blocking=self._rules is None):
            try:
                stamp = self._stat()
                if stamp != self._stamp:
                    self._stamp = stamp
                    self._read()
            finally:
                self._lock.release()
        return self._rules

    def _read(self) -> None:
        """Read the file and use its rules, or log why this is impossible."""
        try:
            # To read a pipe or a device could block heat-engine for ever.
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise OSError('it is not a regular file')
            with self.path.open('rb') as file:
                before = os.fstat(file.fileno())
                content = file.read(MAX_BYTES + 1)
                after = os.fstat(file.fileno())
            if len(content) > MAX_BYTES:
                raise OSError(f'it is larger than {MAX_BYTES} bytes')
            if (before.st_size, before.st_mtime_ns) != (
                after.st_size,
                after.st_mtime_ns,
            ):
                raise OSError('it was being written; rename a new file to it')
            data = load(content.decode('utf-8'))
            self._rules = mapping.parse(data, self._resource_types)
        except Exception as exc:
            kept = 'There are no rules'
            if self._rules is not None:
                kept = 'The previous rules stay in force'
            why = f'{type(exc).__name__}: {one_line(exc)}'
            LOG.error(
                'heat_hints: the mapping file "%(path)s" cannot be used: '
                '%(why)s. %(kept)s until you correct the file.',
                {'path': self.path, 'why': why, 'kept': kept},
            )

    def _stat(self) -> tuple[int, ...] | None:
        """Return metadata that change when the content of the file changes.

        :returns: None if the file is missing.
        """
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return (
            status.st_mtime_ns,
            # The time of the inode, which also changes if only the mode of the
            # file is corrected.
            status.st_ctime_ns,
            status.st_size,
            status.st_ino,
        )


#: heat-engine reads the file before it forks its workers. So each worker has
#: rules, even if the file becomes invalid before the worker's first server.
_read_once = functools.cache(_File)


def load(text: str) -> Any:
    """Return the lists, mappings and texts in a YAML text.

    Each scalar stays the text that is in the file: ``010`` is not a number.

    :returns: ``None`` for an empty text.
    :raises yaml.YAMLError: if the text contains anything but lists, mappings
        and texts. Aliases are refused, because a small file with aliases can
        expand to gigabytes.
    """
    events = yaml.parse(text, _LOADER)
    documents = []
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents.append(_value(events, 0))
    if len(documents) > 1:
        raise yaml.YAMLError('there are several documents, with "---" between')
    return documents[0] if documents else None


def _value(events: Iterator[Any], depth: int) -> Any:
    """Return the next value, or ``_END`` if a list or mapping ends."""
    event = next(events)
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if isinstance(event, yaml.CollectionEndEvent):
        return _END
    where = f'line {event.start_mark.line + 1}'
    if isinstance(event, yaml.AliasEvent):
        raise yaml.YAMLError(
            f'{where}: aliases ("*name") are not understood here; write the '
            'value again'
        )
    if depth == MAX_DEPTH:
        raise yaml.YAMLError(f'{where}: more than {MAX_DEPTH} levels')
    values = []
    value = _value(events, depth + 1)
    while value is not _END:
        values.append(value)
        value = _value(events, depth + 1)
    if isinstance(event, yaml.SequenceStartEvent):
        return values
    # In a mapping, keys and values alternate.
    pairs: dict[str, Any] = {}
    for key, value in zip(values[::2], values[1::2], strict=True):
        if not isinstance(key, str) or key in pairs:
            raise yaml.YAMLError(
                f'{where}: the key "{key}" is given twice, or is no text; an '
                'entry begins with a dash ("-")'
            )
        pairs[key] = value
    return pairs


class MappingFileProvider:
    """Read hints from a YAML file, and again after each change.

    :param conf: the configuration, with ``[heat_hints] mapping_file``.
    :raises ProviderError: if the option is not set.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._file = self.check(conf)

    @classmethod
    def check(cls, conf: cfg.ConfigOpts) -> _File:
        """Read the file when heat-engine starts.

        If the file cannot be used, this method only logs an ERROR.

        :raises ProviderError: if the option is not set.
        """
        path = conf.heat_hints.mapping_file
        if not path:
            raise ProviderError(
                '[heat_hints] mapping_file is not set: give the path of the '
                'YAML file to read'
            )
        resource_types = tuple(conf.heat_hints.resource_types)
        return _read_once(pathlib.Path(path), resource_types)

    def hints(self, request: Request) -> Mapping[str, HintValue]:
        """Return the hints that the file has for one resource."""
        rules = self._file.rules()
        if rules is None:
            raise ProviderError(
                f'the mapping file "{self._file.path}" could not be read yet; '
                'the ERROR in the log of heat-engine says why'
            )
        return mapping.lookup(rules, request)
