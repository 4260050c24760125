# SPDX-License-Identifier: Apache-2.0

"""The values that one extra spec or one piece of metadata accepts.

The functions convert a text to a :class:`Requirement`, and never raise. The
requirement of an invalid text has a ``problem``, and accepts no value.

The value of a metadata key is a list of pieces, separated by commas. Sentinels
are "*", "~" and "!", as in the section "Description" of the specification
"Aggregate Instance Type Filter". Operators are those of Nova's extra specs.
"""

import functools
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from os_placement_plugins.text import quote

#: Any value, but the key must be present.
ANY: Final = '*'
#: The key may be absent.
OMITTABLE: Final = '~'
#: The key must be absent.
FORBIDDEN: Final = '!'
_SENTINELS: Final = {ANY, OMITTABLE, FORBIDDEN}
#: The first word of a value that lists alternatives.
OR: Final = '<or>'
_ALL_IN: Final = '<all-in>'
#: For each operator, the type of both sides and the comparison.
_OPERATORS: Final[Mapping[str, tuple[Callable[[str], Any], Any]]] = {
    # Nova has always read a lone "=" as "at least".
    '=': (float, operator.ge),
    '==': (float, operator.eq),
    '!=': (float, operator.ne),
    '>=': (float, operator.ge),
    '<=': (float, operator.le),
    's==': (str, operator.eq),
    's!=': (str, operator.ne),
    's<': (str, operator.lt),
    's<=': (str, operator.le),
    's>': (str, operator.gt),
    's>=': (str, operator.ge),
    '<in>': (str, operator.contains),
    _ALL_IN: (str, operator.contains),
}
OPERATORS: Final = _OPERATORS.keys()
#: Each sentinel and operator contains one of these characters. A text without
#: them is plain.
_SIGNS: Final = frozenset('*~!<=>')
#: The values that switch a flag on, in lower case.
_TRUE: Final = {'true', '1', 't', 'y', 'yes', 'on'}


class Predicate(NamedTuple):
    """An operator and its operands.

    :param operator: one of :data:`OPERATORS`.
    :param operands: the words after the operator, at least one. As in Nova,
        only ``<all-in>`` reads more than the first word.
    """

    operator: str
    operands: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Tell whether a value satisfies this predicate.

        :returns: False if the operator needs a number and the value is not a
            number.
        """
        read, compare = _OPERATORS[self.operator]
        operands = self.operands
        if self.operator != _ALL_IN:
            operands = operands[:1]
        try:
            left = read(value)
            for operand in operands:
                if not compare(left, read(operand)):
                    return False
        except ValueError:
            return False
        return True


class Requirement(NamedTuple):
    """The set of values that an extra spec or a piece accepts.

    If the set contains *absent*, the key may be missing.

    :param text: the text in the extra spec or the metadata.
    :param literals: the values that are named one by one.
    :param predicate: the operator expression, if the text is one.
    :param any_value: whether every present value is in the set (``*``).
    :param omittable: whether the key may be absent (``~``).
    :param forbidden: whether the key must be absent (``!``).
    :param problem: why no value can meet the text; empty if the text is valid.
    """

    text: str
    literals: frozenset[str] = frozenset()
    predicate: Predicate | None = None
    any_value: bool = False
    omittable: bool = False
    forbidden: bool = False
    problem: str = ''

    @property
    def absence_only(self) -> bool:
        """Tell whether the set contains only *absent*: ``~`` or ``!``.

        An aggregate with only such pieces for a key counts as lacking the key.
        An aggregate with a malformed piece counts as having the key.
        """
        return not (
            self.literals or self.any_value or self.predicate or self.problem
        )

    @property
    def accepts_absence(self) -> bool:
        """Tell whether an absent key is in the set."""
        return not self.problem and (self.omittable or self.forbidden)

    def accepts(self, values: Collection[str]) -> bool:
        """Tell whether at least one of the values is in the set."""
        if not self.literals.isdisjoint(values):
            return True
        if self.any_value and values:
            return True
        if self.predicate is None:
            return False
        return any(map(self.predicate.holds, values))

    def overlaps(self, other: 'Requirement') -> bool:
        """Tell whether an extra spec and a piece both accept some value.

        Two operator expressions overlap only if they are equal. A piece ``~``
        accepts that the key is absent. The meaning of a piece ``!`` depends on
        the other pieces, so ``statements.check_demand()`` handles it.

        :param other: one piece of an aggregate's metadata on the same key.
        """
        if self.accepts(other.literals) or other.accepts(self.literals):
            return True
        if self.problem or other.problem:
            return False
        if self.accepts_absence and other.omittable:
            return True
        if self.absence_only or other.absence_only:
            return False
        alike = (
            self.predicate is not None and self.predicate == other.predicate
        )
        return self.any_value or other.any_value or alike


def literal(text: str) -> Requirement:
    """Return the requirement that accepts one text and nothing else.

    :param text: a value of an aggregate without the flag. In such a value,
        sentinels and operators are plain text (use cases 5 and 6, second
        parts).
    """
    return Requirement(text, frozenset((text,)))


def parse(text: object) -> Requirement:
    """Return the requirement that a text expresses.

    :param text: the value of an extra spec, or one piece of the metadata of an
        aggregate with a flag. Any object is allowed.
    :returns: the requirement, with a ``problem`` if no value can meet it.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        return Requirement(f'({kind})', problem=f'a {kind} is not a string')
    first, *words = text.split() or ['']
    if first in OPERATORS:
        return _predicate(text, first, words)
    if first in _SENTINELS and not words:
        words = [first]
    elif first != OR:
        return literal(text)
    # After "<or>", Nova reads words 1, 3, 5, ... and ignores words 2, 4, ...
    values = frozenset(words[::2])
    problem = ''
    if not values:
        problem = f'nothing follows {OR}'
    elif FORBIDDEN in values and len(values) > 1:
        problem = f'{FORBIDDEN!r} excludes every other alternative'
        values = frozenset((FORBIDDEN,))
    return Requirement(
        text,
        literals=values - _SENTINELS,
        any_value=ANY in values,
        omittable=OMITTABLE in values,
        forbidden=FORBIDDEN in values,
        problem=problem,
    )


def _predicate(text: str, name: str, operands: list[str]) -> Requirement:
    """Return the requirement for a text that begins with an operator."""
    if not operands:
        return Requirement(text, problem=f'{name!r} has no operand')
    try:
        _OPERATORS[name][0](operands[0])
    except ValueError:
        problem = f'{quote(operands[0])} is not a number'
        return Requirement(text, problem=problem)
    return Requirement(text, predicate=Predicate(name, tuple(operands)))


def is_plain(text: str) -> bool:
    """Tell whether a text has neither sentinels nor operators."""
    return _SIGNS.isdisjoint(text)


def split(value: str) -> list[str]:
    """Return the pieces of a metadata value, split as Nova splits them."""
    return [*map(str.strip, value.split(','))]


@functools.lru_cache(maxsize=32)
def is_on(value: str | None) -> bool:
    """Tell whether a flag such as ``force_metadata_check`` is on.

    :param value: the value of the flag. The flag is on if one of its pieces is
        ``true``, ``1``, ``t``, ``y``, ``yes`` or ``on``, in upper or lower
        case ("Description").
    """
    return not _TRUE.isdisjoint(split((value or '').lower()))
