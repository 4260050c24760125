# SPDX-License-Identifier: Apache-2.0

"""Start processes, find them again, and stop nothing else.

A service has a variable in its environment that names it, in this checkout.
Whatever it starts inherits the variable.
"""

import collections
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.cloud import layout

#: How long anything may take, in seconds.
TIMEOUT = 300.0

#: The variable that says of which service a process of this cloud is.
VARIABLE = 'LOOPBACK_CLOUD_SERVICE'


@dataclasses.dataclass(frozen=True)
class Service:
    """One process of the cloud.

    :param name: unique; the log is named after it.
    :param port: where it listens when it is ready, if it does.
    :param environment: variables beside the few that all services get.
    """

    name: str
    command: tuple[str, ...]
    port: int | None = None
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


def options(name: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the options with which a program of the cloud is started."""
    return {
        'stdin': subprocess.DEVNULL,
        'stdout': (layout.LOG / f'{name}.log').open('ab'),
        'stderr': subprocess.STDOUT,
        'cwd': layout.DATA,
        # Not the variables of the caller: a proxy of theirs would be used.
        'env': {
            'PATH': f'{layout.ENVIRONMENT}/bin:/usr/sbin:/usr/bin:/sbin:/bin',
            'HOME': str(layout.DATA),
            'LANG': 'C.UTF-8',
            'PYTHONWARNINGS': 'ignore',
            # A program that changes its title would write over the variables.
            'SPT_NOENV': '1',
            VARIABLE: f'{layout.FOLDER}/{name}',
            **variables,
        },
    }


def start(service: Service) -> subprocess.Popen[bytes]:
    """Start a service; its log is continued."""
    return subprocess.Popen(
        service.command, **options(service.name, service.environment)
    )


def run(name: str, *command: str) -> None:
    """Run a program of the cloud to its end.

    :raises subprocess.SubprocessError: when it fails or takes too long.
    """
    subprocess.run(command, timeout=TIMEOUT, check=True, **options(name, {}))


def running() -> dict[str, list[int]]:
    """Return the pids of all processes of the cloud, by service."""
    mark = os.fsencode(f'{VARIABLE}={layout.FOLDER}/')
    pids = collections.defaultdict(list)
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        # Some end meanwhile, or belong to others. A dead one has no variables.
        with contextlib.suppress(OSError):
            for variable in (process / 'environ').read_bytes().split(b'\0'):
                if variable.startswith(mark):
                    name = os.fsdecode(variable.removeprefix(mark))
                    pids[name].append(int(process.name))
    return dict(pids)


def send(number: signal.Signals, *names: str) -> None:
    """Send a signal to all processes of services."""
    pids = running()
    for name in names:
        for pid in pids.get(name, ()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def wait_until(check: Callable[[], Any]) -> Any:
    """Wait until a check raises nothing, and return what it returns.

    :raises Exception: what it raises when the time is over.
    """
    deadline = time.monotonic() + TIMEOUT
    while True:
        try:
            return check()
        except Exception:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.3)
