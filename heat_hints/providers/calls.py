# SPDX-License-Identifier: Apache-2.0

"""Call the configured providers, with a time limit for each call.

heat-engine loads its plug-ins and then forks its workers. If a provider
started a thread before the fork, the thread would be dead in the workers. If
the provider opened a connection before the fork, all workers would share the
connection. So this module finds the providers when heat-engine starts, but
each worker creates its own providers when it first needs them.
"""

import copy
import dataclasses
import functools
import threading
import time
from collections.abc import (
    Callable,
    Container,
    Iterable,
    Mapping,
    Sequence,
)
from concurrent import futures
from importlib import metadata
from typing import Any, TypeVar

from oslo_config import cfg
from oslo_context import context
from oslo_log import log as logging

from heat_hints.deciding import hints
from heat_hints.deciding.resource import Request
from heat_hints.providers import NAMESPACE, Provider, ProviderError
from os_placement_plugins.errors import one_line
from os_placement_plugins.quoting import quote
from os_placement_plugins.stack_hints import HintValue

LOG = logging.getLogger(__name__)

Answer = TypeVar('Answer')

#: How many calls of one provider may run at the same time in a worker. Without
#: this limit, a provider that hangs would use more and more threads.
MAX_CALLS = 16
#: If a provider cannot be created, a worker tries again after this time, in
#: seconds.
RETRY_SECONDS = 60.0


