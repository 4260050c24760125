# SPDX-License-Identifier: Apache-2.0

"""The verdict of Nova's own AggregateInstanceExtraSpecsFilter.

The commands run where no Nova is installed, so the rules of that filter stand
here in the terms of this package. Flavors have plain alternatives, operators
and literals; aggregates have plain text. There are no sentinels and no flag,
and namespaces other than the filter's own are skipped. The functional tests
compare this module with the filter of each supported Nova.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Kind, Reason, Side

#: The problem of a value that ends the boot request with an error.
RAISES: Final = 'the in-tree filter raises'


def _read(text: str) -> requirement.Requirement:
    """Return an extra spec's value, sentinels as plain text."""
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
    :returns: None if the host passes, else the reason. The kind ``malformed``
        means that the in-tree filter raises, or may raise: that depends on
        the order of the values in a set.
    """
    for name, text in extra_specs:
        key = name.removeprefix(inputs.SCOPE)
        if key == name and ':' in key:
            continue
        offers = [
            (aggregate.name, piece)
            for aggregate in aggregates
            if key in aggregate.metadata
            for piece in requirement.parse_metadata(
                aggregate.metadata[key], forced=False
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
