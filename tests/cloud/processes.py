# SPDX-License-Identifier: Apache-2.0

"""Start processes, find them again, and stop nothing else.

Each service is started as the leader of a session of its own. Its pid and
the time it was started are written down; both together name a process even
after the number was given to another one. What belongs to the session is
what the service has started.
"""

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


@dataclasses.dataclass(frozen=True)
class Service:
    """One process of the cloud.

    :param name: unique; the log and the pid file are named after it.
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


def pid_file(name: str) -> pathlib.Path:
    """Return the file that says which process a service is."""
    return layout.RUN / f'{name}.pid'


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that programs of the cloud are started with.

    Not those of the caller: a proxy or a cloud of his would be used.
    """
    return {
        'PATH': f'{layout.ENVIRONMENT}/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(layout.DATA),
        'LANG': 'C.UTF-8',
        'PYTHONWARNINGS': 'ignore',
        **(extra or {}),
    }


def start(service: Service) -> None:
    """Start a service; its log is continued."""
    with log_of(service.name).open('ab') as log:
        process = subprocess.Popen(
            service.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(service.environment),
            cwd=layout.DATA,
            start_new_session=True,
        )
    pid_file(service.name).write_text(
        f'{process.pid} {started_at(process.pid)}'
    )
    # The process is found by its file from now on, also by another run of
    # this tool; nothing is lost with the object that stands for it.
    process.returncode = 0


def is_running(name: str) -> bool:
    """Return whether the first process of a service runs."""
    with contextlib.suppress(OSError, ValueError):
        pid, began = pid_file(name).read_text().split()
        reap(int(pid))
        return started_at(int(pid)) == began
    return False


def all_running() -> list[str]:
    """Return the services of which anything runs, the newest first."""
    files = sorted(
        layout.RUN.glob('*.pid'), key=lambda file: -file.stat().st_mtime_ns
    )
    return [file.stem for file in files if members(file.stem)]


def members(name: str) -> list[int]:
    """Return the pids of all processes that a service consists of.

    :returns: its first process and those that it has started, even if the
        first one is dead already.
    """
    try:
        leader, began = pid_file(name).read_text().split()
    except (OSError, ValueError):
        return []
    reap(int(leader))
    if started_at(int(leader)) not in (began, ''):
        # The number was given to another process, which the kernel does
        # only when nobody is left in the session.
        return []
    return [
        int(entry.name)
        for entry in pathlib.Path('/proc').iterdir()
        if entry.name.isdigit()
        and (fields := stat(int(entry.name)))
        and fields[SESSION] == leader
    ]


def kill(name: str) -> None:
    """Kill a service and all that it has started, without a warning.

    :raises RuntimeError: when the kernel does not let go of it.
    """
    deadline = time.monotonic() + PATIENCE
    while pids := members(name):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise RuntimeError(f'{name} cannot be killed: {pids}')
        time.sleep(0.02)
    pid_file(name).unlink(missing_ok=True)


def send(number: signal.Signals, name: str) -> None:
    """Send a signal to all processes of a service."""
    for pid in members(name):
        os.kill(pid, number)


def reap(pid: int) -> None:
    """Let go of a dead process, if it is a child of this one."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


#: Places in ``/proc/PID/stat`` behind the program's name, which may hold
#: blanks and parentheses; see proc(5).
STATE, SESSION, START_TIME = 0, 3, 19


def stat(pid: int) -> list[str]:
    """Return what the kernel says about a process.

    :returns: the fields behind its name; none when it is gone or dead.
    """
    try:
        text = pathlib.Path(f'/proc/{pid}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    fields = text.rpartition(')')[2].split()
    return [] if fields[STATE] in 'ZX' else fields


def started_at(pid: int) -> str:
    """Return when a process was started, in ticks; empty when it is gone."""
    fields = stat(pid)
    return fields[START_TIME] if fields else ''


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
