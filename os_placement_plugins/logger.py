# SPDX-License-Identifier: Apache-2.0

"""Log lines that show no password of an exception.

oslo.log appends the exception that is being handled to each WARNING and ERROR,
also if the line does not ask for it. The text of an exception may contain a
password.
"""

import logging
import sys
from typing import Any

from os_placement_plugins.errors import text_of


class Logger(logging.LoggerAdapter[logging.Logger]):
    """A logger that adds no exception to a line, unless the line asks for it.

    If the line asks for the exception, the text of the exception is made safe.
    """

    def log(
        self,
        level: int,
        msg: object,
        *args: object,
        exc_info: Any = None,
        **options: Any,
    ) -> None:
        """Log a line.

        :param exc_info: the exception to show with its traceback; true for
            the exception that is being handled, if there is one.
        """
        if not isinstance(exc_info, BaseException) and exc_info:
            exc_info = sys.exc_info()[1]
        if isinstance(exc_info, BaseException):
            options['exc_info'] = _safe_copy(exc_info)
        try:
            # _get_error_summary() of oslo.log asks Python for the exception
            # that is being handled, and leaves out each ValueError. It asks
            # when the line is formatted, so no filter can change the answer.
            raise ValueError
        except ValueError:
            # The line comes from the caller, not from here.
            super().log(level, msg, *args, stacklevel=2, **options)


def get_logger(name: str) -> Logger:
    """Return the logger of a module."""
    return Logger(logging.getLogger(name))


def _safe_copy(exc: BaseException) -> BaseException:
    """Return an exception with the same traceback and a safe text.

    The exceptions that led to this exception are left out.
    """
    original = type(exc)
    namespace = {'__module__': original.__module__}
    same_name = type(original.__name__, (Exception,), namespace)
    copied: BaseException = same_name(text_of(exc))
    return copied.with_traceback(exc.__traceback__)
