# SPDX-License-Identifier: Apache-2.0

"""Mistakes in a single key or value, of a flavor or of an aggregate.

:mod:`nova_filters.matching.requirement` finds invalid values. The other
findings are about valid texts that are probably mistakes.

The *sentinels* of the filter are ``*``, ``~`` and ``!``. The *flags* are the
metadata keys ``force_metadata_check`` and ``prefer_metadata_check``.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from nova_filters.matching import inputs
from nova_filters.matching.inputs import FLAGS, SCOPE
from nova_filters.matching.requirement import OR, Requirement
from os_placement_plugins.text import quote
from osc_placement_plugins.lint.findings import Finding, FindingCode

#: The beginning of words that look like operators of Nova.
_LIKE_OPERATOR: Final = re.compile('s?[<>=!]')
_HOME: Final = re.compile(r'^(/root|/home/[^/\s]+|/Users/[^/\s]+)$')
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
_SIMILAR: Final = 0.8


def find_in_value(name: str, value: Requirement) -> Iterator[Finding]:
    """Find mistakes in a value that may have sentinels or operators."""
    text = value.text
    words, shown = text.split(), quote(text)
    if value.problem:
        problem = f'{shown}: {value.problem}'
        yield Finding(FindingCode.MALFORMED_VALUE, name, problem)
        return
    problem = ''
    if words[:1] == [OR]:
        if any(word != OR for word in words[::2]):
            problem = (
                'every second word is skipped; a value in <or> is one word'
            )
    elif value.predicate is None and OR in text:
        problem = f'read as plain text, because {OR} is not the first word'
    elif value.literals and _LIKE_OPERATOR.match(text.strip()):
        problem = (
            'read as plain text, because it begins with no operator of Nova '
            'that a space follows'
        )
    if problem:
        yield Finding(FindingCode.MISREAD_VALUE, name, f'{shown}: {problem}')


def find_expanded_tilde(name: str, text: str) -> Iterator[Finding]:
    """Find a path that a shell has inserted for an unquoted tilde."""
    if any(_HOME.match(word) for word in re.split(r'[\s,]+', text)):
        problem = f'{quote(text)}: a shell makes this of an unquoted ~'
        yield Finding(FindingCode.EXPANDED_TILDE, name, problem)


def find_misspelled_flag(name: str) -> Iterator[Finding]:
    """Find a key that is nearly a flag."""
    key = name.removeprefix(SCOPE)
    normal = key.lower().replace('-', '_').strip()
    for near in difflib.get_close_matches(normal, FLAGS, 1, _SIMILAR):
        yield Finding(
            FindingCode.MISSPELLED_FLAG,
            name,
            f'{quote(name)} is a key like any other, and not the flag {near}. '
            'It is right if another program reads it',
        )


def find_outer_space(name: str) -> Iterator[Finding]:
    """Find a key that has white space around it."""
    key = name.removeprefix(SCOPE)
    if key != key.strip():
        meant = name.removesuffix(key) + key.strip()
        yield Finding(
            FindingCode.OUTER_SPACE,
            name,
            f'{quote(name)} has white space around it, so it is another key '
            f'than {quote(meant)}',
        )


def find_misspelled_namespace(name: str) -> Iterator[Finding]:
    """Find a key whose namespace is nearly one that has an effect."""
    meant = correct_namespace(name)
    if meant:
        yield Finding(
            FindingCode.NAMESPACE_WITHOUT_EFFECT,
            name,
            f'{quote(name)} is not read as {quote(meant)}. It is right if '
            'another program reads it',
        )


def correct_namespace(name: str) -> str:
    """Return the name with the namespace that was probably meant.

    :returns: the name; empty if the namespace is not nearly one that has an
        effect.
    """
    if name.startswith(SCOPE) or inputs.PREFERENCE.fullmatch(name):
        return ''
    namespace, colon, key = name.partition(':')
    letters = re.sub('[^a-z]', '', namespace.lower())
    near = difflib.get_close_matches(letters, _NAMESPACES, 1, _SIMILAR)
    if SCOPE in name:
        return SCOPE + name.rpartition(SCOPE)[2]
    if not colon or not near:
        return ''
    if _NAMESPACES[near[0]] == SCOPE:
        return SCOPE + key
    meant = _NAMESPACES[near[0]]
    factor = _FACTOR.search(namespace)
    if factor:
        meant += f'.{factor[0]}'
    return f'{meant}:{key}'


def find_similar(text: str, texts: Iterable[str]) -> list[str]:
    """Return other texts that differ only in outer white space or in case."""
    folded = text.strip().lower()
    others = {*texts} - {text}
    return sorted(each for each in others if each.strip().lower() == folded)
