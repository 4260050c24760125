# SPDX-License-Identifier: Apache-2.0

"""What aggregates say about a key, and whether a flavor matches it.

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
from nova_filters.matching.mismatch import Cause
from nova_filters.matching.requirement import (
    Requirement,
    is_plain,
    parse_metadata,
    split,
)

# What aggregates can say about a key; each statement is one bit of a number.
# A metadata value is a list of pieces, separated by commas. Each piece is an
# alternative. Sentinels count in flagged aggregates: those with a flag that is
# on.
#: A value of an aggregate meets the flavor's requirement.
MATCHED: Final = 1
#: An aggregate has the key. Pieces "~" and "!" of flagged aggregates do not
#: count.
CARRIED: Final = 2
#: A flagged aggregate has the pieces "*" and "~" in one value: the flavor may
#: have any value, or lack the key ("Description").
ANYTHING: Final = 4
#: A flagged aggregate has a malformed piece.
MALFORMED: Final = 8
#: What an aggregate says that does not demand the key.
OFFER: Final = MATCHED | CARRIED | ANYTHING | MALFORMED
#: A demanding aggregate has a value that meets the flavor's requirement.
ACCEPTED: Final = 16
#: A demanding aggregate has a piece that is not "!".
DEMANDED: Final = 32
#: A demanding aggregate has the piece "~".
OMITTABLE: Final = 64
#: A demanding aggregate has the piece "!".
FORBIDDEN: Final = 128
#: What every value of a demanding aggregate has.
DEMAND: Final = DEMANDED | FORBIDDEN


def read(
    requirement: Requirement | None,
    value: str,
    flagged: bool,
    demanded: bool,
) -> int:
    """Return what a metadata value says about a key, as bits.

    :param requirement: what the flavor requires of the key; None if the flavor
        lacks the key.
    :param flagged: whether sentinels and operators count in the value.
    :param demanded: whether the aggregate demands the key.
    """
    if flagged and not is_plain(value):
        bits = _read_pieces(requirement, parse_metadata(value, flagged))
    else:
        bits = CARRIED | DEMANDED
        if requirement is not None and requirement.accepts(split(value)):
            bits |= MATCHED | ACCEPTED
    if demanded:
        return bits
    return bits & OFFER


def _read_pieces(
    requirement: Requirement | None, pieces: Iterable[Requirement]
) -> int:
    """Return what all pieces of a value say together."""
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
    """Return what a piece says about any flavor."""
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


def check_flavor(spec: FlavorSpec, bits: int) -> Cause | None:
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
                return Cause.MALFORMED
            return Cause.MISSING
    if requirement.problem:
        return Cause.MALFORMED
    if requirement.forbidden:
        return Cause.FORBIDDEN
    return Cause.DIFFERENT


def check_demand(requirement: Requirement | None, bits: int) -> Cause | None:
    """Return why a flavor does not meet a demand; None if it does.

    :param requirement: what the flavor requires of the key; None if the flavor
        lacks the key.
    :param bits: what the aggregates of a host say about the key.
    """
    if not bits & DEMAND:
        return None
    if bits & FORBIDDEN:
        if bits & DEMANDED:
            return Cause.CONTRADICTION
        if requirement is None or requirement.accepts_absence:
            return None
        return Cause.FORBIDDEN
    if requirement is None:
        if bits & OMITTABLE:
            return None
        return Cause.MISSING
    if bits & ACCEPTED:
        return None
    return Cause.DIFFERENT
