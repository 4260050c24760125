# SPDX-License-Identifier: Apache-2.0

"""The decision tables: which hosts suit a flavor.

A host passes if both checks hold ("Description" and use case 4 of the
specification "Aggregate Instance Type Filter"):

1. The host's aggregates meet every extra spec of the flavor.
2. The flavor meets the demands of the host's forced aggregates: those whose
   metadata key ``force_metadata_check`` is on.

Both checks only ask whether *some* aggregate says something. What is said of
a host is therefore the union of what its aggregates say.
"""

from typing import Final

from nova_filters.matching import requirement
from nova_filters.matching.inputs import FlavorSpec
from nova_filters.matching.reason import Kind
from nova_filters.matching.requirement import Requirement

# What aggregates can say about a key; a number has a bit for each.
#: A value meets what the flavor wants.
MATCHED: Final = 1
#: A value of a forced aggregate does.
ACCEPTED: Final = 2
#: There is a value.
CARRIED: Final = 4
#: There is "<or> * <or> ~", as good as no key ("Description").
ANYTHING: Final = 8
#: A forced aggregate has a piece that is not "!".
DEMANDED: Final = 16
#: A forced aggregate has the piece "~".
OMITTABLE: Final = 32
#: A forced aggregate has the piece "!".
FORBIDDEN: Final = 64
#: A piece is malformed.
MALFORMED: Final = 128


def read(wanted: Requirement | None, forced: bool, value: str | None) -> int:
    """Return what a metadata value says.

    :param wanted: what the flavor wants of the key, None if it lacks the key.
    :param forced: whether the aggregate is forced.
    :param value: the alternatives, separated by commas; None for no value.
    """
    if value is None:
        return 0
    if not forced or requirement.is_plain(value):
        met = wanted is not None and wanted.accepts(requirement.split(value))
        if forced:
            return CARRIED | DEMANDED | met * (MATCHED | ACCEPTED)
        return CARRIED | met * MATCHED
    pieces = requirement.parse_metadata(value, forced)
    said = 0
    if wanted is not None and any(map(wanted.overlaps, pieces)):
        said = MATCHED | ACCEPTED
    for piece in pieces:
        said |= piece.omittable * OMITTABLE | piece.forbidden * FORBIDDEN
        said |= bool(piece.problem) * MALFORMED
        said |= bool(piece.problem or not piece.forbidden) * DEMANDED
    if all(piece.absence_only for piece in pieces):
        return said
    anything = any(piece.any_value for piece in pieces) and said & OMITTABLE
    return said | (ANYTHING if anything else CARRIED)


def check_flavor(spec: FlavorSpec, said: int) -> Kind | None:
    """Return what is wrong with one extra spec; None if it is met."""
    wanted = spec.requirement
    if said & MATCHED and not wanted.forbidden:
        return None
    if not said & CARRIED:
        if wanted.accepts_absence:
            return None
        if not said & ANYTHING:
            if spec.optional:
                return None
            return Kind.MALFORMED if wanted.problem else Kind.MISSING
    if wanted.problem:
        return Kind.MALFORMED
    return Kind.FORBIDDEN if wanted.forbidden else Kind.MISMATCH


def check_demand(wanted: Requirement | None, said: int) -> Kind | None:
    """Return what is wrong if a key is demanded; None if it is not, or met."""
    if not said & (DEMANDED | FORBIDDEN):
        return None
    if said & FORBIDDEN:
        if said & DEMANDED:
            return Kind.CONTRADICTION
        absent = wanted is None or wanted.accepts_absence
        return None if absent else Kind.FORBIDDEN
    if wanted is None:
        return None if said & OMITTABLE else Kind.MISSING
    return None if said & ACCEPTED else Kind.MISMATCH
