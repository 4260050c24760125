# SPDX-License-Identifier: Apache-2.0

"""Ask the providers for hints, one after the other."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Container, Iterable

from oslo_log import log as logging

from heat_hints.deciding import hints
from heat_hints.deciding.resource import Request
from heat_hints.providers.making import Maker
from os_placement_plugins.quoting import quote
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)


def ask(
    makers: Iterable[Maker],
    request: Request,
    allowed: Container[str],
    failed: Callable[..., None],
) -> dict[str, HintValue]:
    """Return the hints that the providers give for a resource.

    :param makers: the providers to ask, from :func:`making.find`.
    :param request: the resource.
    :param allowed: names that Nova acts on, and providers may set.
    :param failed: called with what failed, and with the exception, if there
        is one, or with ``told=True``, if the log has said why. If it
        returns, the other providers are asked.
    """
    provided: dict[str, HintValue] = {}
    for maker in makers:
        name = maker.name
        try:
            found = maker.limit.wait(
                functools.partial(_ask, maker, request, provided, allowed)
            )
        except Exception as exc:
            failed(f'the provider "{name}" failed', exc)
            continue
        if found is None:
            failed(f'the provider "{name}" could not be created', told=True)
            continue
        accepted, refused = found
        provided |= accepted
        for hint, reason in refused.items():
            if reason != hints.REASON_TAKEN:
                failed(
                    f'the hint {quote(hint)} of the provider "{name}" is not '
                    f'sent: {reason}'
                )
                continue
            # The order of the providers is what the operator wants.
            LOG.warning(
                'heat_hints: the hint %(hint)s of the provider '
                '"%(provider)s" is not sent: %(reason)s. Give it another '
                'name.',
                {'hint': quote(hint), 'provider': name, 'reason': reason},
            )
    return provided


def _ask(
    maker: Maker,
    request: Request,
    taken: Container[str],
    allowed: Container[str],
) -> tuple[dict[str, HintValue], dict[str, str]] | None:
    """Return what :func:`hints.accept` says; None without a provider.

    The time limit holds for all of it: the provider may have to be made
    first, and what it returns may be looked up only as it is read.
    """
    provider = maker.get()
    if provider is None:
        return None
    # Nothing that a provider changes is seen by the next one, or sent.
    own = dataclasses.replace(
        request, user_hints=copy.deepcopy(request.user_hints)
    )
    return hints.accept(provider.hints(own) or {}, taken, allowed)
