# SPDX-License-Identifier: Apache-2.0

"""The verdict of Nova's own AggregateInstanceExtraSpecsFilter.

Nova is not installed where the commands run, so this module repeats the rules
of Nova's filter with the types of this package.

In Nova's filter, the value of a flavor is a plain text, a list with ``<or>``,
or an operator with operands. The value of an aggregate is plain text. ``*``,
``~``, ``!`` and ``force_metadata_check`` have no special meaning. Extra specs
with a namespace are skipped, except those with the filter's scope.

The functional tests compare this module with the filter of each supported
release of Nova.
"""

from collections.abc import Mapping

from nova_filters.matching import decision, inputs, request
from nova_filters.matching.reason import Kind
from nova_filters.matching.requirement import (
    NUMERIC,
    OPERATORS,
    OR,
    Requirement,
    literal,
    parse,
    split,
)


def _read(text: str) -> Requirement:
    """Parse the value of an extra spec; ``*~!`` have no special meaning."""
    words = text.split()
    if words and words[0] == OR:
        return Requirement(text, literals=frozenset(words[1::2]))
    if words and words[0] in OPERATORS:
        return parse(text)
    return literal(text)


def _raises(need: Requirement, value: str) -> bool:
    """Tell whether Nova's filter raises an error on a metadata value.

    The error ends the boot request.

    :param need: the value of the flavor.
    :param value: the value of the aggregate.
    """
    words = need.text.split()
    if words == [OR]:
        return True
    if len(words) < 2 or words[0] not in NUMERIC:
        return False
    try:
        float(words[1])
        float(value)
    except ValueError:
        return True
    return False


def read_flavor(
    extra_specs: Mapping[str, str] | None,
) -> tuple[inputs.FlavorSpec, ...]:
    """Return extra specs as Nova's filter reads them, in their order."""
    specs = []
    for name, text in (extra_specs or {}).items():
        key = name.removeprefix(inputs.SCOPE)
        if key != name or ':' not in key:
            specs.append(inputs.FlavorSpec(key, False, _read(text)))
    return tuple(specs)


def _say(
    requirement: Requirement | None, forced: bool, value: str | None
) -> int:
    """Return what a metadata value says, as bits of :mod:`decision`."""
    if requirement is None or value is None:
        return 0
    pieces = split(value)
    bits = decision.CARRIED
    if requirement.accepts(pieces):
        bits |= decision.MATCHED
    for piece in pieces:
        if _raises(requirement, piece):
            bits |= decision.MALFORMED
    return bits


def _check(spec: inputs.FlavorSpec, bits: int) -> Kind | None:
    """Return why aggregates do not meet an extra spec; None if they do."""
    if bits & decision.MALFORMED:
        return Kind.RAISES
    if bits & decision.MATCHED:
        return None
    if bits & decision.CARRIED:
        return Kind.MISMATCH
    return Kind.MISSING


class Request(request.Request):
    """One flavor, for which hosts are judged by the rules of Nova's filter.

    :param flavor: the result of :func:`read_flavor`.
    """

    read = staticmethod(read_flavor)
    # Nova's filter treats ``force_metadata_check`` like any other key.
    flag = None
    say = staticmethod(_say)
    check = staticmethod(_check)
