# SPDX-License-Identifier: Apache-2.0

"""Read the rules of a mapping file, and find the hints of a resource.

A mapping is a list of entries. Each entry has the ``hints`` to send, and any
of the patterns ``project``, ``stack``, ``resource`` and ``type``. A pattern
may contain ``*``, ``?`` and ``[...]``, as in a shell, and is case-sensitive.
"""

import dataclasses
import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from heat_hints.deciding.resource import Request
from os_placement_plugins.stack_hints import RESERVED, HintValue

_PATTERNS = ('project', 'stack', 'resource', 'type')
#: How the names of Heat's own resource types begin, in lower case.
_HEATS_OWN = ('os::', 'aws::')

#: A function that tells whether a text matches.
Matches = Callable[[str], object]
_SPECIAL = re.compile(r'[*?[]')


class MappingError(ValueError):
    """The mapping cannot be used; the text says what to change."""


def _pattern(text: str | None) -> Matches:
    """Return a function that tells whether a text matches a pattern."""
    if text is None:
        # A pattern that an entry leaves out matches everything.
        return lambda _: True
    if not _SPECIAL.search(text):
        # Plain ids and names are compared as texts, because it would take long
        # to compile thousands of them.
        return text.__eq__
    # fnmatch.fnmatch() is not used: it caches only a limited number of
    # patterns, and would compile the other patterns again and again.
    return re.compile(fnmatch.translate(text)).match


@dataclasses.dataclass(frozen=True)
class Rule:
    """One entry of the mapping.

    :param hints: the hints to send for a resource that all patterns match.
    :param project: matches the project's id.
    :param stack: matches the name of a stack on the resource's path: the
        resource's own stack, or a stack above.
    :param resource: matches the resource's name.
    :param type: matches the resource type, or its alias.
    """

    hints: Mapping[str, HintValue]
    project: Matches
    stack: Matches
    resource: Matches
    type: Matches

    def matches(self, request: Request) -> bool:
        """Tell whether the rule applies to a resource."""
        if not self.project(request.project_id):
            return False
        if not self.resource(request.resource_name):
            return False
        alias = request.alias or request.resource_type
        if not self.type(request.resource_type) and not self.type(alias):
            return False
        return any(self.stack(step.stack) for step in request.path)


def parse(data: object, resource_types: Sequence[str]) -> tuple[Rule, ...]:
    """Read the rules from a parsed YAML file.

    :param data: the parsed file, with each scalar as text. A file without
        rules must be ``[]``.
    :param resource_types: the types whose resources get hints.
    :raises MappingError: if the file is not a list, or if an entry is wrong.
        The text has the number of the entry, counted from 1.
    """
    if data in (None, ''):
        raise MappingError(
            'the file is empty, perhaps because it is being written; write '
            '"[]" if there are to be no rules'
        )
    if not isinstance(data, list):
        raise MappingError(
            f'the file holds a {type(data).__name__}, but it must hold a '
            'list of entries, each with "hints"'
        )
    rules = []
    for place, entry in enumerate(data, 1):
        wrong = _find_wrong(entry, resource_types)
        if wrong:
            raise MappingError(f'entry {place} {wrong}')
        patterns = {key: _pattern(entry.get(key)) for key in _PATTERNS}
        rules.append(Rule(entry['hints'], **patterns))
    return tuple(rules)


def _find_wrong(entry: object, resource_types: Sequence[str]) -> str | None:
    """Return what is wrong with an entry; None if nothing is wrong."""
    keys = ', '.join((*_PATTERNS, 'hints'))
    if not isinstance(entry, Mapping):
        kind = type(entry).__name__
        return f'is a {kind}, but it must be a mapping with the keys {keys}'
    for key, value in entry.items():
        if key == 'hints':
            continue
        if key not in _PATTERNS:
            return f'has the key "{key}"; the keys are {keys}'
        wrong = _find_wrong_pattern(key, value, resource_types)
        if wrong:
            return wrong
    return _find_wrong_hints(entry.get('hints'))


def _find_wrong_pattern(
    key: str, pattern: object, resource_types: Sequence[str]
) -> str | None:
    """Return what is wrong with the pattern of a key."""
    if not isinstance(pattern, str):
        return f'has the {key} "{pattern}"; write one pattern'
    if not pattern.strip():
        return (
            f'has an empty {key}, which matches nothing; write a pattern, or '
            'leave the key out to match everything'
        )
    if key == 'type' and _is_unknown(pattern, resource_types):
        return (
            f'has the type "{pattern}", but no resource of such a type gets '
            'hints; [heat_hints] resource_types has '
            + ', '.join(resource_types)
        )
    return None


def _find_wrong_hints(hints: object) -> str | None:
    """Return what is wrong with the hints of an entry."""
    if not isinstance(hints, Mapping) or not hints:
        return 'has no "hints": give a mapping of names to values'
    for name, value in hints.items():
        if not name or name in RESERVED:
            return (
                f'sets the hint "{name}"; the name of a hint must not be '
                'empty, and must not be a name that Heat sends'
            )
        items = value if isinstance(value, list) else [value]
        if not items or not all(i and isinstance(i, str) for i in items):
            return (
                f'gives the hint "{name}" a value that is empty or nested; '
                'write text, or a list of texts'
            )
    return None


def _is_unknown(pattern: str, resource_types: Sequence[str]) -> bool:
    """Tell whether a pattern begins like Heat's own types, but matches none.

    A pattern with any other beginning may be for an alias. The aliases are not
    known here, because users define aliases in environments.

    :param resource_types: the types whose resources get hints.
    """
    if not pattern.lower().startswith(_HEATS_OWN):
        return False
    matches = _pattern(pattern)
    return not any(matches(name) for name in resource_types)


def lookup(rules: Iterable[Rule], request: Request) -> dict[str, HintValue]:
    """Return the hints for a resource.

    If several rules set the same hint, the first of these rules counts.
    """
    hints: dict[str, HintValue] = {}
    for rule in rules:
        if rule.matches(request):
            hints = {**rule.hints, **hints}
    return hints
