# SPDX-License-Identifier: Apache-2.0

"""Turn an exception into a line that shows no password.

The text of an exception is made by the code of somebody else, such as a
provider of hints or a database library. So the functions here never raise,
whatever this code does.
"""

import re
from typing import Final

from oslo_utils import strutils

from os_placement_plugins.text import printable

#: How many characters of an exception's text are shown.
SHOWN: Final = 1000
#: How many characters of a text are read. More than are shown, so that a
#: password is found whose end is not shown.
_READ: Final = 20 * SHOWN
#: The user and the password in a URL.
_CREDENTIALS: Final = re.compile('://.*@')
#: The libraries whose errors may quote the URL of a database, or a whole
#: statement.
_DATABASE_LIBRARIES: Final = {'sqlalchemy', 'oslo_db'}
#: The class of oslo.config whose errors quote a line of a file. It is named
#: here, so that this module does not import oslo.config.
_PARSE_ERROR: Final = 'ConfigFileParseError'


def text_of(exc: BaseException) -> str:
    """Return the text of an exception in one line; never raise.

    :param exc: the exception. Its text may come from a tenant, so a long text
        is cut, and control characters are escaped. If the text quotes a line
        of a configuration file, the text is cut before this line, because the
        line may contain a secret. Passwords are hidden in the forms that
        :func:`hide_passwords` knows. For the error of a database library,
        only the number of the error is returned.
    :returns: an empty text if there is none, or if it cannot be read.
    """
    try:
        if _is_of_database(exc):
            return _number_of(exc)
        text = ' '.join(str(exc)[:_READ].split())
    except BaseException:
        return ''
    if type(exc).__name__ == _PARSE_ERROR:
        text = re.split(r""": ['"]""", text, maxsplit=1)[0]
    # oslo.utils adds a traceback to the text of an ImportError.
    text = text.partition(" (['Traceback")[0]
    text = hide_passwords(text)
    if len(text) > SHOWN:
        text = f'{text[:SHOWN]}…'
    return printable(text)


def one_line(exc: BaseException) -> str:
    """Return the text of an exception, or its class if it has no text."""
    return text_of(exc) or type(exc).__name__


def named_line(exc: BaseException) -> str:
    """Return the class of an exception, and its text if it has one."""
    name = type(exc).__name__
    text = text_of(exc)
    if text:
        return f'{name}: {text}'
    return name


def _is_of_database(exc: BaseException) -> bool:
    return any(
        base.__module__.partition('.')[0] in _DATABASE_LIBRARIES
        for base in type(exc).__mro__
    )


def _number_of(exc: BaseException) -> str:
    """Return a text with the number of a database's error, if it has one.

    A number can show no password, and tells an operator the cause: with
    MariaDB, 1045 stands for a wrong password.
    """
    # oslo.db keeps the error of SQLAlchemy, which keeps that of the driver.
    of_library = getattr(exc, 'inner_exception', None) or exc
    of_driver = getattr(of_library, 'orig', None)
    arguments = getattr(of_driver, 'args', ())
    if arguments and isinstance(arguments[0], int):
        return f'error {arguments[0]} of the database'
    return ''


def hide_passwords(text: str) -> str:
    """Return a text without the passwords in it that have a usual form.

    The forms are the user and the password of a URL, and those of
    ``oslo_utils.strutils.mask_password``, such as ``password=``.
    """
    return strutils.mask_password(_CREDENTIALS.sub('://***@', text))
