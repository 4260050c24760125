# SPDX-License-Identifier: Apache-2.0

"""Convert errors to one line of text."""

import contextlib
import re
from collections.abc import Iterator
from typing import Final

from oslo_config import cfg

from os_placement_plugins.quoting import printable

#: How many characters of an exception are shown.
SHOWN: Final = 1000

#: Whose errors may quote the URL of a database, and all of a statement.
_DATABASE_LIBRARIES: Final = {'sqlalchemy', 'oslo_db'}


class DatabaseError(Exception):
    """A database could not be asked.

    The text is the class of the cause: the cause itself may hold a password.
    """


@contextlib.contextmanager
def of_database() -> Iterator[None]:
    """Replace each error of a database by its class.

    If a password in a URL is not encoded, SQLAlchemy reads it as a host or a
    port. So an error of any kind may quote it.

    :raises DatabaseError: instead.
    """
    try:
        yield
    except DatabaseError:
        raise
    except Exception as exc:
        # A traceback would show the cause.
        raise DatabaseError(_class(exc)) from None


def is_of_database(exc: BaseException) -> bool:
    """Tell whether an error comes from a library that asks databases."""
    return isinstance(exc, DatabaseError) or any(
        base.__module__.partition('.')[0] in _DATABASE_LIBRARIES
        for base in type(exc).__mro__
    )


def one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks.

    :param exc: the exception, whose text may be a tenant's: it is cut, and
        control characters are escaped. If the text quotes a line of a
        configuration file, it is cut before this line, which may contain a
        secret. For a database's error, only the class is returned.
    """
    if is_of_database(exc) and not isinstance(exc, DatabaseError):
        return _class(exc)
    text = ' '.join(str(exc).split()) or _class(exc)
    if isinstance(exc, cfg.ConfigFileParseError):
        text = re.split(r""": ['"]""", text, maxsplit=1)[0]
    if len(text) > SHOWN:
        text = f'{text[:SHOWN]}…'
    return printable(text)


def _class(exc: BaseException) -> str:
    return type(exc).__name__
