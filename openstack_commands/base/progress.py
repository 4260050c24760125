# SPDX-License-Identifier: Apache-2.0

"""Tell a person at a terminal how far a slow command is."""

import sys
import time
from typing import Final

#: After as many seconds a command tells how far it is.
PATIENCE: Final = 2.0


class Progress:
    """Tells a terminal something now and then, beginning after a while."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def tell(self, number: int, what: str) -> None:
        """Tell how far the command is, unless it has told that just now.

        :param number: how many are done.
        :param what: the rest of the line, such as "servers".
        """
        now = time.monotonic()
        if now - self._told >= PATIENCE and sys.stderr.isatty():
            print(f'{number} {what}', file=sys.stderr)
            self._told = now
