# SPDX-License-Identifier: Apache-2.0

"""The decision tables: which hosts suit a flavor.

A host passes if both checks hold ("Description" and use case 4 of the
specification "Aggregate Instance Type Filter"):

1. The host's aggregates meet every extra spec of the flavor.
2. The flavor meets the demands of the host's forced aggregates: those whose
   metadata key ``force_metadata_check`` is on.

Both checks only ask whether *some* aggregate has a value. So the values of a
host are the union of the values of its aggregates.
"""

from collections.abc import Iterable
from typing import Final

from nova_filters.matching.inputs import FlavorSpec
from nova_filters.matching.reason import Kind
from nova_filters.matching.requirement import (
    Requirement,
    is_plain,
    parse_metadata,
    split,
)

# What aggregates can say about a key; each statement is one bit of a number.
# A metadata value is a list of pieces, separated by commas. Each piece is an
# alternative.
#: A value of an aggregate meets the flavor's requirement.
MATCHED: Final = 1
#: A value of a forced aggregate meets the flavor's requirement.
ACCEPTED: Final = 2
#: An aggregate has the key. Pieces "~" and "!" of forced aggregates do not
#: count.
CARRIED: Final = 4
#: A forced aggregate has the pieces "*" and "~" in one value: the flavor may
#: have any value, or lack the key ("Description").
ANYTHING: Final = 8
#: A forced aggregate has a piece that is not "!".
DEMANDED: Final = 16
#: A forced aggregate has the piece "~".
OMITTABLE: Final = 32
#: A forced aggregate has the piece "!".
FORBIDDEN: Final = 64
#: A forced aggregate has a malformed piece.
MALFORMED: Final = 128
#: What every value of a forced aggregate has.
DEMAND: Final = DEMANDED | FORBIDDEN
#: What a value without sentinels demands of a flavor that lacks the key.
REQUIRED: Final = CARRIED | DEMANDED


def read(
    requirement: Requirement | None, forced: bool, value: str | None
) -> int:
    """Return what a metadata value says about a key, as bits.

    :param requirement: what the flavor requires of the key; None if the flavor
        lacks the key.
    :param forced: whether the aggregate is forced.
    :param value: the metadata value; None if no aggregate has the key.
    """
    if value is None:
        return 0
    if forced and not is_plain(value):
        return _read_pieces(requirement, parse_metadata(value, forced))
    met = requirement is not None and requirement.accepts(split(value))
    if forced:
        return CARRIED | DEMANDED | met * (MATCHED | ACCEPTED)
    return CARRIED | met * MATCHED


def _read_pieces(
    requirement: Requirement | None, pieces: Iterable[Requirement]
) -> int:
    """Return what all pieces of a forced aggregate say together."""
    bits = 0
    any_value = False
    for piece in pieces:
        bits |= _read_piece(piece)
        if requirement is not None and requirement.overlaps(piece):
            bits |= MATCHED | ACCEPTED
        if piece.any_value:
            any_value = True
    if any_value and bits & OMITTABLE:
        return bits - CARRIED | ANYTHING
    return bits


def _read_piece(piece: Requirement) -> int:
    """Return what a piece of a forced aggregate says about any flavor."""
    bits = 0
    if piece.omittable:
        bits |= OMITTABLE
    if piece.forbidden:
        bits |= FORBIDDEN
    if piece.problem:
        bits |= MALFORMED
    if piece.problem or not piece.forbidden:
        bits |= DEMANDED
    if not piece.absence_only:
        bits |= CARRIED
    return bits


def check_flavor(spec: FlavorSpec, bits: int) -> Kind | None:
    """Return why aggregates do not meet an extra spec; None if they do.

    :param bits: what the aggregates of a host say about the key.
    """
    requirement = spec.requirement
    if bits & MATCHED and not requirement.forbidden:
        return None
    if not bits & CARRIED:
        if requirement.accepts_absence:
            return None
        if not bits & ANYTHING:
            if spec.optional:
                return None
            if requirement.problem:
                return Kind.MALFORMED
            return Kind.MISSING
    if requirement.problem:
        return Kind.MALFORMED
    if requirement.forbidden:
        return Kind.FORBIDDEN
    return Kind.MISMATCH


def check_demand(requirement: Requirement | None, bits: int) -> Kind | None:
    """Return why a flavor does not meet a demand; None if it does.

    :param requirement: what the flavor requires of the key; None if the flavor
        lacks the key.
    :param bits: what the aggregates of a host say about the key.
    """
    if not bits & DEMAND:
        return None
    if bits & FORBIDDEN:
        if bits & DEMANDED:
            return Kind.CONTRADICTION
        if requirement is None or requirement.accepts_absence:
            return None
        return Kind.FORBIDDEN
    if requirement is None:
        if bits & OMITTABLE:
            return None
        return Kind.MISSING
    if bits & ACCEPTED:
        return None
    return Kind.MISMATCH
