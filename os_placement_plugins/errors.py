# SPDX-License-Identifier: Apache-2.0

"""Tell what went wrong in one line."""

import re
from typing import Final

from oslo_config import cfg

#: How many characters of an exception are shown.
SHOWN: Final = 1000


def one_line(exc: BaseException) -> str:
    """Return the text of an exception without its line breaks.

    :param exc: the exception, whose text may be a tenant's: it is cut, and
        control characters are escaped. The text of one that quotes a line of
        a configuration file ends before that line, which may hold a secret.
    """
    text = ' '.join(str(exc).split()) or type(exc).__name__
    if isinstance(exc, cfg.ConfigFileParseError):
        text = re.split(r""": ['"]""", text, maxsplit=1)[0]
    if len(text) > SHOWN:
        text = f'{text[:SHOWN]}…'
    return ''.join(c if c.isprintable() else repr(c)[1:-1] for c in text)
