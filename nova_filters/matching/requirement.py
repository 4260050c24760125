# SPDX-License-Identifier: Apache-2.0

"""The values that one extra spec or one piece of metadata accepts.

Text in, :class:`Requirement` out. A requirement is a set over all values and
*absent*. Text that makes no sense becomes a requirement that nothing meets,
with the problem; nothing here raises.

The words are those of the specification "Aggregate Instance Type Filter"
(sentinels: section "Description") and of Nova's extra spec operators.
"""

import functools
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from os_placement_plugins.quoting import quote

#: Any value, but the key must be present.
ANY: Final = '*'
#: The key may be absent.
OMITTABLE: Final = '~'
#: The key must be absent.
FORBIDDEN: Final = '!'
_SENTINELS: Final = frozenset({ANY, OMITTABLE, FORBIDDEN})
#: The first word of a value that lists alternatives.
OR: Final = '<or>'

#: The operators that read both sides as numbers.
NUMERIC: Final[Mapping[str, Callable[[float, float], bool]]] = {
    # Nova has always read a lone "=" as "at least".
    '=': operator.ge,
    '==': operator.eq,
    '!=': operator.ne,
    '>=': operator.ge,
    '<=': operator.le,
}
_TEXT: Final[Mapping[str, Callable[[str, str], bool]]] = {
    's==': operator.eq,
    's!=': operator.ne,
    's<': operator.lt,
    's<=': operator.le,
    's>': operator.gt,
    's>=': operator.ge,
    '<in>': operator.contains,
}
_ALL_IN: Final = '<all-in>'
#: Every first word that makes a text a predicate.
OPERATORS: Final = frozenset({*NUMERIC, *_TEXT, _ALL_IN})
#: Every first word that may give a text a meaning.
_SPECIAL: Final = _SENTINELS | OPERATORS | {OR}
#: Each of these words has one of these signs; other text is plain.
_SIGNS: Final = frozenset('*~!<=>')

#: The values that switch ``force_metadata_check`` on, in lower case.
_TRUE: Final = frozenset({'true', '1', 't', 'y', 'yes', 'on'})


def _number(text: str) -> float | None:
    """Return a text as a number; None if it is none."""
    try:
        return float(text)
    except ValueError:
        return None


