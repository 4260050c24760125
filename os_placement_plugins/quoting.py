# SPDX-License-Identifier: Apache-2.0

"""Show somebody else's text in a log line or a message."""

from typing import Final

#: How many characters of a text are shown.
SHOWN: Final = 60


def quote(text: object) -> str:
    """Return a text in quotes, cut to a length for a log line.

    :param text: what a tenant or an operator wrote, or its value. Control
        characters are escaped, so that nobody writes a log line of their own.
    """
    text = str(text)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + '…')
