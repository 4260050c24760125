# SPDX-License-Identifier: Apache-2.0

"""Start a service in a forked process for each configuration file.

The process that forks has imported the service, which takes seconds, and has
read no option that the service reads when it starts.
"""

import os
import pathlib
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from testing import subprocesses

#: Exit codes of a service that is up, and of one that is up, but fails in a
#: boot. All others belong to services that do not start.
UP = 100
FAILED_IN_BOOT = 101


class BootError(Exception):
    """The service is up, and fails in a boot."""


def serve(start: Callable[[], Any]) -> None:
    """Start the service for each path on standard input; print exit codes.

    What the service logs is beside the file, in ``service.log``.

    :param start: what the command of the service calls.
    """
    for line in sys.stdin:
        if not (child := os.fork()):
            _start(start, pathlib.Path(line.strip()))
        # os.waitpid would be eventlet's, and wait with a hub that is forked.
        _, status, _ = os.wait4(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _start(start: Callable[[], Any], path: pathlib.Path) -> NoReturn:
    """Start the service in this new process, and end the process."""
    code = 1
    try:
        signal.alarm(int(subprocesses.LIMIT))
        # Whoever waits for a signal would wait for ever.
        signal.pause = lambda: os._exit(1)
        with path.with_name('service.log').open('w') as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        if 'eventlet' in sys.modules:
            # As oslo.service does in a new worker: a hub of its own.
            sys.modules['eventlet'].hubs.use_hub()
        sys.path.insert(0, str(path.parent))
        sys.argv[1:] = ['--config-file', str(path)]
        start()
        code = UP
    except BootError as exc:
        print(f'The boot fails: {exc}', file=sys.stderr)
        code = FAILED_IN_BOOT
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        # The threads of the service would keep the process.
        os._exit(code)
