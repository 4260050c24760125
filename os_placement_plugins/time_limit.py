# SPDX-License-Identifier: Apache-2.0

"""Call a function that may never return."""

import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar('Value')


def call(function: Callable[[], Value], seconds: float) -> Value:
    """Return what a function returns, if it does so in time.

    :param function: the function. If it is late, it continues in its thread,
        and ends with the process.
    :raises TimeoutError: if it is late.
    :raises Exception: what the function raises.
    """
    values: list[Value] = []
    errors: list[Exception] = []

    module = _threading()
    done = module.Event()

    def run() -> None:
        try:
            values.append(function())
        except Exception as exc:
            errors.append(exc)
        done.set()

    module.Thread(target=run, daemon=True).start()
    # Do not use join(): it looks up the current thread, and Python 3.13.0 then
    # reports an error when the process ends.
    done.wait(seconds)
    if errors:
        raise errors[0]
    if not values:
        raise TimeoutError(f'no answer within {seconds:g} seconds')
    return values[0]


def _threading() -> Any:
    """Return the module that starts native threads.

    A driver written in C does not let eventlet switch between green threads.
    So only a native thread can wait for such a driver with a time limit.
    """
    patcher = sys.modules.get('eventlet.patcher')
    if patcher:
        return patcher.original('threading')
    return threading
