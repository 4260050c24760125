# SPDX-License-Identifier: Apache-2.0

"""Ask providers, which add their own hints to servers.

A provider is a class, published in the entry-point namespace
``heat_hints.providers`` and named in ``[heat_hints] providers``.

heat-engine loads its plug-ins and then forks its workers. If a provider
started a thread before the fork, the thread would be dead in the workers. If
the provider opened a connection before the fork, all workers would share the
connection. So this module imports the classes when heat-engine starts, but
each worker creates its own providers when it first needs them.

The classes are imported in the main thread, without a time limit, like all
plug-ins of Heat. If heat-engine forked while another thread imports a module,
the module would stay locked or half-imported in the workers. The later calls
have a time limit, in :meth:`Calls.wait`.
"""

import functools
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent import futures
from importlib import metadata
from typing import Any, Final, Protocol, TypeVar

from oslo_config import cfg
from oslo_context import context

from heat_hints import hints
from heat_hints.hints import Request
from os_placement_plugins import logger
from os_placement_plugins.errors import named_line, one_line
from os_placement_plugins.stack_hints import HintValue, PathStep
from os_placement_plugins.text import quote

#: What providers may import; all else may change.
__all__ = [
    'NAMESPACE',
    'PathStep',
    'Provider',
    'ProviderError',
    'Request',
]

LOG = logger.get_logger(__name__)

Answer = TypeVar('Answer')

NAMESPACE: Final = 'heat_hints.providers'
#: How many calls of one provider may run at the same time in a worker. Without
#: this limit, a provider that hangs would use more and more threads.
MAX_CALLS: Final = 16


