# SPDX-License-Identifier: Apache-2.0

"""Show the progress of a slow command on a terminal."""

import sys
import time
from typing import Final

#: Seconds before a command first shows its progress, and between two lines
#: with the progress.
PATIENCE: Final = 2.0


class Progress:
    """Show the progress of a command from time to time, but not at once."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def tell(self, number: int, what: str) -> None:
        """Show the progress, at most once in :data:`PATIENCE` seconds.

        :param number: how many objects are done.
        :param what: the rest of the line, such as "servers".
        """
        now = time.monotonic()
        if now - self._told >= PATIENCE and sys.stderr.isatty():
            print(f'{number} {what}', file=sys.stderr)
            self._told = now