class Calls:
    """Call one provider, each time in a new thread.

    The thread of a call cannot be interrupted, but Heat may kill the thread
    that waits for the call. So the thread of the call itself removes the call
    from the running calls.

    :param seconds: how long each call may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        #: The start time of each call that has not ended.
        self._begun: dict[futures.Future[Any], float] = {}
        self._ended = threading.Condition()

    def wait(self, ask: Callable[[], Answer]) -> Answer:
        """Run a function in a thread, and return its answer.

        If :data:`MAX_CALLS` calls are running, this method first waits until
        one of these calls ends.

        :param ask: a function that calls the provider.
        :raises TimeoutError: if there is no answer in time, or if all running
            calls exceed their time.
        :raises Exception: the error that the provider raised.
        """
        call: futures.Future[Answer] = futures.Future()
        # The new thread needs Heat's context for the id of the API request in
        # its log lines.
        args = ask, call, context.get_current()
        thread = threading.Thread(target=self._run, args=args, daemon=True)
        with self._ended:
            self._wait_for_room()
            self._begun[call] = time.monotonic()
            try:
                thread.start()
            except Exception:
                # The system cannot start more threads.
                del self._begun[call]
                raise
        if futures.wait([call], self._seconds).done:
            return call.result()
        raise TimeoutError(
            f'there was no answer within {self._seconds} seconds, which is '
            '[heat_hints] provider_timeout'
        )

    def _wait_for_room(self) -> None:
        """Wait until fewer than :data:`MAX_CALLS` calls are running.

        :raises TimeoutError: if all running calls exceed their time.
        """
        while len(self._begun) >= MAX_CALLS:
            all_late = max(self._begun.values()) + self._seconds
            left = all_late - time.monotonic()
            if left <= 0:
                raise TimeoutError(
                    f'{len(self._begun)} earlier calls have no answer yet'
                )
            self._ended.wait(left)

    def _run(
        self,
        ask: Callable[[], Any],
        call: futures.Future[Any],
        request_context: Any,
    ) -> None:
        if request_context is not None:
            request_context.update_store()
        try:
            answer = ask()
        except Exception as exc:
            call.set_exception(exc)
        except BaseException as exc:
            # A provider may raise SystemExit or eventlet's Timeout. Only this
            # call must then fail.
            call.set_exception(ProviderError(f'{type(exc).__name__}: {exc}'))
        else:
            call.set_result(answer)
        with self._ended:
            del self._begun[call]
            # Wake all waiting threads. If only one was woken, Heat might kill
            # that thread, and the others would wait in vain.
            self._ended.notify_all()


class Maker:
    """Create one provider when a worker first needs the provider."""

    def __init__(
        self,
        point: metadata.EntryPoint,
        conf: cfg.ConfigOpts,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = point.name
        self.calls = Calls(conf.heat_hints.provider_timeout)
        self._point = point
        self._conf = conf
        self._clock = clock
        self._provider: Provider | None = None
        self._retry_at = float('-inf')
        self._lock = threading.Lock()

    def check(self) -> None:
        """Import the provider's class, and call ``check`` of the class.

        :raises ProviderError: if an option is wrong. Other errors are logged.
        """
        try:
            check = getattr(self._point.load(), 'check', None)
            if check is not None:
                check(self._conf)
        except ProviderError:
            raise
        except (Exception, SystemExit) as exc:
            # A module that calls sys.exit() must not end heat-engine.
            self._tell(exc)

    def get(self) -> Provider | None:
        """Return the provider; None if the provider cannot be created.

        If the creation fails, log an ERROR, and do not try again for
        :data:`RETRY_SECONDS`.
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

    :raises ConfigFileValueError: if no provider has one of the names, or if an
        option of a provider is wrong.
    """
    points = {p.name: p for p in metadata.entry_points(group=NAMESPACE)}
    makers = []
    for name in dict.fromkeys(names):
        try:
            if name not in points:
                raise ProviderError(
                    'there is no such provider; those installed here are: '
                    + (', '.join(sorted(points)) or 'none')
                )
            maker = Maker(points[name], conf)
            maker.check()
        except ProviderError as exc:
            raise cfg.ConfigFileValueError(
                '[heat_hints] Value for option providers is not valid: '
                f'provider "{name}": {one_line(exc)}'
            ) from exc
        makers.append(maker)
    return tuple(makers)


def ask(
    makers: Iterable[Maker],
    request: Request,
    allowed: Container[str],
    failed: Callable[..., None],
) -> dict[str, HintValue]:
    """Return the hints that the providers give for a resource.

    :param makers: the providers to ask, one after the other.
    :param allowed: the names of Nova's own hints that providers may set.
    :param failed: a function that this function calls with a text that says
        what failed. The second argument is the exception, if there is one.
        With ``logged=True``, the reason is already in the log. If ``failed``
        raises no error, the other providers are asked.
    """
    provided: dict[str, HintValue] = {}
    for maker in makers:
        name = maker.name
        try:
            answer = maker.calls.wait(
                functools.partial(_ask, maker, request, provided, allowed)
            )
        except Exception as exc:
            failed(f'the provider "{name}" failed', exc)
            continue
        if answer is None:
            failed(f'the provider "{name}" could not be created', logged=True)
            continue
        accepted, refused = answer
        provided |= accepted
        for hint, reason in refused.items():
            if reason != hints.REASON_TAKEN:
                failed(
                    f'the hint {quote(hint)} of the provider "{name}" is not '
                    f'sent: {reason}'
                )
                continue
            # Even with on_error = fail, log only a WARNING: the operator has
            # chosen the order of the providers.
            LOG.warning(
                'heat_hints: the hint %(hint)s of the provider "%(name)s" is '
                'not sent: %(reason)s. Give it another name.',
                {'hint': quote(hint), 'name': name, 'reason': reason},
            )
    return provided


def _ask(
    maker: Maker,
    request: Request,
    taken: Mapping[str, HintValue],
    allowed: Container[str],
) -> tuple[dict[str, HintValue], dict[str, str]] | None:
    """Ask a provider, and return the result of :func:`hints.accept`.

    :returns: None if the provider cannot be created.
    """
    # hints.accept() also runs within the time limit: the mapping that a
    # provider returns may look up its values only when they are read.
    provider = maker.get()
    if provider is None:
        return None
    # A copy, so that a provider can change neither the hints that are sent nor
    # what the next provider sees.
    request_copy = dataclasses.replace(
        request, user_hints=copy.deepcopy(request.user_hints)
    )
    answer = provider.hints(request_copy)
    if answer is None:
        answer = {}
    return hints.accept(answer, taken, allowed)