class Predicate(NamedTuple):
    """An operator and its operands.

    :param operator: one of :data:`OPERATORS`.
    :param operands: the words after it, at least one; only ``<all-in>``
        reads more than the first, as in Nova.
    """

    operator: str
    operands: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Tell whether a value satisfies this predicate.

        :returns: False if a number is needed and the value is none.
        """
        if self.operator == _ALL_IN:
            return all(word in value for word in self.operands)
        compare_text = _TEXT.get(self.operator)
        if compare_text is not None:
            return compare_text(value, self.operands[0])
        left, right = _number(value), _number(self.operands[0])
        if left is None or right is None:
            return False
        return NUMERIC[self.operator](left, right)


class Requirement(NamedTuple):
    """A set over all values and *absent*.

    :param text: what the operator wrote.
    :param literals: the values that are named one by one.
    :param predicate: the operator expression, if the text is one.
    :param any_value: whether every present value is in the set (``*``).
    :param omittable: whether the key may be absent (``~``).
    :param forbidden: whether the key must be absent (``!``).
    :param problem: why nothing can ever meet the text; empty if it is sound.
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
        """Tell whether the set holds *absent* only: ``~`` or ``!``.

        Such a piece of metadata does not carry its key. A malformed piece
        carries its key.
        """
        return not (
            self.literals or self.any_value or self.predicate or self.problem
        )

    @property
    def accepts_absence(self) -> bool:
        """Tell whether an absent key is in the set."""
        return not self.problem and (self.omittable or self.forbidden)

    def accepts(self, values: Collection[str]) -> bool:
        """Tell whether one of some values is in the set."""
        return (
            not self.literals.isdisjoint(values)
            or self.any_value
            and bool(values)
            or self.predicate is not None
            and any(map(self.predicate.holds, values))
        )

    def overlaps(self, other: 'Requirement') -> bool:
        """Tell whether a flavor's set has something in common with a piece.

        Two predicates overlap if their words are equal. An aggregate offers
        absence with ``~`` only: the meaning of ``!`` depends on the other
        pieces, and the caller judges it.

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
        return (
            self.any_value
            or other.any_value
            or self.predicate is not None
            and self.predicate == other.predicate
        )


def literal(text: str) -> Requirement:
    """Return the requirement that accepts one text and nothing else.

    :param text: a value of an aggregate whose flag is off: there, sentinels
        and operators are plain text (use cases 5 and 6, second parts).
    """
    return Requirement(text, frozenset((text,)))


def _alternatives(text: str, words: list[str]) -> Requirement:
    """Return the requirement for a text that begins with ``<or>``."""
    # Nova reads words 1, 3, 5, ... and never looks at the words between.
    values = frozenset(words[1::2])
    if not values:
        return Requirement(text, problem=f'nothing follows {OR}')
    if FORBIDDEN in values and len(values) > 1:
        problem = f'{FORBIDDEN!r} excludes every other alternative'
        return Requirement(text, forbidden=True, problem=problem)
    return Requirement(
        text,
        literals=values - _SENTINELS,
        any_value=ANY in values,
        omittable=OMITTABLE in values,
        forbidden=FORBIDDEN in values,
    )


def _predicate(text: str, words: list[str]) -> Requirement:
    """Return the requirement for a text that begins with an operator."""
    name, *operands = words
    problem = ''
    if not operands:
        problem = f'{name!r} has no operand'
    elif name in NUMERIC and _number(operands[0]) is None:
        problem = f'{quote(operands[0])} is not a number'
    if problem:
        return Requirement(text, problem=problem)
    return Requirement(text, predicate=Predicate(name, tuple(operands)))


def parse(text: object) -> Requirement:
    """Return the requirement that a text states.

    :param text: the value of an extra spec, or one piece of metadata of an
        aggregate whose flag is on; operators can write anything there.
    :returns: the requirement, with a ``problem`` if nothing can meet it.
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        try:
            shown = str(text)
        except Exception:
            # Python refuses to write numbers of more than 4,300 digits.
            shown = f'({kind})'
        return Requirement(shown, problem=f'a {kind} is not a string')
    words = text.split()
    if not words or words[0] not in _SPECIAL:
        return literal(text)
    if words[0] == OR:
        return _alternatives(text, words)
    if words[0] in OPERATORS:
        return _predicate(text, words)
    return literal(text) if words[1:] else _alternatives(text, [OR, *words])


def is_plain(value: object) -> bool:
    """Tell whether a value is text without a sentinel or an operator."""
    return isinstance(value, str) and _SIGNS.isdisjoint(value)


def split(value: object, forced: bool) -> tuple[list[str], list[Requirement]]:
    """Return the alternatives that a metadata value offers.

    :param value: the value; its pieces are separated by commas, as Nova's
        filters read it. Nova's API removes a key by setting it to None.
    :param forced: whether the aggregate's flag is on; only then sentinels
        and operators have a meaning (use cases 5, 6).
    :returns: the pieces, either as plain text or as requirements.
    """
    if not isinstance(value, str):
        return [], [] if value is None else [parse(value)]
    texts = list(map(str.strip, value.split(',')))
    if forced and not is_plain(value):
        return [], list(map(parse, texts))
    return texts, []


def parse_metadata(value: object, forced: bool) -> tuple[Requirement, ...]:
    """Return what :func:`split` does, as one requirement per piece."""
    texts, pieces = split(value, forced)
    return (*map(literal, texts), *pieces)


def is_on(value: object) -> bool:
    """Tell whether a value of ``force_metadata_check`` switches it on.

    :param value: the metadata value; one of its pieces is enough:
        ``true``, ``1``, ``t``, ``y``, ``yes`` or ``on`` in any case
        ("Description").
    """
    return isinstance(value, str) and _is_true(value)


@functools.lru_cache(maxsize=32)
def _is_true(text: str) -> bool:
    """Tell whether one of the pieces of a text is true."""
    return any(piece.strip() in _TRUE for piece in text.lower().split(','))
