# SPDX-License-Identifier: Apache-2.0

"""A second answer to what the filter and the weigher of preferences answer.

It quotes ``doc/source/nova.rst`` and ``preferences.rst``. A value is a set of
terms. A term accepts *elements*: ``~`` is the absence of the key, ``*`` a text
that nobody names, a comparison the texts that satisfy it. Two sets meet if a
term of each accepts the same element.
"""

import fnmatch
import math
from collections.abc import Mapping
from typing import TypeAlias

from nova.scheduler.filters import extra_specs_ops

Term: TypeAlias = tuple[str, str]
Terms: TypeAlias = frozenset[Term]
Data: TypeAlias = Mapping[str, str]

SENTINELS = {text: ('sentinel', text) for text in '*~!'}
ANY, ABSENT, NEVER = SENTINELS.values()
MALFORMED: Terms = frozenset([('malformed', '')])
TRUE = {'true', '1', 't', 'y', 'yes', 'on'}
SCOPE = 'aggregate_instance_extra_specs:'
FORCE, PREFER = 'force_metadata_check', 'prefer_metadata_check'
SIGNS = {'aggregate_preferred': 1, 'aggregate_avoided': -1}
NUMBERS = {str(number): number for number in range(1, 101)}


def compare(value: str, comparison: str) -> bool | None:
    """Return whether a text satisfies a comparison; None if Nova raises."""
    try:
        return bool(extra_specs_ops.match(value, comparison))
    except ValueError:
        return None


def parse(text: str) -> Terms:
    """Return the terms of a value in a flavor or an aggregate with a flag."""
    words = text.split()
    # "a sentinel; white space around it is ignored"
    if text.strip() in SENTINELS:
        return frozenset([SENTINELS[text.strip()]])
    # "the second, fourth, sixth … words are alternatives, which may include *
    # and ~"; "! with another alternative: malformed"
    if words[:1] == ['<or>']:
        terms = {SENTINELS.get(word, ('text', word)) for word in words[1::2]}
        # The "!" stays: in an aggregate, it contradicts all other values.
        if not terms or (NEVER in terms and len(terms) > 1):
            return MALFORMED | (terms & {NEVER})
        return frozenset(terms)
    # "a comparison, as in Nova"; "an operator without an operand: malformed"
    if words and words[0] in extra_specs_ops.op_methods:
        valid = words[1:] and compare('0', text) is not None
        comparison = ('comparison', ' '.join(words))
        return frozenset([comparison]) if valid else MALFORMED
    # "anything else: plain text; in flavors, surrounding white space counts"
    return frozenset([('text', text)])


def accepts(term: Term, element: Term) -> bool:
    """Return whether a term stands for an element."""
    if term == ANY:
        return element != ABSENT
    if term[0] == 'comparison' and element[0] == 'text':
        return bool(compare(element[1], term[1]))
    # two comparisons: "only if they are identical except for white space"
    return term == element


def meet(terms: Terms, offered: Terms) -> bool:
    """Return whether both sets accept an element; "!" accepts none."""
    return any(
        any(accepts(term, element) for term in terms)
        and any(accepts(term, element) for term in offered)
        for element in (terms | offered) - MALFORMED - {NEVER}
    )


def pieces(value: str) -> list[str]:
    """Return the "alternatives, separated by a comma" of metadata."""
    return [piece.strip() for piece in value.split(',')]


def is_on(metadata: Data, flag: str) -> bool:
    """Return whether a flag of an aggregate is on."""
    # "on if one of the alternatives is ..., in any case"
    return any(t.lower() in TRUE for t in pieces(metadata.get(flag, '')))


def demands(aggregates: list[Data], flag: str) -> dict[str, list[Terms]]:
    """Return the values of each key, of the aggregates with a flag."""
    values: dict[str, list[Terms]] = {}
    for metadata in aggregates:
        for name, value in metadata.items():
            # "the scope is ignored"; "all *other* metadata of this aggregate"
            key = name.removeprefix(SCOPE)
            if is_on(metadata, flag) and key not in (FORCE, PREFER):
                terms = frozenset().union(*map(parse, pieces(value)))
                values.setdefault(key, []).append(terms)
    return values


