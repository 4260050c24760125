# SPDX-License-Identifier: Apache-2.0

"""The provider ``mapping_file``: hints from a file that an operator edits."""

import os
import pathlib
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import yaml
from oslo_config import cfg
from oslo_log import log as logging

from heat_hints.deciding import mapping
from heat_hints.providers import ProviderError, Request
from os_placement_plugins.errors import one_line
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)

#: The largest mapping file that is read, in bytes.
MAX_BYTES = 8 * 1024 * 1024
#: For how long servers wait for a file that is being read again, in seconds. A
#: file of 1.4 MB takes some 20 seconds.
PATIENCE = 1.0

Rules = tuple[mapping.Rule, ...]


class _Loader(yaml.BaseLoader):
    """YAML whose values are the text that stands there.

    There are no aliases: with them, a small file can mean gigabytes.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse an alias; see :class:`yaml.composer.Composer`."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(
                f'{mark}: aliases ("*name") are not '
                'understood here; write the value again'
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Refuse a key that is given twice: the first value would be lost."""
        found = super().construct_mapping(node, deep)
        seen: set[Any] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.YAMLError(
                    f'{key.start_mark}: the key "{key.value}" is given twice; '
                    'an entry begins with a dash ("-")'
                )
            seen.add(key.value)
        return found


class _Beside:
    """Call a function in a thread of the operating system.

    :param function: called once.
    """

    def __init__(self, function: Callable[[], Rules]) -> None:
        #: What the function returned or raised; None as long as it runs.
        self.outcome: Rules | Exception | None = None
        self._function = function
        self._began = time.monotonic()
        real = threading
        if 'eventlet' in sys.modules:
            # Before Heat 27 threads are green, and YAML lets no other work.
            real = sys.modules['eventlet'].patcher.original('threading')
        real.Thread(target=self._run, daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait for the end, while other green threads work.

        :param seconds: for how long after the beginning.
        """
        deadline = self._began + seconds
        while self.outcome is None and time.monotonic() < deadline:
            time.sleep(0.005)

    def _run(self) -> None:
        # Nothing is logged here: before Heat 27 the locks of the log belong
        # to green threads.
        try:
            self.outcome = self._function()
        except Exception as exc:
            self.outcome = exc


class _File:
    """A mapping file and the rules in force.

    :param path: where the file is.
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        # No file has this stamp, and a missing file has none.
        self._stamp: tuple[int, ...] | None = ()
        self._rules: Rules | None = None
        self._reading: _Beside | None = None
        self._lock = threading.Lock()
        self.rules(float('inf'))

    def rules(self, patience: float) -> Rules | None:
        """Return the rules in force; None if there never were any.

        :param patience: for how long to wait after the reading of a changed
            file has begun, in seconds.
        """
        with self._lock:
            stamp = self._stat()
            if self._reading is None and stamp != self._stamp:
                self._stamp = stamp
                self._reading = _Beside(self._parse)
            reading = self._reading
        if reading is not None:
            reading.wait(patience)
            with self._lock:
                if reading is self._reading and reading.outcome is not None:
                    self._reading = None
                    self._take(reading.outcome)
        return self._rules

    def _take(self, outcome: Rules | Exception) -> None:
        """Put new rules in force, or tell why there are none."""
        if not isinstance(outcome, Exception):
            self._rules = outcome
            return
        kind = type(outcome).__name__
        LOG.error(
            'heat_hints: the mapping file "%(path)s" cannot be used: '
            '%(reason)s. %(effect)s until you correct the file.',
            {
                'path': self._path,
                'reason': f'{kind}: {one_line(outcome)}',
                'effect': 'There are no rules'
                if self._rules is None
                else 'The previous rules stay in force',
            },
        )

    def _parse(self) -> Rules:
        """Return the rules of the file as it is now.

        :raises Exception: PyYAML raises more than YAMLError, such as
            RecursionError for many brackets.
        """
        return mapping.parse(yaml.load(self._read(), _Loader))  # noqa: S506

    def _read(self) -> str:
        """Return the content of the file."""
        # A pipe or a device could keep the engine waiting for ever.
        if not stat.S_ISREG(os.stat(self._path).st_mode):
            raise OSError('it is not a regular file')
        with self._path.open('rb') as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise OSError(f'it is larger than {MAX_BYTES} bytes')
        return content.decode('utf-8')

    def _stat(self) -> tuple[int, ...] | None:
        """Return what tells one content of the file from another."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        # The time of the inode, too: the mode may be what was corrected.
        times = found.st_mtime_ns, found.st_ctime_ns
        return *times, found.st_size, found.st_ino


class MappingFileProvider:
    """Read hints from a YAML file.

    The provider looks at the file for each server, and reads a file that has
    changed. Meanwhile the rules read before stay in force, and so they do if
    the new content cannot be used, which one ERROR tells.

    :param conf: the engine's configuration, with ``[heat_hints]
        mapping_file``.
    :raises ProviderError: if the option is not set.
    """

    #: Files that were read before the fork, so that no worker has to.
    _read_before: ClassVar[dict[pathlib.Path, _File]] = {}

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._path = _path(conf)
        self._file = self._read_before.get(self._path) or _File(self._path)

    @classmethod
    def check(cls, conf: cfg.ConfigOpts) -> None:
        """Read the file when heat-engine starts, and tell what is wrong.

        :param conf: the engine's configuration.
        :raises ProviderError: if the option is not set.
        """
        path = _path(conf)
        cls._read_before[path] = _File(path)

    def hints(self, request: Request) -> Mapping[str, HintValue]:
        """Return the hints that the file has for one resource.

        :param request: the resource that is about to be created.
        :raises ProviderError: if no content of the file was ever good.
        """
        rules = self._file.rules(PATIENCE)
        if rules is None:
            raise ProviderError(
                f'the mapping file "{self._path}" could not be read yet; the '
                'ERROR in the log of heat-engine says why'
            )
        return mapping.lookup(rules, request)


def _path(conf: cfg.ConfigOpts) -> pathlib.Path:
    """Return the path of the mapping file."""
    path = conf.heat_hints.mapping_file
    if not path:
        raise ProviderError(
            '[heat_hints] mapping_file is not set: give the path of the '
            'YAML file to read'
        )
    return pathlib.Path(path)
