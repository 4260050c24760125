# SPDX-License-Identifier: Apache-2.0

"""Prepare texts for logs, messages and terminals.

The texts come from tenants and operators, and from exceptions.
"""

import re
from collections.abc import Sequence
from typing import Final

#: How many characters of a text in quotes are shown.
QUOTED: Final = 60
#: How many texts of a list are shown.
LISTED: Final = 4
#: How many characters of an exception's text are shown.
SHOWN: Final = 1000

#: The user and the password in a URL.
_CREDENTIALS: Final = re.compile('://.*@')
#: The libraries whose errors may quote the URL of a database, or a whole
#: statement.
_DATABASE_LIBRARIES: Final = {'sqlalchemy', 'oslo_db'}
#: The class of oslo.config whose errors quote a line of a file. It is named
#: here, so that this module imports no library.
_PARSE_ERROR: Final = 'ConfigFileParseError'


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


def one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks.

    :param exc: the exception. Its text may come from a tenant, so a long text
        is cut, and control characters are escaped. If the text quotes a line
        of a configuration file, the text is cut before this line, because the
        line may contain a secret. The user and the password in a URL are
        hidden. For the error of a database library, only the class is
        returned.
    """
    name = type(exc).__name__
    if is_of_database(exc):
        return name
    text = ' '.join(str(exc).split()) or name
    if name == _PARSE_ERROR:
        text = re.split(r""": ['"]""", text, maxsplit=1)[0]
    # oslo.utils adds a traceback to the text of an ImportError.
    text = text.partition(" (['Traceback")[0]
    text = hide_credentials(text)
    if len(text) > SHOWN:
        text = f'{text[:SHOWN]}…'
    return printable(text)


def is_of_database(exc: BaseException) -> bool:
    """Tell whether an error comes from a database library."""
    return any(
        base.__module__.partition('.')[0] in _DATABASE_LIBRARIES
        for base in type(exc).__mro__
    )


def hide_credentials(text: str) -> str:
    """Return a text without the user and the password of a URL.

    An option may refer to the URL of a database, by mistake.
    """
    return _CREDENTIALS.sub('://***@', text)
