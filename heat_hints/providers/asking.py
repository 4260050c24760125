# SPDX-License-Identifier: Apache-2.0

"""Load the providers that are configured, and ask one after the other."""

from collections.abc import Callable, Sequence
from importlib import metadata

from oslo_config import cfg
from oslo_log import log as logging

from heat_hints.deciding import hints
from heat_hints.deciding.resource import Request
from heat_hints.providers import NAMESPACE, Provider, ProviderError
from os_placement_plugins.quoting import quote
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)

#: Providers by name; ``None`` for one that could not be loaded.
Loaded = dict[str, Provider | None]


def load(conf: cfg.ConfigOpts, names: Sequence[str]) -> Loaded:
    """Load providers; log an ERROR for each that cannot be loaded.

    :param conf: the engine's configuration.
    :param names: names from the namespace ``heat_hints.providers``, in the
        order in which to ask.
    """
    loaded: Loaded = {}
    for name in names:
        try:
            loaded[name] = _make(conf, name)
        except (Exception, SystemExit) as exc:
            # A module that gives up with sys.exit() ends no service.
            loaded[name] = None
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
    return loaded


def ask(
    providers: Loaded,
    request: Request,
    failed: Callable[[str, BaseException | None], None],
) -> dict[str, HintValue]:
    """Return the hints that the providers give for a resource.

    :param providers: the providers to ask, from :func:`load`.
    :param request: the resource.
    :param failed: called with what failed and why; if it returns, the other
        providers are asked.
    """
    provided: dict[str, HintValue] = {}
    for name, provider in providers.items():
        if provider is None:
            failed(f'the provider "{name}" could not be loaded', None)
            continue
        try:
            offer = provider.hints(request) or {}
            accepted, refused = hints.accept(offer, provided)
        except (Exception, SystemExit) as exc:
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


def _make(conf: cfg.ConfigOpts, name: str) -> Provider:
    """Import the module of a provider, and make the provider."""
    points = {p.name: p for p in metadata.entry_points(group=NAMESPACE)}
    if name not in points:
        raise ProviderError(
            'there is no such provider; those installed here are: '
            + ', '.join(sorted(points))
        )
    provider: Provider = points[name].load()(conf)
    return provider
