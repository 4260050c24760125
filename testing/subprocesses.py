# SPDX-License-Identifier: Apache-2.0

"""Run other processes, and wait for them with a limit."""

import select
import subprocess
from collections.abc import Sequence
from typing import Any

#: Seconds to wait for a process. Only a process that hangs needs so long,
#: however busy the machine is.
LIMIT = 600.0


class Server:
    """A process that answers each line with a line.

    :param command: the program and its arguments.
    :param options: what :class:`subprocess.Popen` takes.
    """

    def __init__(self, command: Sequence[Any], **options: Any) -> None:
        self.process: Any = subprocess.Popen(
            command,
            # What is read ahead could not be waited for.
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **options,
        )

    def ask(self, line: str, limit: float = LIMIT) -> str:
        """Write a line; return the answer, which is empty if there is none.

        :raises TimeoutError: if it does not come. The process is killed.
        """
        self.process.stdin.write(f'{line}\n'.encode())
        return self.read_line(limit)

    def read_line(self, limit: float = LIMIT) -> str:
        """Return the next line, which is empty if there is none.

        :param limit: seconds until the line begins.
        :raises TimeoutError: if it does not come. The process is killed.
        """
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        if not ready:
            self.process.kill()
            raise TimeoutError(
                f'waited {limit:g} seconds for {self.process.args}'
            )
        line: bytes = self.process.stdout.readline()
        return line.decode().rstrip('\n')

    def close(self) -> None:
        with self.process:
            self.process.kill()


def run(
    *command: Any, limit: float = LIMIT, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return what it printed.

    :param options: what :func:`subprocess.run` takes.
    :raises subprocess.TimeoutExpired: if it goes on. It is killed.
    """
    pipes = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE}
    return subprocess.run(
        command, text=True, timeout=limit, **{**pipes, **options}
    )
