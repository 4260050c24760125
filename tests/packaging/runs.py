# SPDX-License-Identifier: Apache-2.0

"""Run a program, and read what it prints."""

import subprocess
from typing import Any


def run(*command: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    :param options: what :func:`subprocess.run` takes.
    """
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        # Only a program that hangs needs so many seconds.
        timeout=600,
        **options,
    )
