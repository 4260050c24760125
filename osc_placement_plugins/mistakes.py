# SPDX-License-Identifier: Apache-2.0

"""Find mistakes in a single key or value.

The functions take keys and values, and yield findings.
:mod:`nova_filters.matching.requirement` finds invalid values. The other
findings are about valid texts that are almost certainly mistakes.

The *sentinels* of the filter are ``*``, ``~`` and ``!``. The *flags* are the
metadata keys ``force_metadata_check`` and ``prefer_metadata_check``.
"""

import difflib
import enum
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Self

from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import FLAGS, SCOPE
from os_placement_plugins.text import quote


class Severity(enum.StrEnum):
    """How bad a finding is."""

    #: Hosts or requests are refused by mistake.
    ERROR = 'error'
    #: The text is valid, but probably a mistake.
    WARNING = 'warning'


#: The severities, the worst first.
SEVERITIES: Final = tuple(Severity)


class FindingCode(enum.StrEnum):
    """What is wrong, and how bad it is. The names of codes never change."""

    severity: Severity

    def __new__(cls, name: str, severity: Severity = Severity.ERROR) -> Self:
        """Create a code; its default severity is error."""
        code = str.__new__(cls, name)
        code._value_ = name
        code.severity = severity
        return code

    #: A value with a sentinel, ``<or>`` or an operator that nothing can meet.
    MALFORMED_VALUE = 'malformed-value'
    #: ``<or>`` is not the first word of a value, or is missing further on.
    MISPLACED_OR = 'misplaced-or', Severity.WARNING
    #: A word that looks like an operator, but is read as plain text.
    UNKNOWN_OPERATOR = 'unknown-operator', Severity.WARNING
    #: A path that a shell has inserted for an unquoted ``~``.
    EXPANDED_TILDE = 'expanded-tilde', Severity.WARNING
    #: A key that is similar to a flag, such as ``force_metadata_check``.
    MISSPELLED_FLAG = 'misspelled-flag', Severity.WARNING
    #: A value of a flag that means neither on nor off. The flag is off.
    UNCLEAR_FLAG = 'unclear-flag', Severity.WARNING
    #: A flag of an aggregate that has no keys to demand.
    FLAG_WITHOUT_DEMAND = 'flag-without-demand', Severity.WARNING
    #: A flag in a flavor, where the flag has no effect.
    FLAG_IN_FLAVOR = 'flag-in-flavor', Severity.WARNING
    #: A comma in a flavor's value. Aggregates cannot offer such a value.
    COMMA_IN_FLAVOR = 'comma-in-flavor'
    #: White space around a key, or around a flavor's value. Aggregates cannot
    #: offer such a value.
    OUTER_SPACE = 'outer-space'
    #: No aggregate has a key that a flavor needs.
    KEY_NOT_OFFERED = 'key-not-offered'
    #: Aggregates have the key, but no value of the key matches.
    VALUE_NOT_OFFERED = 'value-not-offered'
    #: No aggregate meets what a flavor prefers or avoids.
    PREFERENCE_NOT_MET = 'preference-not-met', Severity.WARNING
    #: A namespace that is similar to the filter's scope, or the scope behind
    #: another prefix. The filter does not read such a key as a scoped key.
    MISSPELLED_SCOPE = 'misspelled-scope', Severity.WARNING
    #: A namespace that is similar to the namespace of a preference.
    MISSPELLED_PREFERENCE = 'misspelled-preference', Severity.WARNING
    #: Each extra spec is met by some aggregate, but no host that is up takes
    #: the flavor.
    NO_HOST = 'no-host'
    #: No flavor meets what an aggregate demands.
    CLOSED_AGGREGATE = 'closed-aggregate', Severity.WARNING
    #: Demands that exclude each other, in one aggregate or on one host.
    CONTRADICTORY_DEMANDS = 'contradictory-demands'
    #: A sentinel, ``<or>`` or an operator in an aggregate whose flags are off.
    SENTINEL_WITHOUT_FLAG = 'sentinel-without-flag', Severity.WARNING
    #: The filter's scope in an aggregate whose flags are off.
    SCOPE_WITHOUT_FLAG = 'scope-without-flag', Severity.WARNING


