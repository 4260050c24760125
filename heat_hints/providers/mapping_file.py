# SPDX-License-Identifier: Apache-2.0

"""The provider ``mapping_file``: hints from a file that an operator edits."""

import os
import pathlib
import stat
import threading
from collections.abc import Mapping
from typing import Any

import yaml
from oslo_config import cfg
from oslo_log import log as logging

from heat_hints.deciding import mapping
from heat_hints.providers import ProviderError, Request
from os_placement_plugins.errors import one_line
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)

#: The largest mapping file that is read, in bytes.
MAX_BYTES = 1024 * 1024


class _Loader(yaml.SafeLoader):
    """YAML without aliases: with them, a small file can mean gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Refuse an alias; see :class:`yaml.composer.Composer`."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(
                f'{mark}: aliases ("*name") are not '
                'understood here; write the value again'
            )
        return super().compose_node(parent, index)


class MappingFileProvider:
    """Read hints from a YAML file.

    The provider looks at the file for each server, and reads a file that has
    changed. If a file cannot be used, one ERROR says so, and the last good
    content stays in force.

    :param conf: the engine's configuration, with ``[heat_hints]
        mapping_file``.
    :raises ProviderError: if the option is not set.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        path = conf.heat_hints.mapping_file
        if not path:
            raise ProviderError(
                '[heat_hints] mapping_file is not set: give the path of the '
                'YAML file to read'
            )
        self._path = pathlib.Path(path)
        # No file has this stamp, and a missing file has none.
        self._stamp: tuple[int, ...] | None = ()
        self._rules: tuple[mapping.Rule, ...] | None = None
        self._lock = threading.Lock()
        self._refresh()

    @classmethod
    def check(cls, conf: cfg.ConfigOpts) -> None:
        """Tell when heat-engine starts what is wrong with option and file.

        :param conf: the engine's configuration.
        :raises ProviderError: if the option is not set.
        """
        cls(conf)

    def hints(self, request: Request) -> Mapping[str, HintValue]:
        """Return the hints that the file has for one resource.

        :param request: the resource that is about to be created.
        :raises ProviderError: if no content of the file was ever good.
        """
        rules = self._refresh()
        if rules is None:
            raise ProviderError(
                f'the mapping file "{self._path}" could not be read yet; the '
                'ERROR in the log of heat-engine says why'
            )
        return mapping.lookup(rules, request)

    def _refresh(self) -> tuple[mapping.Rule, ...] | None:
        """Return the rules in force; None if there never were any."""
        with self._lock:
            stamp = self._stat()
            if stamp == self._stamp:
                return self._rules
            self._stamp = stamp
            try:
                data = yaml.load(self._read(), _Loader)  # noqa: S506
                self._rules = mapping.parse(data)
            except Exception as exc:
                # PyYAML raises more than YAMLError: AttributeError for a
                # wrong timestamp, RecursionError for many brackets.
                LOG.error(
                    'heat_hints: the mapping file "%(path)s" cannot be '
                    'used: %(reason)s. %(effect)s until it is mended.',
                    {
                        'path': self._path,
                        'reason': f'{type(exc).__name__}: {one_line(exc)}',
                        'effect': 'There are no rules'
                        if self._rules is None
                        else 'The rules read before stay in force',
                    },
                )
            return self._rules

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
        # The time of the inode, too: the mode may be what was mended.
        times = found.st_mtime_ns, found.st_ctime_ns
        return *times, found.st_size, found.st_ino
