# SPDX-License-Identifier: Apache-2.0

"""Run Python in a process of its own, for what one process cannot show."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run_python(program: str, *arguments: str) -> list[str]:
    """Run a program with this interpreter, in the checkout.

    :param program: Python source.
    :param arguments: what it finds in ``sys.argv[1:]``.
    :returns: the lines it printed.
    :raises AssertionError: when it failed, with what it said.
    """
    result = subprocess.run(
        [sys.executable, '-W', 'ignore', '-c', program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise AssertionError(result.stderr)
    return result.stdout.splitlines()
