# SPDX-License-Identifier: Apache-2.0

"""The contract with the providers of further hints.

A provider is a class, published in the entry-point namespace
``heat_hints.providers`` and named in ``[heat_hints] providers``. Each worker
of heat-engine makes one when it creates its first server, and asks it once
for each server, just before the request goes to Nova::

    class RackProvider:
        def __init__(self, conf):
            self._racks = read_racks(conf)

        def hints(self, request):
            return {'rack': self._racks[request.project_id]}

heat-engine imports the class when it starts, before it forks its workers. So
a module starts no thread and opens no connection when it is imported; the
constructor may. A class method ``check(conf)``, if there is one, is called at
the start, too. It raises :class:`ProviderError` if an option is wrong, and
heat-engine then does not start.

Several threads (green threads before Heat 27) call a provider at the same
time, without any lock. If a provider raises an exception, or takes longer than
``[heat_hints] provider_timeout``, ``[heat_hints] on_error`` decides. Nothing
breaks off the call, so a provider that asks a service sets a time-out of its
own.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from oslo_config import cfg

from heat_hints.deciding.resource import Request

__all__ = ['NAMESPACE', 'Provider', 'ProviderError', 'Request']

NAMESPACE = 'heat_hints.providers'


class ProviderError(Exception):
    """A provider cannot answer; the text says what to change."""


class Provider(Protocol):
    """What a class published in ``heat_hints.providers`` offers."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Make the provider in a worker of heat-engine.

        :param conf: the engine's configuration; a provider registers its
            options there, in a group of its own.
        :raises Exception: if the provider cannot work. One ERROR has this
            text, ``on_error`` decides, and a server that is created a minute
            later has the provider made again.
        """

    def hints(self, request: Request) -> Mapping[Any, Any]:
        """Return the hints for one resource.

        :param request: the resource that is about to be created.
        :returns: values by name; a value that is no string or list of
            strings is made one.
        :raises Exception: if the provider cannot tell; see ``on_error``.
        """
