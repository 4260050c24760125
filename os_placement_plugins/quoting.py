# SPDX-License-Identifier: Apache-2.0

"""Show somebody else's text in a log line or a message."""

from collections.abc import Sequence
from typing import Final

#: How many characters of a text are shown.
SHOWN: Final = 60
#: How many of several texts are shown.
LISTED: Final = 4


def quote(text: object) -> str:
    """Return a text in quotes, cut to a length for a log line.

    :param text: what a tenant or an operator wrote, or its value. Control
        characters are escaped, so that nobody writes a log line of their own.
    """
    text = str(text)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + '…')


def listed(texts: Sequence[str], most: int = LISTED, mark: str = ', ') -> str:
    """Return the first of some texts, and how many there are beside."""
    rest = len(texts) - most
    return mark.join([*texts[:most], *[f'{rest} more'] * (rest > 0)])
