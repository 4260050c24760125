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
from collections.abc import Mapping

from tests.cloud import layout

#: How long the kernel may take to end a process, in seconds.
PATIENCE = 30.0

#: The variable that says of which service a process of this cloud is.
VARIABLE = 'LOOPBACK_CLOUD_SERVICE'


@dataclasses.dataclass(frozen=True)
class Service:
    """One process of the cloud.

    :param name: unique; the log is named after it.
    :param command: the program and its arguments.
    :param port: where it answers HTTP; None if it does not.
    :param environment: variables beside the few that all services get.
    """

    name: str
    command: tuple[str, ...]
    port: int | None = None
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)


def log_of(name: str) -> pathlib.Path:
    """Return the file that a service writes to."""
    return layout.LOG / f'{name}.log'


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that programs of the cloud are started with.

    Not those of the caller: a proxy or a cloud of his would be used.
    """
    return {
        'PATH': f'{layout.ENVIRONMENT}/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(layout.DATA),
        'LANG': 'C.UTF-8',
        'PYTHONWARNINGS': 'ignore',
        # A program that changes its title would write it over the variables.
        'SPT_NOENV': '1',
        **(extra or {}),
    }


def start(service: Service) -> None:
    """Start a service; its log is continued.

    :returns: when :func:`running` finds it, or when it has ended.
    """
    mark = {VARIABLE: f'{layout.FOLDER}/{service.name}'}
    with log_of(service.name).open('ab') as log:
        process = subprocess.Popen(
            service.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment({**service.environment, **mark}),
            cwd=layout.DATA,
            start_new_session=True,
        )
    # The kernel shows the variables of a new program only a moment after
    # Popen returns. On a cold disk the moment is long.
    while process.poll() is None and service.name not in running():
        time.sleep(0.01)


def running() -> dict[str, list[int]]:
    """Return the pids of all processes of the cloud, by service."""
    mark = f'{VARIABLE}={layout.FOLDER}/'
    pids = collections.defaultdict(list)
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        # Some end meanwhile, or belong to others. A dead one has no variables.
        with contextlib.suppress(OSError):
            for variable in (process / 'environ').read_bytes().split(b'\0'):
                if variable.startswith(os.fsencode(mark)):
                    name = os.fsdecode(variable).removeprefix(mark)
                    pids[name].append(int(process.name))
    return dict(pids)


def kill(name: str) -> None:
    """Kill a service and all that it has started, without a warning.

    :raises RuntimeError: when the kernel does not let go of it.
    """
    deadline = time.monotonic() + PATIENCE
    while name in running():
        send(signal.SIGKILL, name)
        if time.monotonic() > deadline:
            raise RuntimeError(f'{name} cannot be killed')
        time.sleep(0.02)


def send(number: signal.Signals, name: str) -> None:
    """Send a signal to all processes of a service."""
    for pid in running().get(name, ()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def run(*command: str, log: str) -> None:
    """Run a program of the cloud to its end.

    :raises subprocess.SubprocessError: when it fails or takes too long.
    """
    with log_of(log).open('ab') as stream:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment(),
            cwd=layout.DATA,
            timeout=600,
            check=True,
        )
