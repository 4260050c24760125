# SPDX-License-Identifier: Apache-2.0

"""Read a whole number as users and webhooks write it."""


def read(value: object) -> int:
    """Return a whole number, also from text such as ``'3'``.

    Senlin itself cuts 2.7 down to 2 and takes true for 1.

    :param value: the number as somebody wrote it.
    :raises ValueError: if the value is something else.
    """
    if isinstance(value, int | str) and not isinstance(value, bool):
        return int(value)
    raise ValueError(value)
