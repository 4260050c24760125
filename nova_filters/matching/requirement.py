# SPDX-License-Identifier: Apache-2.0

"""What one extra spec, or one metadata value of an aggregate, asks for.

Pure: text in, :class:`Requirement` out. A requirement denotes a set over all
values and *absent*. Text that makes no sense becomes a requirement that
nothing meets and that says why; nothing here raises.

The words are those of the specification "Aggregate Instance Type Filter"
(sentinels: section "Description") and of Nova's own extra spec operators.
"""

import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Final

#: Section "Description": any value, if the key is present.
ANY: Final = '*'
#: Section "Description": the key may be omitted.
OMITTABLE: Final = '~'
#: Section "Description": the key must not be present.
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

#: Every first word that makes a value a predicate.
OPERATORS: Final = frozenset({*NUMERIC, *_TEXT, _ALL_IN})


#: What switches ``force_metadata_check`` on, in lower case.
_TRUE: Final = frozenset({'true', '1', 't', 'y', 'yes', 'on'})

#: How much of a value a message shows.
_SHOWN: Final = 60


def quote(text: str) -> str:
    """Return ``text`` in quotes, cut to what a log line can bear.

    :param text: operator input; control characters come out escaped.
    :returns: the quoted beginning of it.
    """
    if len(text) > _SHOWN:
        text = text[:_SHOWN] + '…'
    return repr(text)


def _number(text: str) -> float | None:
    """Return the number that ``text`` writes, or None if it writes none."""
    try:
        return float(text)
    except ValueError:
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class Predicate:
    """An operator and its operands, ready to be tried on values.

    :param operator: one of :data:`OPERATORS`.
    :param operands: the words after it, at least one; only ``<all-in>``
        reads more than the first, as in Nova.
    """

    operator: str
    operands: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Tell whether ``value`` satisfies this predicate.

        :param value: one value of the other side.
        :returns: the operator's answer; False where a number is needed and
            ``value`` is none.
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


@dataclasses.dataclass(frozen=True, slots=True)
class Requirement:
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
        """Tell whether the set holds *absent* and no value.

        Such a piece of metadata does not carry its key: ``~`` or ``!``.
        A text that nothing can meet does carry it.
        """
        return (
            not self.problem
            and not self.literals
            and self.predicate is None
            and not self.any_value
        )

    @property
    def accepts_absence(self) -> bool:
        """Tell whether an absent key is in the set."""
        return not self.problem and (self.omittable or self.forbidden)

    def overlaps(self, other: 'Requirement') -> bool:
        """Tell whether something lies in both sets.

        Two predicates are compared by their words: sets of numbers are not
        intersected. An aggregate offers absence with ``~`` only; what its
        ``!`` means depends on its other pieces, and the caller judges that.

        :param other: one piece of an aggregate's metadata on the same key.
        :returns: whether the flavor's and the aggregate's set can agree.
        """
        if self.problem or other.problem:
            return False
        if self.accepts_absence and other.omittable:
            return True
        if self.absence_only or other.absence_only:
            return False
        if self.any_value or other.any_value:
            return True
        if not self.literals.isdisjoint(other.literals):
            return True
        if self.predicate is not None:
            if self.predicate == other.predicate:
                return True
            if any(map(self.predicate.holds, other.literals)):
                return True
        return other.predicate is not None and any(
            map(other.predicate.holds, self.literals)
        )


def literal(text: str) -> Requirement:
    """Return the requirement that holds ``text`` and nothing else.

    :param text: a value of an aggregate whose flag is off; such values have
        no sentinels and no operators (use cases 5 and 6, second parts).
    :returns: the set of that one value.
    """
    return Requirement(text=text, literals=frozenset((text,)))


def _alternatives(text: str, words: list[str]) -> Requirement:
    """Return the requirement for a text that begins with ``<or>``."""
    # Nova reads words 1, 3, 5, ... and never looks at the words between.
    values = frozenset(words[1::2])
    forbidden = FORBIDDEN in values
    problem = '' if values else f'nothing follows {OR}'
    if forbidden and len(values) > 1:
        problem = f'{FORBIDDEN!r} excludes every other alternative'
    return Requirement(
        text,
        literals=frozenset() if problem else values - _SENTINELS,
        any_value=ANY in values,
        omittable=OMITTABLE in values,
        forbidden=forbidden,
        problem=problem,
    )


def _predicate(text: str, words: list[str]) -> Requirement:
    """Return the requirement for a text that begins with an operator."""
    operands = tuple(words[1:])
    if not operands:
        return Requirement(text, problem=f'{words[0]!r} has no operand')
    if words[0] in NUMERIC and _number(operands[0]) is None:
        return Requirement(
            text, problem=f'{quote(operands[0])} is not a number'
        )
    return Requirement(text, predicate=Predicate(words[0], operands))


def _as_text(value: object) -> str:
    """Return a text for what is none; some values have none."""
    try:
        return str(value)
    except Exception:
        # A whole number of more than 4,300 digits, for one.
        return f'({type(value).__name__})'


def parse(text: object) -> Requirement:
    """Return what ``text`` asks for.

    :param text: the value of an extra spec, or one piece of a metadata value
        of an aggregate whose flag is on; operator input that may hold
        anything.
    :returns: a requirement; one with a ``problem`` if nothing can meet it.
    """
    if not isinstance(text, str):
        return Requirement(
            _as_text(text), problem=f'a {type(text).__name__} is no string'
        )
    words = text.split()
    if len(words) == 1 and words[0] in _SENTINELS:
        return _alternatives(text, [OR, *words])
    if words and words[0] == OR:
        return _alternatives(text, words)
    if words and words[0] in OPERATORS:
        return _predicate(text, words)
    return literal(text)


def parse_metadata(value: object, forced: bool) -> tuple[Requirement, ...]:
    """Return the alternatives that a metadata value of an aggregate offers.

    :param value: the value; Nova's filters split it on commas, and so does
        this one.
    :param forced: whether the aggregate's ``force_metadata_check`` is on;
        only then do sentinels and operators mean anything (use cases 5, 6).
    :returns: one requirement per piece; none for None, because Nova's API
        removes a key by setting it to None.
    """
    if value is None:
        return ()
    if not isinstance(value, str):
        return (parse(value),)
    read = parse if forced else literal
    return tuple(read(piece.strip()) for piece in value.split(','))


def is_on(value: object) -> bool:
    """Tell whether a value of ``force_metadata_check`` switches it on.

    :param value: the metadata value; one true piece is enough.
    :returns: True for ``true``, ``1``, ``t``, ``y``, ``yes`` and ``on`` in
        any case; whatever else stands there leaves it off ("Description").
    """
    if not isinstance(value, str):
        return False
    text = value.lower()
    return text in _TRUE or not _TRUE.isdisjoint(
        map(str.strip, text.split(','))
    )
