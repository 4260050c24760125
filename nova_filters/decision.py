# SPDX-License-Identifier: Apache-2.0

"""Whether a host suits a flavor, decided from facts.

Pure; the only place that knows the decision tables. A host passes when both
checks hold ("Description" and use case 4 of the specification "Aggregate
Instance Type Filter"):

1. the host's aggregates meet every extra spec of the flavor;
2. the flavor meets what those aggregates demand whose metadata key
   ``force_metadata_check`` is on.

Both checks only ask whether *some* aggregate says something. What one
aggregate says of one flavor is therefore a set of facts, and what a host's
aggregates say is the union of theirs.
"""

import enum
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nova_filters import requirement
from nova_filters.matching import FlavorSpec, Kind, Side


class Said(enum.IntEnum):
    """What an aggregate can say about an extra spec, or about a key."""

    #: The aggregate has a value for the key of the extra spec.
    CARRIES = 0
    #: A piece of that value meets the extra spec.
    MATCHES = 1
    #: A piece that a forced aggregate demands meets the extra spec.
    ACCEPTS = 2
    #: A forced aggregate says something else than "!" about the key.
    DEMANDS = 3
    #: A forced aggregate says "~" about the key.
    OMITS = 4
    #: A forced aggregate says "!" about the key.
    FORBIDS = 5
    #: The aggregate could not be read.
    UNREADABLE = 6


class Fact(NamedTuple):
    """One thing that an aggregate says.

    :param said: what.
    :param about: the position of an extra spec in the flavor, or a key.
    """

    said: Said
    about: int | str


class Refusal(NamedTuple):
    """Which question a host fails.

    :param side: the check.
    :param kind: what is wrong.
    :param key: the key, without the filter's own scope.
    :param spec: the position of the extra spec; -1 in the second check.
    """

    side: Side
    kind: Kind
    key: str = ''
    spec: int = -1


#: What closes a host when one of its aggregates could not be read.
UNREADABLE: Final = Fact(Said.UNREADABLE, -1)


def facts_of(
    key: str,
    pieces: Sequence[requirement.Requirement],
    specs: Sequence[tuple[int, FlavorSpec]],
    demanding: bool,
) -> set[Fact]:
    """Return what one metadata value says.

    :param key: the key, without the filter's own scope.
    :param pieces: the alternatives that the value offers.
    :param specs: the flavor's extra specs on the key, with their positions.
    :param demanding: whether the aggregate is forced, and the key not exempt.
    """
    facts = set()
    for position, spec in specs:
        if not all(piece.absence_only for piece in pieces):
            facts.add(Fact(Said.CARRIES, position))
        if any(map(spec.wanted.overlaps, pieces)):
            facts.add(Fact(Said.MATCHES, position))
            if demanding:
                facts.add(Fact(Said.ACCEPTS, position))
    for piece in pieces if demanding else ():
        if piece.problem or not piece.forbidden:
            facts.add(Fact(Said.DEMANDS, key))
        if piece.omittable:
            facts.add(Fact(Said.OMITS, key))
        if piece.forbidden:
            facts.add(Fact(Said.FORBIDS, key))
    return facts


def _check_flavor(spec: FlavorSpec, said: set[Said]) -> Kind | None:
    """Return what is wrong with one extra spec; None if it is met."""
    wanted = spec.wanted
    if Said.CARRIES not in said:
        if spec.optional or wanted.accepts_absence:
            return None
        return Kind.MALFORMED if wanted.problem else Kind.MISSING
    if wanted.problem:
        return Kind.MALFORMED
    if wanted.forbidden:
        return Kind.FORBIDDEN
    return None if Said.MATCHES in said else Kind.MISMATCH


def _check_demand(
    said: set[Said], specs: Sequence[tuple[FlavorSpec, set[Said]]]
) -> Kind | None:
    """Return what is wrong with one demanded key; None if it is met.

    :param said: what forced aggregates say about the key.
    :param specs: each extra spec on the key, with what is said about it.
    """
    if Said.FORBIDS in said:
        if Said.DEMANDS in said:
            return Kind.CONTRADICTION
        absent = all(spec.wanted.accepts_absence for spec, _ in specs)
        return None if absent else Kind.FORBIDDEN
    if not specs:
        return None if Said.OMITS in said else Kind.MISSING
    accepted = all(Said.ACCEPTS in own for _, own in specs)
    return None if accepted else Kind.MISMATCH


def refusals(
    flavor: Sequence[FlavorSpec], facts: Iterable[Fact]
) -> Iterator[Refusal]:
    """Yield every question that a host fails.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param facts: what the host's aggregates say.
    :returns: the flavor's check first, each check in the order of its keys.
    """
    said: dict[int | str, set[Said]] = {}
    for fact in facts:
        said.setdefault(fact.about, set()).add(fact.said)
    if UNREADABLE.about in said:
        yield Refusal(Side.AGGREGATE, Kind.UNREADABLE)
    nothing: set[Said] = set()
    for position, spec in enumerate(flavor):
        kind = _check_flavor(spec, said.get(position, nothing))
        if kind is not None:
            yield Refusal(Side.FLAVOR, kind, spec.key, position)
    for key in sorted(about for about in said if isinstance(about, str)):
        specs = [
            (spec, said.get(position, nothing))
            for position, spec in enumerate(flavor)
            if spec.key == key
        ]
        kind = _check_demand(said[key], specs)
        if kind is not None:
            yield Refusal(Side.AGGREGATE, kind, key)
