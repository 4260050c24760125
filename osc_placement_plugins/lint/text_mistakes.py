# SPDX-License-Identifier: Apache-2.0

"""Mistakes in a single key or value, of a flavor or of an aggregate."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

from nova_filters.matching import inputs
from nova_filters.matching.inputs import FLAGS, SCOPE
from nova_filters.matching.requirement import Requirement
from os_placement_plugins.text import quote
from osc_placement_plugins.lint.findings import Finding, FindingCode

#: The namespaces that the filter and the weigher read, by their letters alone.
_NAMESPACES: Final = (
    'aggregateinstanceextraspecs',
    'aggregatepreferred',
    'aggregateavoided',
)
#: The similarity (0 to 1) from which a key or a namespace counts as a
#: typing error.
_SIMILAR: Final = 0.8


def find_malformed(name: str, value: Requirement) -> Iterator[Finding]:
    """Find a value that nothing can meet."""
    if value.problem:
        problem = f'{quote(value.text)}: {value.problem}'
        yield Finding(FindingCode.MALFORMED_VALUE, name, problem)


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


def find_misspelled_namespace(name: str) -> Iterator[Finding]:
    """Find a namespace that is probably meant for the filter or the weigher.

    :param name: an extra spec whose key no aggregate has.
    """
    if name.startswith(SCOPE) or inputs.PREFERENCE.fullmatch(name):
        return
    namespace, _, _ = name.rpartition(':')
    letters = re.sub('[^a-z]', '', namespace.lower())
    if 'aggregate' in letters or difflib.get_close_matches(
        letters, _NAMESPACES, 1, _SIMILAR
    ):
        yield Finding(
            FindingCode.NAMESPACE_WITHOUT_EFFECT,
            name,
            'skipped, because no aggregate has this key. The namespaces with '
            'an effect are aggregate_instance_extra_specs, '
            'aggregate_preferred and aggregate_avoided. It is right if '
            'another program reads it',
        )


def find_similar(text: str, texts: Iterable[str]) -> list[str]:
    """Return other texts that differ only in outer white space or in case."""
    folded = text.strip().lower()
    others = {*texts} - {text}
    return sorted(each for each in others if each.strip().lower() == folded)