#: The beginning of words that look like operators of Nova.
_LIKE_OPERATOR: Final = re.compile('s?[<>=!]')
_HOME: Final = re.compile(r'^(/root|/home/[^/\s]+|/Users/[^/\s]+)$')
_OFF: Final = ('false', '0', 'f', 'n', 'no', 'off', '')
#: The namespaces that the filter and the weigher read, by their letters alone.
_NAMESPACES: Final = {
    'aggregateinstanceextraspecs': SCOPE,
    'aggregatepreferred': 'aggregate_preferred',
    'aggregateavoided': 'aggregate_avoided',
}
#: The factor at the end of the namespace of a preference.
_FACTOR: Final = re.compile(r'\d+$')
#: The similarity (0 to 1) from which a key or a namespace counts as a
#: typing error.
_ALIKE: Final = 0.8


class Finding(NamedTuple):
    """A mistake, or a hint for the operator.

    The functions of this module do not set ``owner``, ``name``, ``key`` and
    ``remedy``. Their caller knows these fields.

    :param text: what is wrong.
    :param owner: what has the mistake: ``flavor``, ``aggregate`` or ``host``.
    :param name: the name of the flavor, the aggregate or the host.
    :param key: the key as the flavor or the aggregate has it.
    :param meant_key: the key that was probably meant; empty if the key is
        right, or if nothing is known.
    :param meant_value: the same for the value of an extra spec.
    :param remedy: how to correct the mistake, for copying; empty if no remedy
        is known to do no harm.
    """

    code: FindingCode
    text: str
    owner: str = ''
    name: str = ''
    key: str = ''
    meant_key: str = ''
    meant_value: str = ''
    remedy: str = ''


def malformed(need: requirement.Requirement) -> Iterator[Finding]:
    """Find mistakes in a value that may have sentinels or operators."""
    text = need.text
    words, shown = text.split(), quote(text)
    if need.problem:
        problem = f'{shown}: {need.problem}'
        yield Finding(FindingCode.MALFORMED_VALUE, problem)
    elif words[:1] == [requirement.OR]:
        if any(word != requirement.OR for word in words[::2]):
            yield Finding(
                FindingCode.MISPLACED_OR,
                f'{shown}: every second word is skipped; a value in <or> is '
                'one word',
            )
    elif need.predicate is None and requirement.OR in text:
        meant = ''
        if {*words[1::2]} == {requirement.OR}:
            meant = either(words[::2])
        yield Finding(
            FindingCode.MISPLACED_OR,
            f'{shown} is read as plain text: {requirement.OR} must be the '
            'first word',
            meant_value=meant,
        )
    elif need.literals and _LIKE_OPERATOR.match(text.strip()):
        yield Finding(
            FindingCode.UNKNOWN_OPERATOR,
            f'{shown} is read as plain text: it begins with no operator of '
            'Nova that a space follows',
        )


def either(values: Iterable[str]) -> str:
    """Return the extra spec that accepts each of these values.

    :returns: the extra spec; empty if one of the values is not one word.
    """
    words = []
    for value in values:
        if value.split() != [value] or value == requirement.OR:
            return ''
        words += [requirement.OR, value]
    return ' '.join(words)


def expanded(text: str) -> Iterator[Finding]:
    """Find a path that a shell has inserted for an unquoted tilde."""
    if any(_HOME.match(word) for word in re.split(r'[\s,]+', text)):
        words = [_HOME.sub(requirement.OMITTABLE, w) for w in text.split()]
        yield Finding(
            FindingCode.EXPANDED_TILDE,
            f'{quote(text)}: a shell makes this of an unquoted ~',
            meant_value=' '.join(words),
        )


