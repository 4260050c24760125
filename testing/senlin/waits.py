# SPDX-License-Identifier: Apache-2.0

"""Shorter waits for Senlin in one process.

No option changes for how long Senlin waits: three seconds for the end of child
actions, and 50 ms for the next message of the in-process transport. Here
everything is done after some milliseconds, so that nearly all of a test would
be waiting. What Senlin does is the same, only earlier.
"""

import time
import types
from collections.abc import Callable
from typing import Any

import eventlet
import eventlet.event
from oslo_messaging._drivers import impl_fake
from senlin.db.sqlalchemy import api as db_api
from senlin.engine.actions import cluster_action

#: Seconds after which one looks even if no action has ended.
PAUSE = 0.5


class News:
    """What green threads wait for instead of looking again and again."""

    def __init__(self) -> None:
        self._event = eventlet.event.Event()

    def tell(self) -> None:
        """Wake all who wait."""
        event, self._event = self._event, eventlet.event.Event()
        event.send()

    def wait(self, seconds: float) -> None:
        """Wait for news, at most so long."""
        self._event.wait(timeout=seconds)


#: An action has ended.
ENDED = News()
#: A message was sent.
SENT = News()


def shorten() -> None:
    """Let Senlin's green threads go on as soon as they can."""
    wait_for = cluster_action.ClusterAction._wait_for_dependents

    def wait_less(action: Any, *args: Any, **kwargs: Any) -> Any:
        # On the action itself, because grace periods sleep in the same way.
        action._sleep = lambda period: ENDED.wait(PAUSE)
        try:
            return wait_for(action, *args, **kwargs)
        finally:
            del action._sleep

    cluster_action.ClusterAction._wait_for_dependents = wait_less
    # Senlin frees a parent of its failed child in one transaction, and fails
    # the parent in the next. A parent that looks in between succeeds. Senlin
    # seldom looks then; here it would be one test in a hundred.
    turn = eventlet.semaphore.Semaphore()
    _in_turn('action_check_status', turn)
    for how in ('succeeded', 'failed', 'cancelled'):
        _in_turn(f'action_mark_{how}', turn, ENDED.tell)
    deliver = impl_fake.FakeExchange.deliver_message

    def deliver_at_once(*args: Any, **kwargs: Any) -> None:
        deliver(*args, **kwargs)
        SENT.tell()

    impl_fake.FakeExchange.deliver_message = deliver_at_once
    impl_fake.time = types.SimpleNamespace(time=time.time, sleep=SENT.wait)


def _in_turn(
    name: str,
    turn: eventlet.semaphore.Semaphore,
    after: Callable[[], None] = lambda: None,
) -> None:
    """Let a function of Senlin's database wait for its turn."""
    call = getattr(db_api, name)

    def wait(*args: Any, **kwargs: Any) -> Any:
        with turn:
            answer = call(*args, **kwargs)
        after()
        return answer

    setattr(db_api, name, wait)
