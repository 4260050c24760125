# SPDX-License-Identifier: Apache-2.0

"""Run Python in a process of its own, for what one process cannot show."""

import pathlib
import sys

from testing import subprocesses

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run_python(
    program: str, *arguments: str, limit: float = subprocesses.LIMIT
) -> list[str]:
    """Run a program with this interpreter, in the checkout.

    :param program: Python source.
    :param arguments: what it finds in ``sys.argv[1:]``.
    :param limit: seconds to wait.
    :returns: the lines it printed.
    :raises AssertionError: when it failed, with what it said.
    :raises TimeoutError: when it does not end.
    """
    result = subprocesses.run(
        *(sys.executable, '-W', 'ignore', '-c', program, *arguments),
        limit=limit,
        cwd=ROOT,
    )
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout.splitlines()
