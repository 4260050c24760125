# SPDX-License-Identifier: Apache-2.0

"""The verdict of Nova's own AggregateInstanceExtraSpecsFilter.

The commands run where no Nova is installed, so the rules of that filter stand
here in the terms of this package. Flavors have plain alternatives, operators
and literals; aggregates have plain text. There are no sentinels and no flag,
and namespaces other than the filter's own are skipped. The functional tests
compare this module with the filter of each supported Nova.
"""

import functools
from collections.abc import Iterable, Mapping
from typing import Final

from nova_filters.advice import inventory
from nova_filters.matching import inputs, request, requirement
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Sifted

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


def read_flavor(
    extra_specs: Mapping[str, str] | None,
) -> tuple[inputs.FlavorSpec, ...]:
    """Return extra specs as that filter reads them, in their order."""
    return tuple(
        inputs.FlavorSpec(key, False, _read(text))
        for name, text in (extra_specs or {}).items()
        if (key := name.removeprefix(inputs.SCOPE)) != name or ':' not in key
    )


class Request(request.Request):
    """One flavor, whose hosts are sifted as Nova's own filter does it.

    The kind ``malformed`` means that the in-tree filter raises, or may raise:
    that depends on the order of the values in a set.

    :param flavor: the result of :func:`read_flavor`.
    """

    read = staticmethod(read_flavor)

    def sift(self, hosts: Iterable[inventory.Host]) -> Sifted[inventory.Host]:  # type: ignore[override]
        """Return the hosts that pass, and the others by the first reason."""
        passed: list[inventory.Host] = []
        refused: dict[Reason, list[inventory.Host]] = {}
        check = functools.cache(_check)
        for host in hosts:
            reasons = (check(spec, host.aggregates) for spec in self.flavor)
            reason = next(filter(None, reasons), None)
            group = refused.setdefault(reason, []) if reason else passed
            group.append(host)
        return passed, refused


def _check(
    spec: inputs.FlavorSpec, aggregates: Iterable[inputs.Aggregate]
) -> Reason | None:
    """Return what is wrong with the values of a key; None if nothing is.

    To this filter, the flag is a key like any other.
    """
    key, _, wanted = spec
    texts = [a.metadata[key] for a in aggregates if key in a.metadata]
    values = {value for text in texts for value in requirement.split(text)}
    kind, problem = Kind.MISSING, ''
    if any(_raises(wanted, value) for value in values):
        kind, problem = Kind.MALFORMED, RAISES
    elif wanted.accepts(values):
        return None
    elif values:
        kind = Kind.MISMATCH
    return Reason(Side.FLAVOR, kind, key, (wanted.text,), problem)