def preference(name: str) -> tuple[int, str] | None:
    """Return points and key, if an extra spec is a preference."""
    prefix, _, key = name.partition(':')
    kind, dot, number = prefix.partition('.')
    if ':' not in name or kind not in SIGNS:
        return None
    # "Any number from 1 to 100"; "A malformed preference … has no effect"
    return SIGNS[kind] * (NUMBERS.get(number, 0) if dot else 1), key


def requirements(flavor: Data) -> list[tuple[str, Terms, bool]]:
    """Return key, terms, and whether the key is optional, of extra specs."""
    required = []
    for name, value in flavor.items():
        key = name.removeprefix(SCOPE)
        optional = key == name and ':' in name
        # "the flag in a flavor: ignored"
        if key not in (FORCE, PREFER) and not preference(name):
            required.append((key, parse(value), optional))
    return required


def is_satisfied(
    key: str, terms: Terms, optional: bool, aggregates: list[Data]
) -> bool:
    """Decide by the table "The flavor's check of one key"."""
    values = list(demands(aggregates, FORCE).get(key, []))
    for metadata in aggregates:
        if key in metadata and not is_on(metadata, FORCE):
            texts = pieces(metadata[key])
            values.append(frozenset(('text', text) for text in texts))
    offered = frozenset().union(*values)
    # '"a value" means any metadata value except ~ or ! in a forced aggregate'
    if offered <= {ABSENT, NEVER}:
        # "refused, unless the key is optional"; with ~ or !: "passes"
        return optional or ABSENT in terms or terms == {NEVER}
    if terms == {NEVER}:
        # "refused, unless each value is in a forced aggregate and has *
        # and ~"
        values = [value for value in values if value - {ABSENT, NEVER}]
        return all({ANY, ABSENT} <= value for value in values)
    # "passes if a value matches", "unless a forced aggregate also has ~"
    return meet(terms, offered)


def is_met(demanded: list[Terms], required: list[Terms]) -> bool:
    """Decide by the table "The demand for one key"."""
    offered = frozenset().union(*demanded)
    if NEVER in offered:
        # "refused"; "! only: … refused, unless the flavor has ~ or !"
        willing = all(r == {NEVER} or ABSENT in r for r in required)
        return willing and offered == {NEVER}
    # "flavor lacks the key": "any of the above, and ~: passes"
    if not required:
        return ABSENT in offered
    # "passes if the flavor matches one of the values"; "~ only: … or !"
    absent = frozenset([ABSENT])
    return all(meet(absent if r == {NEVER} else r, offered) for r in required)


def unmet(
    flavor: Data, aggregates: list[Data], flag: str, exempt: list[str]
) -> int:
    """Return how many keys aggregates demand that the flavor does not meet."""
    count = 0
    for key, demanded in demands(aggregates, flag).items():
        required = [r[1] for r in requirements(flavor) if r[0] == key]
        # "patterns for keys that aggregates never demand"
        if not any(fnmatch.fnmatchcase(key, pattern) for pattern in exempt):
            count += not is_met(demanded, required)
    return count


def passes(flavor: Data, aggregates: list[Data], exempt: list[str]) -> bool:
    """Return whether a host in these aggregates passes the filter."""
    satisfied = [is_satisfied(*r, aggregates) for r in requirements(flavor)]
    return all(satisfied) and not unmet(flavor, aggregates, FORCE, exempt)


def points(flavor: Data, aggregates: list[Data], exempt: list[str]) -> int:
    """Return the points of a host in these aggregates."""
    # "If an aggregate has both flags, only force_metadata_check applies."
    soft = [data for data in aggregates if not is_on(data, FORCE)]
    # "For each key that the flavor does not meet, the host loses one point."
    total = -unmet(flavor, soft, PREFER, exempt)
    for name, value in flavor.items():
        number, key = preference(name) or (0, '')
        # "if the flavor's check of the extra spec … succeeds"
        if is_satisfied(key, parse(value), False, aggregates):
            total += number
    return total


def weight(points: int) -> float:
    """Return the weight of a host with so many points."""
    return math.copysign(1 + math.log10(abs(points)), points) if points else 0
