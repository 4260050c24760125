# SPDX-License-Identifier: Apache-2.0

"""Ask the providers for hints, one after the other."""

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
    :param failed: called with what failed, and with the exception or, if
        the log has said why, with ``told=True``. If it returns, the other
        providers are asked.
    """
    provided: dict[str, HintValue] = {}
    for maker in makers:
        name, provider = maker.name, maker.get()
        if provider is None:
            failed(f'the provider "{name}" could not be made', told=True)
            continue
        try:
            offer = maker.limit.ask(provider, request)
            accepted, refused = hints.accept(offer, provided, allowed)
        except Exception as exc:
            failed(f'the provider "{name}" failed', exc)
            continue
        provided |= accepted
        for hint, reason in refused.items():
            LOG.warning(
                'heat_hints: the hint %(hint)s of the provider '
                '"%(provider)s" is not sent: %(reason)s. Give it another '
                'name.',
                {'hint': quote(hint), 'provider': name, 'reason': reason},
            )
    return provided
