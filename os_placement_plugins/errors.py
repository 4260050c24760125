# SPDX-License-Identifier: Apache-2.0

"""Tell what went wrong in one line."""

import re

from oslo_config import cfg


def one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks.

    :param exc: the exception. The text of one that quotes a line of a
        configuration file ends before that line, which may hold a secret.
    """
    text = ' '.join(str(exc).split()) or type(exc).__name__
    if isinstance(exc, cfg.ConfigFileParseError):
        return re.split(r""": ['"]""", text, maxsplit=1)[0]
    return text
