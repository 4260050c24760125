# SPDX-License-Identifier: Apache-2.0

"""Read and check values from users, specs, metadata and webhooks.

Each function returns the value, or raises :class:`WrongValue` with the field,
the value and the accepted values.
"""

import contextlib
import re
from collections.abc import Iterable

#: The number of characters of a value that a message shows.
SHOWN = 20
#: A whole number as text. int() also takes digits of other scripts, and "1_0".
_NUMBER = re.compile(r'\s*[+-]?[0-9]+\s*')


class WrongValue(ValueError):
    """A value cannot be used; the text is shown to the user."""


def parse_number(value: object, field: str, least: int | None = None) -> int:
    """Return a whole number, also from text such as ``'3'``.

    Senlin itself would convert 2.7 to 2 and true to 1, and fail on a list.

    :param value: the number as the user wrote it.
    :param field: the name of the field that contains the number.
    :param least: the smallest number that is accepted.
    :raises WrongValue: if the value is not a whole number, or is too small.
    """
    number = None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        # Python refuses to convert thousands of digits.
        with contextlib.suppress(ValueError):
            number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    if number is None:
        raise WrongValue(
            f"{field} is '{str(value)[:SHOWN]}': it must be a whole number."
        )
    if least is not None and number < least:
        raise WrongValue(
            f"{field} is '{str(value)[:SHOWN]}': it must be {least} or "
            'greater.'
        )
    return number


def parse_choice(value: object, field: str, allowed: Iterable[str]) -> str:
    """Return the value if it is one of the allowed texts.

    :param value: the value as the user wrote it.
    :param field: the name of the field that contains the value.
    :raises WrongValue: if the value is not one of the allowed texts.
    """
    # This check refuses a list. Senlin's own constraint would accept a list of
    # allowed values.
    choices = [*allowed]
    if value not in choices:
        raise WrongValue(
            f"{field} is '{value}': it must be one of {', '.join(choices)}."
        )
    return str(value)


def parse_ids(value: object, field: str) -> list[str]:
    """Return the value if it is a list of node ids.

    :param value: the ids as the user wrote them.
    :param field: the name of the field that contains the ids.
    :raises WrongValue: if the value is not a list of texts.
    """
    if isinstance(value, list) and all(isinstance(id_, str) for id_ in value):
        return value
    raise WrongValue(
        f"The value of {field} is '{value}': it must be a list of node ids."
    )
