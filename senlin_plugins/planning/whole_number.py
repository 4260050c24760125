# SPDX-License-Identifier: Apache-2.0

"""Read a whole number as users and webhooks write it."""

import contextlib


def read(value: object, field: str) -> int:
    """Return a whole number, also from text such as ``'3'``.

    Senlin itself cuts 2.7 down to 2, takes true for 1 and raises on a list.

    :param value: the number as somebody wrote it.
    :param field: where it was written.
    :raises ValueError: if the value is something else.
    """
    if isinstance(value, int | str) and not isinstance(value, bool):
        with contextlib.suppress(ValueError):
            return int(value)
    shown = str(value)[:20]
    raise ValueError(f"{field} is '{shown}': it must be a whole number.")
