# SPDX-License-Identifier: Apache-2.0

"""Convert errors to one line of text."""

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from oslo_config import cfg

from os_placement_plugins.quoting import printable

#: How many characters of an exception's text are shown.
SHOWN: Final = 1000

#: The user and the password in a URL.
_CREDENTIALS: Final = re.compile('://.*@')

#: The libraries whose errors may quote the URL of a database, or a whole
#: statement.
_DATABASE_LIBRARIES: Final = {'sqlalchemy', 'oslo_db'}


class DatabaseError(Exception):
    """A database cannot be read.

    If another exception is the cause, the text names only the class of this
    exception, because the exception's own text may contain a password.
    """


@contextlib.contextmanager
def of_database() -> Iterator[None]:
    """Replace each error by a DatabaseError that names the error's class.

    If the password in a URL is not encoded, SQLAlchemy reads a part of the
    password as a host or a port. So an error of any class may quote this part.

    :raises DatabaseError: instead of any other error.
    """
    try:
        yield
    except DatabaseError:
        raise
    except Exception as exc:
        # Without "from None", a traceback would show the original error.
        raise DatabaseError(_class(exc)) from None


def is_of_database(exc: BaseException) -> bool:
    """Tell whether an error comes from a database or a database library."""
    return isinstance(exc, DatabaseError) or any(
        base.__module__.partition('.')[0] in _DATABASE_LIBRARIES
        for base in type(exc).__mro__
    )


def one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks.

    :param exc: the exception. Its text may come from a tenant, so a long text
        is cut, and control characters are escaped. If the text quotes a line
        of a configuration file, the text is cut before this line, because the
        line may contain a secret. The user and the password in a URL are
        hidden. For the error of a database library, only the class is
        returned.
    """
    if is_of_database(exc) and not isinstance(exc, DatabaseError):
        return _class(exc)
    text = ' '.join(str(exc).split()) or _class(exc)
    if isinstance(exc, cfg.ConfigFileParseError):
        text = re.split(r""": ['"]""", text, maxsplit=1)[0]
    # oslo.utils adds a traceback to the text of an ImportError.
    text = text.partition(" (['Traceback")[0]
    text = hide_credentials(text)
    if len(text) > SHOWN:
        text = f'{text[:SHOWN]}…'
    return printable(text)


def hide_credentials(text: str) -> str:
    """Return a text without the user and the password of a URL.

    An option may refer to the URL of a database, by mistake.
    """
    return _CREDENTIALS.sub('://***@', text)


def _class(exc: BaseException) -> str:
    return type(exc).__name__
