# SPDX-License-Identifier: Apache-2.0

"""Wait for a provider for a limited time."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from oslo_context import context

from heat_hints.providers import ProviderError

Answer = TypeVar('Answer')

#: As many questions to one provider may be left without an answer. Then no
#: further ones are asked until one ends, so that a provider that hangs does
#: not fill the worker with threads.
MAX_LATE = 8


class Question(Generic[Answer]):
    """One question, in a thread of its own: nothing can break off a call.

    :param ask: asks the provider, and returns its answer.
    """

    def __init__(self, ask: Callable[[], Answer]) -> None:
        self._ask = ask
        # The log names the request of Heat's API that a thread works for.
        self._context = context.get_current()
        self._answer: Answer
        self._raised: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def answer(self, seconds: float) -> Answer:
        """Return what the provider answers.

        :param seconds: how long to wait.
        :raises TimeoutError: if there was no answer.
        :raises Exception: what the provider raised.
        """
        self._thread.start()
        self._thread.join(seconds)
        if self.is_open():
            raise TimeoutError(
                f'there was no answer within {seconds} seconds, which is '
                '[heat_hints] provider_timeout'
            )
        if isinstance(self._raised, Exception):
            raise self._raised
        if self._raised is not None:
            # An exit, or a time-out of eventlet, ends nothing here.
            kind = type(self._raised).__name__
            raise ProviderError(f'{kind}: {self._raised}')
        return self._answer

    def is_open(self) -> bool:
        """Tell whether the provider still works on the answer."""
        return self._thread.is_alive()

    def _run(self) -> None:
        if self._context is not None:
            self._context.update_store()
        try:
            self._answer = self._ask()
        except BaseException as exc:
            self._raised = exc


class Limit:
    """How long a provider may take, and how often it may take longer.

    :param seconds: how long each answer may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._late: list[Question[Any]] = []

    def wait(self, ask: Callable[[], Answer]) -> Answer:
        """Ask a provider, and return its answer.

        :raises TimeoutError: if there was no answer in time, or too many
            questions before have none yet.
        :raises Exception: what the provider raised.
        """
        # Of two threads at once, one may forget the other's question. Then
        # one more is asked.
        self._late = [late for late in self._late if late.is_open()]
        if len(self._late) >= MAX_LATE:
            raise TimeoutError(
                f'{len(self._late)} earlier calls have no answer yet'
            )
        question = Question(ask)
        try:
            return question.answer(self._seconds)
        except TimeoutError:
            self._late = [*self._late, question]
            raise
