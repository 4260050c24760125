# SPDX-License-Identifier: Apache-2.0

"""Turn an operator's mapping into rules, and a server into its hints.

The mapping is the content of the file that the provider ``mapping_file``
reads: a list of entries, each with the patterns ``project``, ``stack`` and
``resource`` (each may be left out) and the ``hints`` to send. Patterns are
those of a shell: ``*``, ``?`` and ``[...]``, upper and lower case differ.
"""

import dataclasses
import fnmatch
import functools
import re
from collections.abc import Iterable, Mapping

from heat_hints.hints import sanitise
from os_placement_plugins.stack_hints import RESERVED, HintValue

_PATTERNS = ('project', 'stack', 'resource')


class MappingError(ValueError):
    """The mapping cannot be used; the text says what to change."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """One entry of the mapping.

    :param hints: what to send for a resource that all patterns match.
    :param project: a pattern for the project's id.
    :param stack: a pattern for the name of a stack on the resource's path:
        its own stack, or one that this is nested in.
    :param resource: a pattern for the resource's name.
    """

    hints: Mapping[str, HintValue]
    project: str = '*'
    stack: str = '*'
    resource: str = '*'

    def matches(
        self, project: str, stacks: Iterable[str], resource: str
    ) -> bool:
        """Tell whether a resource is meant.

        :param project: the project's id.
        :param stacks: the names of the stacks on the resource's path.
        :param resource: the resource's name.
        """
        of_project, of_stack, of_resource = self._patterns
        return bool(
            of_project.match(project)
            and of_resource.match(resource)
            and any(of_stack.match(name) for name in stacks)
        )

    @functools.cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        # Kept here: fnmatch forgets when there are many rules.
        return tuple(
            re.compile(fnmatch.translate(pattern))
            for pattern in (self.project, self.stack, self.resource)
        )


def parse(data: object) -> tuple[Rule, ...]:
    """Read the rules from what a YAML parser made of the file.

    :param data: the parsed file; an empty file has no rules.
    :raises MappingError: when an entry is not what it should be; the entry
        is named by its place in the list, counted from 1.
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
    for name in given:
        if not isinstance(name, str) or name in RESERVED:
            raise MappingError(
                f'entry {place} sets the hint "{name}"; a hint is named by '
                'text, and not by one of the names that Heat sends'
            )
        _check_value(place, name, given[name])
    patterns = {}
    for key in _PATTERNS:
        pattern = entry.get(key, '*')
        if not isinstance(pattern, str):
            raise MappingError(
                f'entry {place} has the {key} "{pattern}"; write the '
                'pattern as text, in quotes'
            )
        patterns[key] = pattern
    return Rule(hints=sanitise(given), **patterns)


def _check_value(place: int, name: str, value: object) -> None:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if item is None or isinstance(item, Mapping | list | tuple | set):
            raise MappingError(
                f'entry {place} gives the hint "{name}" a value that is '
                'empty or nested; write text, or a list of texts'
            )


def lookup(
    rules: Iterable[Rule], project: str, stacks: Iterable[str], resource: str
) -> dict[str, HintValue]:
    """Return the hints for one resource.

    :param rules: the rules in the file's order; for one hint the first rule
        that matches wins.
    :param project: the project's id.
    :param stacks: the names of the stacks on the resource's path.
    :param resource: the resource's name.
    """
    names = tuple(stacks)
    found: dict[str, HintValue] = {}
    for rule in rules:
        if rule.matches(project, names, resource):
            found = {**rule.hints, **found}
    return found
