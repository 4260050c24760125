# SPDX-License-Identifier: Apache-2.0

"""The contract between the hook and the providers of further hints.

A provider is a class, published in the entry-point namespace
``heat_hints.providers`` and named in ``[heat_hints] providers``. It is made
once per engine with the configuration, and asked once for each server that
is created, just before the request goes to Nova::

    class RackProvider:
        def __init__(self, conf):
            self._racks = read_racks(conf)

        def hints(self, request):
            return {'rack': self._racks[request.project_id]}

It is called from several threads (green threads before Heat 27) without any
lock, and has no limit on its time, but the server waits for it: a provider
that asks a service sets a time-out of its own. An exception that it raises is
treated as ``[heat_hints] on_error`` says, and never takes heat-engine down;
``eventlet.Timeout`` is no ``Exception``, so it has to be caught there.
"""

import dataclasses
import os
import pathlib
import stat
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import yaml
from oslo_config import cfg
from oslo_log import log as logging
from stevedore import named

from heat_hints import conf as heat_hints_conf
from heat_hints import mapping
from os_placement_plugins.stack_hints import HintValue, PathStep

LOG = logging.getLogger(__name__)

NAMESPACE = 'heat_hints.providers'

#: The largest mapping file that is read, in bytes.
MAX_BYTES = 1024 * 1024


class ProviderError(Exception):
    """A provider cannot answer; the text says what to change."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What a provider is told about the resource that is to be created.

    :param resource_type: as ``OS::Nova::Server``.
    :param resource_name: the resource's name in its template.
    :param resource_uuid: the resource's own id in Heat's database.
    :param project_id: the project whose server it will be: the stack's, or
        that of an admin who acts on another project's stack.
    :param stack_id: the id of the stack that holds the resource.
    :param stack_name: that stack's name.
    :param root_stack_id: the id of the root stack; ``None`` when it could
        not be looked up and ``on_error`` is ``ignore``.
    :param path: the steps from the root stack down; only the own stack's
        when the root could not be looked up.
    :param user_hints: the hints that the template gives.
    """

    resource_type: str
    resource_name: str
    resource_uuid: str
    project_id: str
    stack_id: str
    stack_name: str
    root_stack_id: str | None
    path: tuple[PathStep, ...]
    user_hints: Mapping[str, HintValue]


class Provider(Protocol):
    """What a class published in ``heat_hints.providers`` offers."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Make the provider when heat-engine starts.

        :param conf: the engine's configuration; a provider registers its
            options there, in a group of its own.
        :raises Exception: when the provider cannot work; the engine starts
            without it and logs one ERROR with this exception's text.
        """

    def hints(self, request: Request) -> Mapping[Any, Any]:
        """Return the hints for one resource.

        :param request: the resource that is about to be created.
        :returns: values by name; what is no string or list of strings is
            made one.
        :raises Exception: when it cannot tell; see ``on_error``.
        """


def load(
    conf: cfg.ConfigOpts, names: Sequence[str]
) -> tuple[tuple[str, Provider | None], ...]:
    """Load the providers in the order of their names.

    :param conf: the engine's configuration.
    :param names: names from the namespace ``heat_hints.providers``.
    :returns: pairs of a name and its provider, ``None`` in the place of one
        that could not be loaded; why was logged once as an ERROR.
    """
    loaded: list[tuple[str, Provider | None]] = []
    for name in names:
        try:
            loaded.append((name, _make(conf, name)))
        except (Exception, SystemExit) as exc:
            # A module that gives up with sys.exit() ends no service.
            reason = (
                str(exc)
                if isinstance(exc, ProviderError)
                else f'{type(exc).__name__}: {exc}'
            )
            LOG.error(
                'heat_hints: the provider "%(name)s" cannot be used: '
                '%(reason)s. Mend it, or correct [heat_hints] providers, and '
                'restart heat-engine.',
                {'name': name, 'reason': reason},
            )
            loaded.append((name, None))
    return tuple(loaded)


def _make(conf: cfg.ConfigOpts, name: str) -> Provider:
    def failed(manager: Any, entry_point: Any, exc: BaseException) -> None:
        raise exc

    manager: Any = named.NamedExtensionManager(
        NAMESPACE,
        [name],
        invoke_on_load=True,
        invoke_args=(conf,),
        on_load_failure_callback=failed,
        on_missing_entrypoints_callback=None,
    )
    if not manager.extensions:
        known = ', '.join(sorted(set(manager.entry_points_names())))
        raise ProviderError(
            f'there is no such provider; those installed here are: {known}'
        )
    provider: Provider = manager.extensions[0].obj
    return provider


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
    """Read hints from a YAML file that an operator edits.

    The file is looked at for each server and read again when it changed. A
    file that cannot be used is told once as an ERROR, and the last good
    content stays in force.

    :param conf: the engine's configuration, with ``[heat_hints]
        mapping_file``.
    :raises ProviderError: when the option is not set.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        heat_hints_conf.register_opts(conf)
        path = conf.heat_hints.mapping_file
        if not path:
            raise ProviderError(
                '[heat_hints] mapping_file is not set: give the path of the '
                'YAML file to read'
            )
        self._path = pathlib.Path(path)
        self._stamp: tuple[int, ...] | None = None
        self._seen = False
        self._rules: tuple[mapping.Rule, ...] | None = None
        self._lock = threading.Lock()
        self._refresh()

    def hints(self, request: Request) -> Mapping[str, HintValue]:
        """Return the hints that the file has for one resource.

        :param request: the resource that is about to be created.
        :raises ProviderError: when no content of the file was ever good.
        """
        rules = self._refresh()
        if rules is None:
            raise ProviderError(
                f'the mapping file "{self._path}" could not be read yet; the '
                'ERROR in the log of heat-engine says why'
            )
        return mapping.lookup(
            rules,
            request.project_id,
            [step.stack for step in request.path],
            request.resource_name,
        )

    def _refresh(self) -> tuple[mapping.Rule, ...] | None:
        with self._lock:
            stamp = self._stat()
            if self._seen and stamp == self._stamp:
                return self._rules
            self._seen, self._stamp = True, stamp
            try:
                self._rules = mapping.parse(
                    yaml.load(self._read(), _Loader)  # noqa: S506
                )
            except Exception as exc:
                # PyYAML raises more than it tells: AttributeError for a
                # wrong timestamp, RecursionError for many brackets.
                LOG.error(
                    'heat_hints: the mapping file "%(path)s" cannot be '
                    'used: %(reason)s. %(effect)s until it is mended.',
                    {
                        'path': self._path,
                        'reason': ' '.join(
                            f'{type(exc).__name__}: {exc}'.split()
                        ),
                        'effect': 'There are no rules'
                        if self._rules is None
                        else 'The rules read before stay in force',
                    },
                )
            return self._rules

    def _read(self) -> str:
        # A pipe or a device could keep the engine waiting for ever.
        if not stat.S_ISREG(os.stat(self._path).st_mode):
            raise OSError('it is not a regular file')
        with self._path.open('rb') as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise OSError(f'it is larger than {MAX_BYTES} bytes')
        return content.decode('utf-8')

    def _stat(self) -> tuple[int, ...] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        # The time of the inode's change: mode and owner may be what is wrong.
        return (
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_size,
            found.st_ino,
        )