class ProviderError(Exception):
    """An option of a provider is wrong; the text says what to change."""


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

        :param request: the resource that is about to be created; read only.
        :returns: the values of the hints by name; ``None`` for no hints. A
            value is a string, a number, or a list of strings and numbers. Heat
            sends numbers as strings. If a value is ``None``, Heat does not
            send this hint.
        :raises Exception: if the provider has no answer; see ``on_error``.
        """


#: A provider's class, which is called with the engine's configuration.
ProviderClass = Callable[[cfg.ConfigOpts], Provider]


class Calls:
    """Call one provider, each time in a new thread.

    The thread of a call cannot be interrupted, and Heat may kill the thread
    that waits for the call. So the thread of the call itself makes room for
    another call.

    :param seconds: how long each call may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._room = threading.BoundedSemaphore(MAX_CALLS)

    def wait(self, function: Callable[[], Answer]) -> Answer:
        """Run a function in a thread, and return its answer.

        If :data:`MAX_CALLS` calls are running, this method first waits until
        one of these calls ends.

        :param function: a function that calls the provider.
        :raises TimeoutError: if there is no answer in time, or if none of the
            running calls ends in time.
        :raises Exception: the error that the provider raised.
        """
        if not self._room.acquire(timeout=self._seconds):
            raise TimeoutError(f'{MAX_CALLS} earlier calls have no answer yet')
        call: futures.Future[Answer] = futures.Future()
        # The new thread needs Heat's context for the id of the API request in
        # its log lines.
        args = function, call, context.get_current()
        thread = threading.Thread(target=self._run, args=args, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more threads.
            self._room.release()
            raise
        if futures.wait([call], self._seconds).done:
            return call.result()
        raise TimeoutError(
            f'there was no answer within {self._seconds} seconds, which is '
            '[heat_hints] provider_timeout'
        )

    def _run(
        self,
        function: Callable[[], Any],
        call: futures.Future[Any],
        request_context: Any,
    ) -> None:
        if request_context is not None:
            request_context.update_store()
        try:
            call.set_result(function())
        except Exception as exc:
            call.set_exception(exc)
        except BaseException as exc:
            # A provider may call sys.exit(). This must not end the thread of
            # Heat that waits.
            call.set_exception(RuntimeError(named_line(exc)))
        finally:
            self._room.release()


class Caller:
    """Call the class of one provider.

    :param name: the provider's name.
    :param provider_class: the class; ``None`` if it could not be imported.
    :param conf: the engine's configuration.
    """

    def __init__(
        self,
        name: str,
        provider_class: ProviderClass | None,
        conf: cfg.ConfigOpts,
    ) -> None:
        self.name = name
        self._class = provider_class
        self._conf = conf
        self._calls = Calls(conf.heat_hints.provider_timeout)
        self._provider: Provider | None = None
        self._creation = threading.Lock()

    def ask(
        self, request: Request, taken: Mapping[str, HintValue]
    ) -> tuple[dict[str, HintValue], dict[str, str]]:
        """Ask the provider, and return the result of :func:`hints.accept`.

        :param taken: the hints that earlier providers have set.
        :raises Exception: if the provider fails.
        """
        return self._calls.wait(functools.partial(self._ask, request, taken))

    def _ask(
        self, request: Request, taken: Mapping[str, HintValue]
    ) -> tuple[dict[str, HintValue], dict[str, str]]:
        if self._class is None:
            raise ImportError('heat-engine could not import it at its start')
        with self._creation:
            if self._provider is None:
                self._provider = self._class(self._conf)
        answer = self._provider.hints(request)
        return hints.accept({} if answer is None else answer, taken)


def find(conf: cfg.ConfigOpts) -> tuple[Caller, ...]:
    """Load the configured providers; log an ERROR for each that fails.

    :raises ConfigFileValueError: if no provider has one of the names, or if an
        option of a provider is wrong.
    """
    points = {p.name: p for p in metadata.entry_points(group=NAMESPACE)}
    callers = []
    for name in dict.fromkeys(conf.heat_hints.providers):
        if name not in points:
            raise _wrong_option(
                f'there is no provider "{name}"; those installed here are: '
                + (', '.join(sorted(points)) or 'none')
            )
        callers.append(Caller(name, _load_class(points[name], conf), conf))
    return tuple(callers)


def _load_class(
    point: metadata.EntryPoint, conf: cfg.ConfigOpts
) -> ProviderClass | None:
    """Import the class of a provider, and call its method ``check``.

    :returns: ``None`` if the class cannot be imported.
    """
    # If the provider hangs here, this is the last line of the log.
    LOG.info('heat_hints: loading the provider "%s".', point.name)
    provider_class: ProviderClass | None = None
    try:
        provider_class = point.load()
        if not callable(getattr(provider_class, 'hints', None)):
            raise TypeError(f'{quote(point.value)} has no method "hints"')
        check = getattr(provider_class, 'check', None)
        if check is not None:
            check(conf)
    except ProviderError as exc:
        text = f'provider "{point.name}": {one_line(exc)}'
        # Heat would log the cause, too, whose text may show a password.
        raise _wrong_option(text) from None
    except KeyboardInterrupt:
        # The operator ends heat-engine.
        raise
    except BaseException as exc:
        # A provider may call sys.exit().
        LOG.error(
            'heat_hints: the provider "%(name)s" failed at the start: '
            '%(reason)s. Correct the provider, or change [heat_hints] '
            'providers, and restart heat-engine.',
            {'name': point.name, 'reason': named_line(exc)},
        )
    return provider_class


def _wrong_option(text: str) -> cfg.ConfigFileValueError:
    return cfg.ConfigFileValueError(
        f'[heat_hints] Value for option providers is not valid: {text}'
    )


def ask(
    callers: Iterable[Caller], request: Request, failed: Callable[..., None]
) -> dict[str, HintValue]:
    """Return the hints that the providers give for a resource.

    :param callers: the providers to ask, one after the other.
    :param failed: a function that this function calls with a text that says
        what failed. The second argument is the exception, if there is one. If
        ``failed`` raises no error, the other providers are asked.
    """
    provided: dict[str, HintValue] = {}
    for caller in callers:
        try:
            accepted, refused = caller.ask(request, provided)
        except Exception as exc:
            failed(f'the provider "{caller.name}" failed', exc)
            continue
        provided |= accepted
        for hint, reason in refused.items():
            if reason != hints.REASON_TAKEN:
                failed(
                    f'the hint {quote(hint)} of the provider "{caller.name}" '
                    f'is not sent: {reason}'
                )
                continue
            # Even with on_error = fail, log only a WARNING: the operator has
            # chosen the order of the providers.
            LOG.warning(
                'heat_hints: the hint %(hint)s of the provider "%(name)s" is '
                'not sent: %(reason)s. Give it another name.',
                {'hint': quote(hint), 'name': caller.name, 'reason': reason},
            )
    return provided
