# SPDX-License-Identifier: Apache-2.0

"""Wait for threads, and for none of them without a limit."""

import threading
import time
from collections.abc import Callable, Iterable

#: Seconds to wait. Only a thread that hangs needs so long, however busy the
#: machine is.
LIMIT = 600.0


def wait_until(holds: Callable[[], bool], awaited: str) -> None:
    """Wait until something holds that other threads do.

    :param awaited: what must hold, for the message.
    :raises AssertionError: if it never does.
    """
    deadline = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {LIMIT:g} seconds: {awaited}')
        time.sleep(0.001)


def join(threads: Iterable[threading.Thread]) -> None:
    """Wait for the end of threads.

    :raises AssertionError: if one of them goes on.
    """
    for thread in threads:
        thread.join(LIMIT)
        if thread.is_alive():
            raise AssertionError(
                f'waited {LIMIT:g} seconds for the end of {thread.name}'
            )
