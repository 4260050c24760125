# SPDX-License-Identifier: Apache-2.0

"""Run other processes, and never wait for one of them without a limit."""

import os
import select
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

#: Seconds to wait for a process. Only a process that hangs needs so long,
#: however busy the machine is.
LIMIT = 600.0

_SIZE = 65536


class Child:
    """A process whose output is read while it runs.

    :param name: what the process is, for messages.
    :param command: the program and its arguments.
    :param options: what :class:`subprocess.Popen` takes.
    """

    def __init__(
        self, name: str, command: Sequence[Any], **options: Any
    ) -> None:
        pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
        self.name = name
        self.process = subprocess.Popen(
            command, bufsize=0, **{**pipes, **options}
        )
        #: What was read from each pipe: all of it, and what is not taken yet.
        self._printed: dict[str, bytes] = {'stdout': b'', 'stderr': b''}
        self._unread = dict(self._printed)
        #: The stream of each pipe that has not ended.
        self._open: dict[Any, str] = {}
        for stream in self._printed:
            pipe = getattr(self.process, stream)
            if pipe is not None:
                self._open[pipe] = stream

    def write_line(self, text: str) -> None:
        """Write a line to the standard input of the process."""
        data = memoryview(f'{text}\n'.encode())
        # A pipe may take a part of it.
        while data:
            data = data[self.process.stdin.write(data) :]

    def read_line(
        self, awaited: str, limit: float = LIMIT, stream: str = 'stdout'
    ) -> str:
        """Return the next line of a stream; empty if the stream has ended.

        :param awaited: what the line says, for the message.
        :param limit: seconds to wait.
        :raises TimeoutError: if it does not come. The process is killed.
        """
        self._read_until(
            lambda: (
                b'\n' in self._unread[stream]
                or stream not in self._open.values()
            ),
            awaited,
            limit,
        )
        line, newline, rest = self._unread[stream].partition(b'\n')
        self._unread[stream] = rest
        return (line + newline).decode()

    def finish(
        self, awaited: str = 'its end', limit: float = LIMIT
    ) -> subprocess.CompletedProcess[str]:
        """Close the standard input, and wait for the end of the process.

        :param awaited: what the end depends on, for the message.
        :param limit: seconds to wait.
        :returns: the exit code, and what no line was read of.
        :raises TimeoutError: if the process goes on. The process is killed.
        """
        if self.process.stdin is not None:
            self.process.stdin.close()
        deadline = time.monotonic() + limit
        self._read_until(lambda: not self._open, awaited, limit)
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._give_up(awaited, limit)
        return subprocess.CompletedProcess(
            self.process.args,
            self.process.returncode,
            stdout=self._unread['stdout'].decode(),
            stderr=self._unread['stderr'].decode(),
        )

    def _read_until(
        self, done: Callable[[], bool], awaited: str, limit: float
    ) -> None:
        """Read both streams, so that neither of them fills up."""
        deadline = time.monotonic() + limit
        while not done():
            left = max(0.0, deadline - time.monotonic())
            ready, _, _ = select.select(list(self._open), [], [], left)
            if not ready:
                self._give_up(awaited, limit)
            for pipe in ready:
                stream = self._open[pipe]
                data = os.read(pipe.fileno(), _SIZE)
                self._printed[stream] += data
                self._unread[stream] += data
                if not data:
                    del self._open[pipe]
                    pipe.close()

    def _give_up(self, awaited: str, limit: float) -> None:
        """Kill the process, and say what it printed.

        :raises TimeoutError: always.
        """
        self.process.kill()
        self.process.wait(LIMIT)
        for pipe in self._open:
            pipe.close()
        self._open.clear()
        printed = {
            stream: data.decode(errors='replace')
            for stream, data in self._printed.items()
        }
        raise TimeoutError(
            f'{self.name}: waited {limit:g} seconds for {awaited}, and killed '
            f'it. It has printed {printed["stdout"]!r}, and '
            f'{printed["stderr"]!r} to standard error.'
        )


def run(
    name: str, command: Sequence[Any], limit: float = LIMIT, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    :param name: what the process is, for messages.
    :param command: the program and its arguments.
    :param limit: seconds to wait.
    :param options: what :class:`subprocess.Popen` takes.
    :raises TimeoutError: if the process goes on. The process is killed.
    """
    child = Child(name, command, **options)
    try:
        return child.finish(limit=limit)
    except BaseException:
        # As subprocess.run does: nothing stays behind after Ctrl-C.
        child.process.kill()
        raise
