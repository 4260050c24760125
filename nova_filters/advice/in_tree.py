# SPDX-License-Identifier: Apache-2.0

"""The verdict of Nova's own AggregateInstanceExtraSpecsFilter.

The commands run where no Nova is installed, so the rules of that filter stand
here in the terms of this package. Flavors have plain alternatives, operators
and literals; aggregates have plain text. There are no sentinels and no flag,
and namespaces other than the filter's own are skipped. The functional tests
compare this module with the filter of each supported Nova.
"""

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters.advice import explanation, inventory
from nova_filters.matching import inputs, requirement
from nova_filters.matching.preferences import Preferences
from nova_filters.matching.reason import Kind, Reason, Refusal, Side
from nova_filters.matching.request import Sifted

#: The problem of a value that ends the boot request with an error.
RAISES: Final = 'the in-tree filter raises'
#: What an aggregate can say of an extra spec; a number has a bit for each.
_CARRIED: Final = 1
_MATCHED: Final = 2
_RAISED: Final = 4
_BITS: Final = 3


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


class Request:
    """One flavor, asked as :class:`nova_filters.matching.request.Request` is.

    The kind ``malformed`` means that the in-tree filter raises, or may raise:
    that depends on the order of the values in a set.

    :param extra_specs: the flavor's extra specs, key and value, in the order
        in which Nova would look at them.
    """

    def __init__(self, extra_specs: Iterable[tuple[str, str]]) -> None:
        self._specs = [
            (key, _read(text))
            for name, text in extra_specs
            if (key := name.removeprefix(inputs.SCOPE)) != name
            or ':' not in key
        ]
        self._said = functools.cache(self._say)
        self._refusal = functools.cache(self._refuse)

    def sift(self, hosts: Iterable[inventory.Host]) -> Sifted[inventory.Host]:
        """Return the hosts that pass, and the others by the first reason."""
        passed: list[inventory.Host] = []
        refused: dict[Refusal, list[inventory.Host]] = {}
        for host in hosts:
            said = map(self._said, host.aggregates)
            refusal = self._refusal(functools.reduce(operator.or_, said, 0))
            group = refused.setdefault(refusal, []) if refusal else passed
            group.append(host)
        return passed, refused

    def explain(
        self, refusal: Refusal, aggregates: Iterable[inputs.Aggregate]
    ) -> Reason:
        """Return a refusal with the values and aggregates behind it."""
        offers = [
            (aggregate.name, piece.text)
            for aggregate in aggregates
            for piece in _pieces(aggregate, refusal.key)
        ]
        return Reason(
            *(Side.FLAVOR, refusal.kind, refusal.key),
            (refusal.wanted.text if refusal.wanted else '',),
            found=tuple(text for _, text in offers),
            aggregate=tuple(owner for owner, _ in offers),
            problem=RAISES if refusal.kind is Kind.MALFORMED else '',
        )

    def _say(self, aggregate: inputs.Aggregate) -> int:
        """Return what an aggregate says of all extra specs."""
        said = 0
        for key, wanted in reversed(self._specs):
            said <<= _BITS
            for piece in _pieces(aggregate, key):
                said |= _CARRIED | wanted.overlaps(piece) * _MATCHED
                said |= _raises(wanted, piece.text) * _RAISED
        return said

    def _refuse(self, said: int) -> Refusal | None:
        """Return the first reason to refuse a host; None if it passes."""
        for key, wanted in self._specs:
            if not said & _CARRIED:
                return Refusal(Side.FLAVOR, Kind.MISSING, key, wanted=wanted)
            if said & _RAISED:
                return Refusal(Side.FLAVOR, Kind.MALFORMED, key, wanted=wanted)
            if not said & _MATCHED:
                return Refusal(Side.FLAVOR, Kind.MISMATCH, key, wanted=wanted)
            said >>= _BITS
        return None


def _pieces(
    aggregate: inputs.Aggregate, key: str
) -> list[requirement.Requirement]:
    """Return the values of a key, the flag being one like any other."""
    if key not in aggregate.metadata:
        return []
    return requirement.parse_metadata(aggregate.metadata[key], forced=False)


class Panel:
    """Judges many flavors on the same hosts, as Nova's own filter does."""

    def __init__(self, hosts: Sequence[inventory.Host]) -> None:
        self.hosts = hosts

    def judge(self, flavor: inventory.Flavor) -> explanation.Verdicts:
        """Judge every host for one flavor."""
        request = Request(flavor.extra_specs.items())
        passed, refused = request.sift(self.hosts)
        soft = Preferences({}, ())
        return explanation.Verdicts(flavor, request, passed, refused, soft)
