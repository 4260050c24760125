# SPDX-License-Identifier: Apache-2.0

"""The interface for providers, which add their own hints to servers.

A provider is a class, published in the entry-point namespace
``heat_hints.providers`` and named in ``[heat_hints] providers``. The page
"Heat: write a provider" says when heat-engine imports, creates and asks a
provider.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from oslo_config import cfg

from heat_hints.deciding.resource import Request
from os_placement_plugins.stack_hints import PathStep

__all__ = [
    'NAMESPACE',
    'PathStep',
    'Provider',
    'ProviderError',
    'Request',
]

NAMESPACE = 'heat_hints.providers'


class ProviderError(Exception):
    """A provider cannot answer; the text says what to change."""


class Provider(Protocol):
    """The methods of a class that is published in ``heat_hints.providers``.

    The class may also have a class method ``check(conf)``. This package calls
    ``check`` when heat-engine starts. If ``check`` raises a
    :class:`ProviderError`, heat-engine does not start.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Create the provider in a worker of heat-engine.

        :param conf: the engine's configuration; a provider registers its
            options there, in a group of its own.
        :raises Exception: if the provider cannot work; see ``on_error``.
        """

    def hints(self, request: Request) -> Mapping[Any, Any]:
        """Return the hints for one resource.

        :param request: the resource that is about to be created.
        :returns: the values of the hints by name; ``None`` for no hints. A
            value is a string, a number, or a list of strings and numbers. Heat
            sends numbers as strings. If a value is ``None``, Heat does not
            send this hint.
        :raises Exception: if the provider has no answer; see ``on_error``.
        """
