# SPDX-License-Identifier: Apache-2.0

"""What aggregates say about a key, and whether a flavor matches it.

A host passes if both checks hold ("Description" and use case 4 of the
specification "Aggregate Instance Type Filter"):

1. The host's aggregates meet every extra spec of the flavor.
2. The flavor meets the demands of the host's forced aggregates: those whose
   metadata key ``force_metadata_check`` is on.

Both checks only ask whether *some* aggregate says something. So the
aggregates of a host say together what each of them says.

A metadata value is a list of pieces, separated by commas. Each piece is an
alternative. Sentinels and operators count in forced aggregates only.
"""

from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from nova_filters.matching.inputs import FlavorSpec
from nova_filters.matching.mismatch import Cause
from nova_filters.matching.requirement import (
    FORBIDDEN,
    OMITTABLE,
    Requirement,
    is_plain,
    parse,
    split,
)

# What aggregates can offer to an extra spec; each of these is one bit.
#: A value meets the extra spec.
MATCHED: Final = 1
#: A value meets the extra spec, and its aggregate demands the key.
ACCEPTED: Final = 2
#: An aggregate has the key. Pieces "~" and "!" of forced aggregates do not
#: count.
CARRIED: Final = 4
#: A forced aggregate has the pieces "*" and "~" in one value: the flavor may
#: have any value, or lack the key ("Description").
ANYTHING: Final = 8


def read_offer(
    requirement: Requirement, value: str, forced: bool, is_demanded: bool
) -> int:
    """Return what a value offers to an extra spec, as bits.

    :param forced: whether the aggregate is forced.
    :param is_demanded: whether the aggregate demands the key.
    """
    matched = MATCHED
    if is_demanded:
        matched |= ACCEPTED
    if not forced or is_plain(value):
        if requirement.accepts(split(value)):
            return CARRIED | matched
        return CARRIED
    pieces = [*map(parse, split(value))]
    bits = 0
    if any(map(requirement.overlaps, pieces)):
        bits |= matched
    has_any_value = any(piece.any_value for piece in pieces)
    if has_any_value and any(piece.omittable for piece in pieces):
        return bits | ANYTHING
    if all(piece.absence_only for piece in pieces):
        return bits
    return bits | CARRIED


def check_flavor(spec: FlavorSpec, offer: int) -> Cause | None:
    """Return why aggregates do not meet an extra spec; None if they do.

    :param offer: what the aggregates of a host offer to the extra spec.
    """
    requirement = spec.requirement
    if offer & MATCHED and not requirement.forbidden:
        return None
    if not offer & CARRIED:
        if requirement.accepts_absence:
            return None
        if not offer & ANYTHING:
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


def read_demand(value: str) -> tuple[bool, Sequence[str]]:
    """Return what a value of a forced aggregate demands of any flavor.

    :returns: whether a piece is not "!", and the sentinels "~" and "!" among
        the pieces.
    """
    if is_plain(value):
        return True, ()
    is_demanded = False
    sentinels = []
    for piece in map(parse, split(value)):
        if piece.omittable:
            sentinels.append(OMITTABLE)
        if piece.forbidden:
            sentinels.append(FORBIDDEN)
        if piece.problem or not piece.forbidden:
            is_demanded = True
    return is_demanded, sentinels


class Demands(NamedTuple):
    """The keys that the forced aggregates of a host demand.

    :param demanded: those with a piece other than "!".
    :param omittable: those with a piece "~".
    :param forbidden: those with a piece "!".
    """

    demanded: Set[str]
    omittable: Set[str]
    forbidden: Set[str]


class FlavorKeys(NamedTuple):
    """The keys of a flavor.

    :param keys: all of them.
    :param required: those that may not be absent.
    """

    keys: Set[str]
    required: Set[str]


def find_unmet(
    flavor: FlavorKeys, accepted: Set[str], demands: Demands
) -> Set[str]:
    """Return the keys for which a flavor does not meet the demands.

    :param accepted: the keys of the flavor for which the demanding aggregates
        accept each of its extra specs.
    """
    demanded, omittable, forbidden = demands
    may_lack = omittable - flavor.keys
    unmet = demanded - accepted - may_lack
    return unmet | forbidden & (demanded | flavor.required)


def find_cause(flavor: FlavorKeys, demands: Demands, key: str) -> Cause:
    """Return why a flavor does not meet the demand for a key."""
    if key in demands.forbidden:
        if key in demands.demanded:
            return Cause.CONTRADICTION
        return Cause.FORBIDDEN
    if key in flavor.keys:
        return Cause.DIFFERENT
    return Cause.MISSING
