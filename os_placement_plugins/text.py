# SPDX-License-Identifier: Apache-2.0

"""Prepare texts for logs, messages and terminals.

The texts come from tenants and operators.
"""

from collections.abc import Sequence
from typing import Final

#: How many characters of a text in quotes are shown.
QUOTED: Final = 60
#: How many texts of a list are shown.
LISTED: Final = 4


def quote(text: object) -> str:
    """Return a text in quotes, cut to :data:`QUOTED` characters.

    :param text: a text or value from a tenant or an operator. Control
        characters are escaped, so that a text cannot add a line to the log.
    """
    shown = str(text)
    if len(shown) > QUOTED:
        shown = shown[:QUOTED] + '…'
    return repr(shown)


def printable(text: str) -> str:
    """Return a text with its control characters escaped.

    Characters that change the direction of a text are escaped, too. With such
    characters, a tenant could make a terminal show a forged output.
    """
    if text.isprintable():
        return text
    characters = []
    for character in text:
        if not character.isprintable():
            character = repr(character)[1:-1]
        characters.append(character)
    return ''.join(characters)


def listed(texts: Sequence[str], most: int = LISTED, mark: str = ', ') -> str:
    """Return the first of some texts, and the number of the others."""
    parts = [*texts[:most]]
    rest = len(texts) - most
    if rest > 0:
        parts.append(f'{rest} more')
    return mark.join(parts)
