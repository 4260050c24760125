# SPDX-License-Identifier: Apache-2.0

"""Call a function with a time limit."""

import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar('Value')


def call(function: Callable[[], Value], seconds: float) -> Value:
    """Return the result of a function that ends within a time limit.

    :param function: the function. After the time limit, the function continues
        in a thread that ends with the process.
    :param seconds: the time limit.
    :raises TimeoutError: if the function does not end within the time limit.
    :raises Exception: any exception that the function raises.
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
    """Return the module that starts native threads, even with eventlet.

    A database driver written in C does not let eventlet switch between green
    threads. So only a native thread can call such a driver with a time limit.
    """
    patcher = sys.modules.get('eventlet.patcher')
    if patcher:
        return patcher.original('threading')
    return threading
