# SPDX-License-Identifier: Apache-2.0

"""Read the rules of a mapping file, and find the hints of a resource.

A mapping is a list of entries. Each entry has the ``hints`` to send, and any
of the patterns ``project``, ``stack`` and ``resource``. Patterns are those of
a shell (``*``, ``?`` and ``[...]``); upper and lower case differ.
"""

import dataclasses
import fnmatch
import re
from collections.abc import Iterable, Mapping

from heat_hints.deciding.hints import sanitise
from heat_hints.deciding.resource import Request
from os_placement_plugins.stack_hints import RESERVED, HintValue

_PATTERNS = ('project', 'stack', 'resource')
#: What no hint of an entry may be.
_NO_VALUES = (type(None), Mapping, list, tuple, set)


class MappingError(ValueError):
    """The mapping cannot be used; the text says what to change."""


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern; fnmatch itself forgets if there are many."""
    return re.compile(fnmatch.translate(text))


_ANYTHING = _pattern('*')


@dataclasses.dataclass(frozen=True)
class Rule:
    """One entry of the mapping.

    :param hints: what to send for a resource that all patterns match.
    :param project: the pattern of the project's id.
    :param stack: the pattern of the name of a stack on the resource's path:
        the resource's own stack, or a stack above.
    :param resource: the pattern of the resource's name.
    """

    hints: Mapping[str, HintValue]
    project: re.Pattern[str] = _ANYTHING
    stack: re.Pattern[str] = _ANYTHING
    resource: re.Pattern[str] = _ANYTHING

    def matches(self, request: Request) -> bool:
        """Tell whether the rule is for a resource.

        :param request: the resource.
        """
        return bool(
            self.project.match(request.project_id)
            and self.resource.match(request.resource_name)
            and any(self.stack.match(step.stack) for step in request.path)
        )


def parse(data: object) -> tuple[Rule, ...]:
    """Read the rules from what a YAML parser made of the file.

    :param data: the parsed file; an empty file has no rules.
    :raises MappingError: if an entry is wrong; the text counts the entries
        from 1.
    """
    if data is None:
        return ()
    if not isinstance(data, list):
        raise MappingError(
            f'the file holds a {type(data).__name__}, but it must hold a '
            'list of entries, each with "hints"'
        )
    return tuple(
        _parse_entry(entry, place) for place, entry in enumerate(data, 1)
    )


def _parse_entry(entry: object, place: int) -> Rule:
    """Return the rule of one entry."""
    known = (*_PATTERNS, 'hints')
    if not isinstance(entry, Mapping):
        raise MappingError(
            f'entry {place} is a {type(entry).__name__}, but it must be a '
            f'mapping with the keys {", ".join(known)}'
        )
    for key in entry:
        if key not in known:
            raise MappingError(
                f'entry {place} has the key "{key}"; the keys are '
                f'{", ".join(known)}'
            )
    given = entry.get('hints')
    if not isinstance(given, Mapping) or not given:
        raise MappingError(
            f'entry {place} has no "hints": give a mapping of names to values'
        )
    for name, value in given.items():
        if not isinstance(name, str) or name in RESERVED:
            raise MappingError(
                f'entry {place} sets the hint "{name}"; a hint is named by '
                'text, and not by one of the names that Heat sends'
            )
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, _NO_VALUES) for item in items):
            raise MappingError(
                f'entry {place} gives the hint "{name}" a value that is '
                'empty or nested; write text, or a list of texts'
            )
    patterns = {}
    for key in _PATTERNS:
        pattern = entry.get(key, '*')
        if not isinstance(pattern, str):
            raise MappingError(
                f'entry {place} has the {key} "{pattern}"; write the '
                'pattern as text, in quotes'
            )
        patterns[key] = _pattern(pattern)
    return Rule(hints=sanitise(given), **patterns)


def lookup(rules: Iterable[Rule], request: Request) -> dict[str, HintValue]:
    """Return the hints for one resource.

    :param rules: the rules in the file's order; for each hint the first rule
        that matches wins.
    :param request: the resource.
    """
    found: dict[str, HintValue] = {}
    for rule in rules:
        if rule.matches(request):
            found = {**rule.hints, **found}
    return found
