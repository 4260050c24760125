# SPDX-License-Identifier: Apache-2.0

"""The smallest change that would let a flavor use a host.

Each proposal is put to the evaluator, and only what it lets pass is returned.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from nova_filters.advice import inventory
from nova_filters.advice.changes import Change
from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request

#: A change of a flavor can call up a demand on the same key, and no more.
_ROUNDS: Final = 3
_ZONE: Final = 'availability_zone'

Changes = tuple[Change, ...]


def smallest(
    flavor: inventory.Flavor,
    host: inventory.Host,
    aggregates: Iterable[inputs.Aggregate],
    exempt: inputs.Exempt,
    of_server: bool = False,
) -> Changes:
    """Return the fewest changes that would let a flavor use a host.

    Of as many changes, those that reach fewer hosts and flavors come first:
    the host joins an aggregate, its aggregate gets a key that it lacks, the
    flavor changes, the host leaves an aggregate.

    :param aggregates: all aggregates.
    :param of_server: whether the flavor is a server's copy, which nobody can
        change.
    :returns: the changes; none if there are none that would do.
    """
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
    proposals: list[Changes] = [
        *_joining(request, host, aggregates),
        *_offering(request, host),
        *(() if of_server else _rewriting(flavor, host, exempt)),
        *_leaving(request, host),
    ]
    return min(proposals, key=len, default=())


def _joining(
    request: Request,
    host: inventory.Host,
    aggregates: Iterable[inputs.Aggregate],
) -> Iterator[Changes]:
    """Yield the aggregates that the host could join."""
    zones = {a.metadata.get(_ZONE) for a in host.aggregates} - {None}
    for aggregate in aggregates:
        zone = aggregate.metadata.get(_ZONE)
        # Nova refuses a second availability zone.
        if (
            aggregate in host.aggregates
            or zones
            and zone not in (None, *zones)
        ):
            continue
        if not any(request.reasons((*host.aggregates, aggregate))):
            yield (Change('aggregate', 'add host', aggregate.name, host.name),)


def _offering(request: Request, host: inventory.Host) -> Iterator[Changes]:
    """Yield the aggregates of the host that could offer what is missing."""
    offers = {
        reason.key: _example(reason.wanted)
        for reason in request.reasons(host.aggregates)
        if reason.side is Side.FLAVOR and reason.kind is Kind.MISSING
    }
    for aggregate in host.aggregates:
        own = {**aggregate.metadata, **offers}
        others = [a for a in host.aggregates if a != aggregate]
        changed = inputs.Aggregate(aggregate.name, own)
        if not any(request.reasons((*others, changed))):
            yield tuple(
                Change('aggregate', 'set', aggregate.name, *offer)
                for offer in offers.items()
            )


def _rewriting(
    flavor: inventory.Flavor, host: inventory.Host, exempt: inputs.Exempt
) -> Iterator[Changes]:
    """Yield what could be changed in the flavor, if anything can."""
    specs = dict(flavor.extra_specs)
    for _ in range(_ROUNDS + 1):
        request = Request(inputs.read_flavor(specs), exempt)
        reasons = list(request.reasons(host.aggregates))
        if not reasons:
            yield tuple(
                Change('flavor', 'set', flavor.name, name, specs[name])
                if name in specs
                else Change('flavor', 'unset', flavor.name, name)
                for name in {**flavor.extra_specs, **specs}
                if specs.get(name) != flavor.extra_specs.get(name)
            )
            return
        for reason in reasons:
            names = [n for n in specs if n.removeprefix(SCOPE) == reason.key]
            for name in names:
                del specs[name]
            value = _accepting(reason)
            if value:
                specs[(names or [SCOPE + reason.key])[0]] = value


def _leaving(request: Request, host: inventory.Host) -> Iterator[Changes]:
    """Yield the aggregates that the host could leave."""
    for aggregate in host.aggregates:
        others = [a for a in host.aggregates if a != aggregate]
        if not any(request.reasons(others)):
            change = 'aggregate', 'remove host', aggregate.name, host.name
            yield (Change(*change),)


def _accepting(reason: Reason) -> str:
    """Return an extra spec that the host takes; empty if it takes none."""
    if reason.side is Side.AGGREGATE:
        return '' if reason.kind is Kind.FORBIDDEN else _example(reason.wanted)
    if reason.kind is not Kind.MISMATCH:
        return ''
    found = min(reason.found)
    wanted = requirement.parse(reason.wanted[0])
    if wanted.literals and found.split() == [found]:
        words = [*sorted(wanted.literals), found]
        words += [requirement.OMITTABLE] * wanted.omittable
        return ' '.join(f'{requirement.OR} {word}' for word in words)
    plain = requirement.parse(found) == requirement.literal(found)
    return found if plain else f's== {found}'


def _example(wanted: Iterable[str]) -> str:
    """Return a value that one of some texts accepts."""
    for text in sorted(wanted):
        read = requirement.parse(text)
        if read.problem or read.absence_only:
            continue
        if read.predicate is not None:
            return read.predicate.operands[0]
        return min(read.literals, default='true')
    return ''