def misspelled_key(key: str) -> Iterator[Finding]:
    """Find a key that is nearly a flag, or has white space around it."""
    unscoped = key.removeprefix(SCOPE)
    normal = unscoped.lower().replace('-', '_').strip()
    for near in difflib.get_close_matches(normal, FLAGS, 1, _ALIKE):
        yield Finding(
            FindingCode.MISSPELLED_FLAG,
            f'{quote(key)} is a key like any other, and not the flag {near}',
        )
    stripped = unscoped.strip()
    if unscoped != stripped:
        scope = key.removesuffix(unscoped)
        yield Finding(
            FindingCode.OUTER_SPACE,
            f'{quote(key)} has white space around it, so it is another key '
            f'than {quote(scope + stripped)}',
            meant_key=scope + stripped,
        )


def misspelled_namespace(name: str) -> Iterator[Finding]:
    """Find a key whose namespace is nearly one that has an effect."""
    if name.startswith(SCOPE) or inputs.PREFERENCE.fullmatch(name):
        return
    if SCOPE in name:
        yield _misspelled_scope(name, name.rpartition(SCOPE)[2])
        return
    namespace, colon, key = name.partition(':')
    letters = re.sub('[^a-z]', '', namespace.lower())
    near = difflib.get_close_matches(letters, _NAMESPACES, 1, _ALIKE)
    if not colon or not near:
        return
    meant = _NAMESPACES[near[0]]
    if meant == SCOPE:
        yield _misspelled_scope(name, key)
        return
    factor = _FACTOR.search(namespace)
    if factor:
        meant += f'.{factor[0]}'
    yield Finding(
        FindingCode.MISSPELLED_PREFERENCE,
        f'{quote(name)} is no preference, and has no effect; a preference '
        f'begins with {meant!r}',
        meant_key=f'{meant}:{key}',
    )


def _misspelled_scope(name: str, key: str) -> Finding:
    return Finding(
        FindingCode.MISSPELLED_SCOPE,
        f'{quote(name)} is not read as {quote(key)}, because it does not '
        f'begin with {SCOPE!r}',
        meant_key=f'{SCOPE}{key}',
    )


def alike(text: str, texts: Iterable[str]) -> list[str]:
    """Return other texts that differ only in outer white space or in case.

    :param text: a key or a value.
    :param texts: the keys or values to compare with.
    """
    folded = text.strip().lower()
    others = {*texts} - {text}
    return sorted(t for t in others if t.strip().lower() == folded)


def unmatchable(need: requirement.Requirement) -> Iterator[Finding]:
    """Find a value of a flavor that no metadata can match."""
    operands = set(need.literals)
    if need.predicate and need.predicate.operator in ('s==', '<in>'):
        operands.add(need.predicate.operands[0])
    shown = quote(need.text)
    if any(',' in operand for operand in operands):
        yield Finding(
            FindingCode.COMMA_IN_FLAVOR,
            f"{shown}: aggregates' values are split at commas, so none of "
            'them holds one',
            meant_value=_without_commas(need),
        )
    if any(operand != operand.strip() for operand in operands):
        yield Finding(
            FindingCode.OUTER_SPACE,
            f"{shown}: aggregates' values have no white space around them",
            meant_value=need.text.strip(),
        )


def _without_commas(need: requirement.Requirement) -> str:
    """Return the value with a comma read as "or"; empty if unclear."""
    if need.predicate is not None:
        return ''
    alternatives = [need.text]
    words = need.text.split()
    if words[:1] == [requirement.OR]:
        alternatives = words[1::2]
    return either(requirement.split(','.join(alternatives)))


def flag(name: str, text: str) -> Iterator[Finding]:
    """Find a flag with a scope, or with a value neither on nor off."""
    if name != name.removeprefix(SCOPE):
        yield Finding(
            FindingCode.MISSPELLED_FLAG, 'the flag has no effect with a scope'
        )
    elif not requirement.is_on(text) and text.strip().lower() not in _OFF:
        yield Finding(
            FindingCode.UNCLEAR_FLAG, f'{quote(text)} leaves the flag off'
        )
