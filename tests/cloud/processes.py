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

#: How long a service may take to end when it is asked to, in seconds.
GRACE = 10.0


@dataclasses.dataclass(frozen=True)
class Service:
    """One process of the cloud.

    :param name: unique; the log and the pid file are named after it.
    :param command: the program and its arguments.
    :param environment: variables beside the few that all services get.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def log(self) -> pathlib.Path:
        """Return the file that the service writes to."""
        return layout.LOG / f'{self.name}.log'

    @property
    def pid_file(self) -> pathlib.Path:
        """Return the file that says which process it is."""
        return layout.RUN / f'{self.name}.pid'


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the variables that programs of the cloud are started with.

    Not those of the caller: a proxy or a cloud of his would be used.

    :param extra: what is added.
    :returns: all variables.
    """
    return {
        'PATH': f'{layout.PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin',
        'HOME': str(layout.DATA),
        'LANG': 'C.UTF-8',
        'PYTHONWARNINGS': 'ignore',
        **(extra or {}),
    }


def start(service: Service) -> None:
    """Start a service; its log is continued.

    :param service: what to start.
    """
    with service.log.open('ab') as log:
        process = subprocess.Popen(
            service.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(service.environment),
            cwd=layout.DATA,
            start_new_session=True,
        )
    service.pid_file.write_text(f'{process.pid} {started_at(process.pid)}')
    # The process is found by its file from now on, also by another run of
    # this tool; nothing is lost with the object that stands for it.
    process.returncode = 0


def pid_of(service: Service) -> int | None:
    """Return the pid of a service that runs.

    :param service: the service in question.
    :returns: the pid of its first process; None when it does not run.
    """
    try:
        pid, began = service.pid_file.read_text().split()
    except (OSError, ValueError):
        return None
    reap(int(pid))
    return int(pid) if started_at(int(pid)) == began else None


def members(service: Service) -> list[int]:
    """Return the pids of all processes that a service consists of.

    :param service: the service in question.
    :returns: its first process and those that it has started, even if the
        first one is dead already.
    """
    try:
        leader, began = service.pid_file.read_text().split()
    except (OSError, ValueError):
        return []
    reap(int(leader))
    if started_at(int(leader)) not in (began, ''):
        # The number was given to another process, which the kernel does
        # only when nobody is left in the session.
        return []
    found = []
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            fields = stat(int(entry.name))
            if fields and fields[SESSION] == leader:
                found.append(int(entry.name))
    return found


def stop(service: Service, grace: float = GRACE) -> bool:
    """Stop a service and all that it has started.

    :param service: the service in question.
    :param grace: seconds before it is killed.
    :returns: whether anything of it ran.
    """
    ran = bool(members(service))
    leader = pid_of(service)
    if leader is not None:
        send(leader, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while members(service) and time.monotonic() < deadline:
        if pid_of(service) is None:
            break
        time.sleep(0.05)
    kill(service)
    return ran


def kill(service: Service) -> None:
    """Kill a service and all that it has started, without a warning.

    :param service: the service in question.
    :raises RuntimeError: when the kernel does not let go of it.
    """
    deadline = time.monotonic() + GRACE
    while (pids := members(service)) and time.monotonic() < deadline:
        for pid in pids:
            send(pid, signal.SIGKILL)
        time.sleep(0.02)
    if pids:
        raise RuntimeError(f'{service.name} cannot be killed: {pids}')
    service.pid_file.unlink(missing_ok=True)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone."""
    with contextlib.suppress(ProcessLookupError):
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

    :param pid: its number.
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


def run(
    *command: str,
    log: pathlib.Path,
    extra: Mapping[str, str] | None = None,
    timeout: float = 180,
) -> None:
    """Run a program of the cloud to its end.

    :param command: the program and its arguments.
    :param log: the file that its output is added to.
    :param extra: variables beside the usual ones.
    :param timeout: seconds that it may take.
    :raises subprocess.SubprocessError: when it fails or takes too long.
    """
    with log.open('ab') as stream:
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=environment(extra),
            cwd=layout.DATA,
            timeout=timeout,
            check=True,
        )
