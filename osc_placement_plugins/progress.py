# SPDX-License-Identifier: Apache-2.0

"""Show the progress of a slow command on a terminal."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

#: Seconds before a command first shows its progress, and between two lines
#: with the progress.
PATIENCE: Final = 2.0

_T = TypeVar('_T')


def progress(items: Iterable[_T], what: str) -> Iterator[_T]:
    """Yield items; if this takes long, show the progress on a terminal.

    :param what: the rest of a line after the number, such as "servers read".
    """
    last = time.monotonic()
    for number, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - last >= PATIENCE and sys.stderr.isatty():
            print(f'{number} {what}', file=sys.stderr)
            last = now
