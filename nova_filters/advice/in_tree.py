# SPDX-License-Identifier: Apache-2.0

"""What Nova's own AggregateInstanceExtraSpecsFilter would have answered.

Pure. A client has no Nova to ask, so its verdict is stated here in the terms
of this package: plain alternatives, operators and literals on the flavor's
side, plain text on the aggregates' side, no sentinels, no flag, and other
namespaces than its own are skipped. The functional tests compare this with
the filter of each supported Nova over random flavors and aggregates.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Kind, Reason, Side

#: The problem of a value that ends the boot request with an error.
RAISES: Final = 'the in-tree filter raises'


def _read(text: str) -> requirement.Requirement:
    """Return what an extra spec's value asks for, sentinels as plain text."""
    words = text.split()
    if words and words[0] == requirement.OR:
        return requirement.Requirement(text, literals=frozenset(words[1::2]))
    if words and words[0] in requirement.OPERATORS:
        return requirement.parse(text)
    return requirement.literal(text)


def _raises(wanted: requirement.Requirement, value: str) -> bool:
    """Tell whether comparing with one value ends the boot request."""
    words = wanted.text.split()
    if words[:1] == [requirement.OR]:
        return len(words) == 1
    if len(words) < 2 or words[0] not in requirement.NUMERIC:
        return False
    try:
        float(words[1])
        float(value)
    except ValueError:
        return True
    return False


def refusal(
    extra_specs: Iterable[tuple[str, str]],
    aggregates: Sequence[inputs.Aggregate],
) -> Reason | None:
    """Decide for a host as the in-tree filter does.

    :param extra_specs: the flavor's extra specs, key and value, in the order
        in which Nova would look at them.
    :param aggregates: the host's aggregates.
    :returns: None if the host passes, else the reason. One of the kind
        ``malformed`` says that the in-tree filter raises, or may raise,
        depending on the order in which it meets the values of a set.
    """
    for name, text in extra_specs:
        key = name.removeprefix(inputs.SCOPE)
        if key == name and ':' in key:
            continue
        offers = [
            (aggregate.name, piece)
            for aggregate in aggregates
            for piece in requirement.parse_metadata(
                aggregate.metadata.get(key), forced=False
            )
        ]
        wanted = _read(text)
        if not offers:
            kind = Kind.MISSING
        elif any(_raises(wanted, piece.text) for _, piece in offers):
            kind = Kind.MALFORMED
        elif any(wanted.overlaps(piece) for _, piece in offers):
            continue
        else:
            kind = Kind.MISMATCH
        return Reason(
            side=Side.FLAVOR,
            kind=kind,
            key=key,
            wanted=(text,),
            found=tuple(piece.text for _, piece in offers),
            aggregate=tuple(owner for owner, _ in offers),
            problem=(RAISES if kind is Kind.MALFORMED else ''),
        )
    return None
