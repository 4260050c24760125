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

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from nova_filters.matching.inputs import FlavorSpec
from nova_filters.matching.reason import Kind, Refusal, Side
from nova_filters.matching.requirement import Requirement


class Fact(enum.IntFlag):
    """What aggregates can say about an extra spec or about a key."""

    #: About an extra spec: an aggregate has a value for its key.
    CARRIED = 1
    #: About an extra spec: a piece of such a value meets it.
    MATCHED = 2
    #: About an extra spec: a piece that is demanded meets it.
    ACCEPTED = 4
    #: About a key: a forced aggregate has a piece that is not "!".
    DEMANDED = 8
    #: About a key: a forced aggregate has the piece "~".
    OMITTABLE = 16
    #: About a key: a forced aggregate has the piece "!".
    FORBIDDEN = 32


#: Facts by their subject: the position of an extra spec in the flavor, or a
#: key without the filter's scope.
Facts = Mapping[int | str, Fact]

_NOTHING: Final = Fact(0)


def facts_of(
    key: str,
    pieces: Sequence[Requirement],
    specs: Sequence[tuple[int, FlavorSpec]],
    demanding: bool,
) -> dict[int | str, Fact]:
    """Return the facts that one metadata value states.

    :param key: the key, without the filter's scope.
    :param pieces: the alternatives that the value offers.
    :param specs: the flavor's extra specs on the key, with their positions.
    :param demanding: whether the aggregate is forced, and the key not exempt.
    """
    facts: dict[int | str, Fact] = {}
    absent = all(piece.absence_only for piece in pieces)
    # "<or> * <or> ~" is as good as no key ("Description").
    anything = any(p.any_value for p in pieces) and any(
        p.omittable for p in pieces
    )
    for position, spec in specs:
        fact = _NOTHING
        if not (absent or anything and spec.wanted.accepts_absence):
            fact |= Fact.CARRIED
        if any(map(spec.wanted.overlaps, pieces)):
            fact |= Fact.MATCHED
            if demanding:
                fact |= Fact.ACCEPTED
        facts[position] = fact
    if demanding and pieces:
        fact = _NOTHING
        for piece in pieces:
            if piece.problem or not piece.forbidden:
                fact |= Fact.DEMANDED
            if piece.omittable:
                fact |= Fact.OMITTABLE
            if piece.forbidden:
                fact |= Fact.FORBIDDEN
        facts[key] = fact
    return facts


def _check_flavor(spec: FlavorSpec, fact: Fact) -> Kind | None:
    """Return what is wrong with one extra spec; None if it is met."""
    wanted = spec.wanted
    if Fact.CARRIED not in fact:
        if spec.optional or wanted.accepts_absence:
            return None
        return Kind.MALFORMED if wanted.problem else Kind.MISSING
    if wanted.problem:
        return Kind.MALFORMED
    if wanted.forbidden:
        return Kind.FORBIDDEN
    return None if Fact.MATCHED in fact else Kind.MISMATCH


def _check_demand(
    fact: Fact, specs: Sequence[tuple[FlavorSpec, Fact]]
) -> Kind | None:
    """Return what is wrong with one demanded key; None if it is met."""
    if Fact.FORBIDDEN in fact:
        if Fact.DEMANDED in fact:
            return Kind.CONTRADICTION
        absent = all(spec.wanted.accepts_absence for spec, _ in specs)
        return None if absent else Kind.FORBIDDEN
    if not specs:
        return None if Fact.OMITTABLE in fact else Kind.MISSING
    accepted = all(Fact.ACCEPTED in own for _, own in specs)
    return None if accepted else Kind.MISMATCH


def refusals(flavor: Sequence[FlavorSpec], facts: Facts) -> Iterator[Refusal]:
    """Yield everything that keeps a flavor off a host.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param facts: the facts about the host.
    :returns: the flavor's check first, each check in the order of its keys.
    """
    specs = [
        (spec, facts.get(position, _NOTHING))
        for position, spec in enumerate(flavor)
    ]
    for position, (spec, fact) in enumerate(specs):
        kind = _check_flavor(spec, fact)
        if kind is not None:
            yield Refusal(Side.FLAVOR, kind, spec.key, position)
    for key in sorted(about for about in facts if isinstance(about, str)):
        own = [entry for entry in specs if entry[0].key == key]
        kind = _check_demand(facts[key], own)
        if kind is not None:
            yield Refusal(Side.AGGREGATE, kind, key)
