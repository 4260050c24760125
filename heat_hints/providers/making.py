# SPDX-License-Identifier: Apache-2.0

"""Find the providers that are configured, and make each on its first use.

heat-engine reads its plug-ins and then forks its workers. A thread or a
connection that a provider made before the fork would be dead or shared in
each worker. So providers are found when heat-engine starts, and made in the
worker that first asks them.
"""

import threading
import time
from collections.abc import Callable, Sequence
from importlib import metadata

from oslo_config import cfg
from oslo_log import log as logging

from heat_hints.providers import NAMESPACE, Provider, ProviderError
from heat_hints.providers.limit import Limit
from os_placement_plugins.errors import one_line

LOG = logging.getLogger(__name__)

#: How long after a failure a worker makes a provider again, in seconds.
RETRY_SECONDS = 60.0


class Maker:
    """Make one provider when it is first asked; several threads may ask.

    :param point: the entry point of the provider's class.
    :param conf: the engine's configuration.
    :param clock: returns seconds.
    """

    def __init__(
        self,
        point: metadata.EntryPoint,
        conf: cfg.ConfigOpts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = point.name
        self.limit = Limit(conf.heat_hints.provider_timeout)
        self._point = point
        self._conf = conf
        self._clock = clock
        self._provider: Provider | None = None
        self._retry_at = float('-inf')
        self._lock = threading.Lock()

    def check(self) -> None:
        """Import the provider's class, and have the class check its options.

        What fails but the check itself is told with an ERROR.

        :raises ProviderError: if an option of the provider is wrong.
        """
        try:
            check = getattr(self._point.load(), 'check', None)
            if check is not None:
                check(self._conf)
        except ProviderError:
            raise
        except (Exception, SystemExit) as exc:
            # A module that gives up with sys.exit() ends no service.
            self._tell(exc)

    def get(self) -> Provider | None:
        """Return the provider; None if it cannot be made.

        An ERROR then says why, once for each attempt.
        """
        with self._lock:
            if self._provider is None and self._clock() >= self._retry_at:
                try:
                    self._provider = self._point.load()(self._conf)
                except (Exception, SystemExit) as exc:
                    self._retry_at = self._clock() + RETRY_SECONDS
                    self._tell(exc)
            return self._provider

    def _tell(self, exc: BaseException) -> None:
        """Log why the provider cannot be used."""
        kind = '' if isinstance(exc, ProviderError) else type(exc).__name__
        LOG.error(
            'heat_hints: the provider "%(name)s" cannot be used: %(reason)s. '
            'Correct the provider, or change [heat_hints] providers and '
            'restart heat-engine. A worker that creates a server tries the '
            'provider again, at most once every %(retry)d seconds.',
            {
                'name': self.name,
                'reason': f'{kind}: {one_line(exc)}'.removeprefix(': '),
                'retry': RETRY_SECONDS,
            },
        )


def find(conf: cfg.ConfigOpts, names: Sequence[str]) -> tuple[Maker, ...]:
    """Find providers; log an ERROR for each that cannot be imported.

    :param conf: the engine's configuration.
    :param names: names from the namespace ``heat_hints.providers``, in the
        order in which to ask.
    :raises ConfigFileValueError: if there is no such provider, or an option
        of the provider is wrong.
    """
    points = {p.name: p for p in metadata.entry_points(group=NAMESPACE)}
    found = []
    for name in dict.fromkeys(names):
        try:
            if name not in points:
                raise ProviderError(
                    'there is no such provider; those installed here are: '
                    + ', '.join(sorted(points))
                )
            maker = Maker(points[name], conf)
            maker.check()
        except ProviderError as exc:
            raise cfg.ConfigFileValueError(
                '[heat_hints] Value for option providers is not valid: '
                f'provider "{name}": {one_line(exc)}'
            ) from exc
        found.append(maker)
    return tuple(found)
