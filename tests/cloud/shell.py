# SPDX-License-Identifier: Apache-2.0

"""A shell that types what a page shows, one command after the other."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import tempfile

from tests.cloud import layout

#: How long a command may take, in seconds. Nothing takes as long if all goes
#: well; installing takes longest.
PATIENCE = 600.0


class Shell:
    """One bash, in which a command finds what those before it have set.

    It looks into its history as a reader's does, so that ``!`` is replaced
    where it would be replaced for them.

    :param folder: where it begins.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        errors, name = tempfile.mkstemp(prefix='opp-shell-')
        self._printed = pathlib.Path(name)
        self._statuses, self._status = os.pipe()
        self._process = subprocess.Popen(
            ['bash', '--noprofile', '--norc', '-o', 'history', '-H'],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=folder,
            env=environment(),
            pass_fds=[self._status],
            start_new_session=True,
            text=True,
        )
        os.close(errors)
        os.close(self._status)

    def run(self, command: str) -> tuple[int, str]:
        """Type a command and wait for its end.

        :param command: its lines.
        :returns: its exit code and what it printed, errors included.
        :raises AssertionError: when it takes too long, or ends the shell.
        """
        assert self._process.stdin is not None
        # The braces keep its input apart from what is typed next.
        self._process.stdin.write(
            f'{{ {command}\n}} < /dev/null > {self._printed} 2>&1\n'
            f'echo $? >&{self._status}\n'
        )
        self._process.stdin.flush()
        ready, _, _ = select.select([self._statuses], [], [], PATIENCE)
        status = os.read(self._statuses, 16) if ready else b''
        printed = self._printed.read_text('utf-8')
        if not status:
            raise AssertionError(f'"{command}" came to no end: {printed}')
        return int(status), printed

    def close(self) -> None:
        """End the shell, and what it may still be waiting for."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        os.close(self._statuses)
        self._printed.unlink()


def environment() -> dict[str, str]:
    """Return this process's variables less those of its Python and clouds."""
    ours = ('PYTHON', 'VIRTUAL_ENV')
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith((*ours, 'OS_'))
    }
    # A proxy of the caller's does not lead to the loopback address.
    return variables | {'no_proxy': layout.ADDRESS}
