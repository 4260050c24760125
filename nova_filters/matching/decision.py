# SPDX-License-Identifier: Apache-2.0

"""The decision tables: which hosts suit a flavor.

A host passes if both checks hold ("Description" and use case 4 of the
specification "Aggregate Instance Type Filter"):

1. The host's aggregates meet every extra spec of the flavor.
2. The flavor meets the demands of the host's forced aggregates: those whose
   metadata key ``force_metadata_check`` is on.

Both checks only ask whether *some* aggregate says something. The facts about
a host are therefore the union of the facts from its aggregates.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from nova_filters.matching.inputs import FlavorSpec
from nova_filters.matching.reason import Kind, Refusal, Side
from nova_filters.matching.requirement import Requirement

# What aggregates can say about a key.
#: An aggregate has a value that does not meet the flavor.
CARRIED: Final = 'carried'
#: An aggregate has "<or> * <or> ~", as good as no key ("Description").
ANYTHING: Final = 'anything'
#: A value meets the text of the flavor.
MATCHED: Final = 'matched'
#: A value that is demanded meets the text of the flavor.
ACCEPTED: Final = 'accepted'
#: A forced aggregate has a piece that is not "!".
DEMANDED: Final = 'demanded'
#: A forced aggregate has the piece "~".
OMITTABLE: Final = 'omittable'
#: A forced aggregate has the piece "!".
FORBIDDEN: Final = 'forbidden'

#: What is said, the key, and the text of the flavor that it is said about.
Fact = tuple[str, str, str]
Facts = frozenset[Fact]

#: An aggregate could not be read.
UNREADABLE: Final[Fact] = ('unreadable', '', '')


def facts_of(
    key: str,
    texts: Sequence[str],
    pieces: Sequence[Requirement],
    specs: Sequence[FlavorSpec],
    demanding: bool,
) -> list[Fact]:
    """Return the facts that one metadata value states.

    :param texts: its alternatives, if they are plain text.
    :param pieces: its alternatives, if they are not.
    :param specs: the flavor's extra specs on the key.
    :param demanding: whether the aggregate is forced, and the key not exempt.
    """
    facts: list[Fact] = []
    unmet = False
    for _, _, wanted in specs:
        if wanted.accepts(texts) or any(map(wanted.overlaps, pieces)):
            facts.append((MATCHED, key, wanted.text))
            if demanding:
                facts.append((ACCEPTED, key, wanted.text))
            # What meets "!" may also be there.
            unmet = unmet or wanted.forbidden
        else:
            unmet = True
    if unmet:
        facts += _presence(key, pieces)
    return facts + _demands(key, pieces) if demanding else facts


def _presence(key: str, pieces: Sequence[Requirement]) -> list[Fact]:
    """Return the fact that a value is there, if it is."""
    if not pieces:
        return [(CARRIED, key, '')]
    if all(piece.absence_only for piece in pieces):
        return []
    anything = any(piece.any_value for piece in pieces)
    anything = anything and any(piece.omittable for piece in pieces)
    return [(ANYTHING if anything else CARRIED, key, '')]


def _demands(key: str, pieces: Sequence[Requirement]) -> list[Fact]:
    """Return what a value demands of every flavor."""
    if not pieces:
        return [(DEMANDED, key, '')]
    facts = []
    for piece in pieces:
        if piece.problem or not piece.forbidden:
            facts.append((DEMANDED, key, ''))
        if piece.omittable:
            facts.append((OMITTABLE, key, ''))
        if piece.forbidden:
            facts.append((FORBIDDEN, key, ''))
    return facts


def _check_flavor(spec: FlavorSpec, facts: Set[Fact]) -> Kind | None:
    """Return what is wrong with one extra spec; None if it is met."""
    key, optional, wanted = spec
    if (MATCHED, key, wanted.text) in facts and not wanted.forbidden:
        return None
    if (CARRIED, key, '') not in facts:
        if wanted.accepts_absence:
            return None
        if (ANYTHING, key, '') not in facts:
            if optional:
                return None
            return Kind.MALFORMED if wanted.problem else Kind.MISSING
    if wanted.problem:
        return Kind.MALFORMED
    return Kind.FORBIDDEN if wanted.forbidden else Kind.MISMATCH


def _check_demand(
    key: str, specs: Sequence[FlavorSpec], facts: Set[Fact]
) -> Kind | None:
    """Return what is wrong with one demanded key; None if it is met."""
    if (FORBIDDEN, key, '') in facts:
        if (DEMANDED, key, '') in facts:
            return Kind.CONTRADICTION
        absent = all(spec.wanted.accepts_absence for spec in specs)
        return None if absent else Kind.FORBIDDEN
    if not specs:
        omittable = (OMITTABLE, key, '') in facts
        return None if omittable else Kind.MISSING
    accepted = all(
        (ACCEPTED, key, spec.wanted.text) in facts for spec in specs
    )
    return None if accepted else Kind.MISMATCH


def refusals(
    flavor: Mapping[str, Sequence[FlavorSpec]], facts: Set[Fact]
) -> Iterator[Refusal]:
    """Yield everything that keeps a flavor off a host.

    :param flavor: the flavor's extra specs, by key.
    :param facts: the facts about the host.
    :returns: the flavor's check first, each check in the order of its keys.
    """
    if UNREADABLE in facts:
        yield Refusal(Side.AGGREGATE, Kind.UNREADABLE)
        return
    for key, specs in flavor.items():
        for spec in specs:
            kind = _check_flavor(spec, facts)
            if kind is not None:
                yield Refusal(Side.FLAVOR, kind, key, spec.wanted)
    about = DEMANDED, FORBIDDEN
    demands = list({key for said, key, _ in facts if said in about})
    # Mostly, the first one is all that is asked for.
    heapq.heapify(demands)
    while demands:
        key = heapq.heappop(demands)
        kind = _check_demand(key, flavor.get(key, ()), facts)
        if kind is not None:
            yield Refusal(Side.AGGREGATE, kind, key)
