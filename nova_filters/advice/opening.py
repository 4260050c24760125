# SPDX-License-Identifier: Apache-2.0

"""The smallest change that would let a flavor use a host.

Each proposal is put to the evaluator, and only what it lets pass is returned.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    exempt: tuple[str, ...],
    of_server: bool = False,
) -> Changes:
    """Return the fewest changes that would let a flavor use a host.

    Of as many changes, those that reach fewer hosts and flavors come first:
    the host joins an aggregate, its aggregate gets a key that it lacks, the
    flavor changes, the host leaves an aggregate.

    :param flavor: the flavor, which the host refuses.
    :param host: the host.
    :param aggregates: all aggregates.
    :param exempt: patterns of keys that no aggregate may demand.
    :param of_server: whether the flavor is a server's copy, which nobody can
        change.
    :returns: the changes; none if there are none that would do.
    """
    proposals: list[Changes] = [
        *_joining(flavor, host, aggregates, exempt),
        *_offering(flavor, host, exempt),
        *(() if of_server else _rewriting(flavor, host, exempt)),
        *_leaving(flavor, host, exempt),
    ]
    return min(proposals, key=len, default=())


def _reasons(
    extra_specs: Mapping[str, str],
    aggregates: Sequence[inputs.Aggregate],
    exempt: tuple[str, ...],
) -> list[Reason]:
    """Return the reasons to refuse a host in these aggregates."""
    request = Request(inputs.read_flavor(extra_specs), exempt)
    return list(request.reasons(aggregates))


def _joining(
    flavor: inventory.Flavor,
    host: inventory.Host,
    aggregates: Iterable[inputs.Aggregate],
    exempt: tuple[str, ...],
) -> Iterator[Changes]:
    """Yield the aggregates that the host could join."""
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
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


def _offering(
    flavor: inventory.Flavor, host: inventory.Host, exempt: tuple[str, ...]
) -> Iterator[Changes]:
    """Yield the aggregates of the host that could offer what is missing."""
    offers = {}
    for reason in _reasons(flavor.extra_specs, host.aggregates, exempt):
        if reason.side is Side.FLAVOR and reason.kind is Kind.MISSING:
            offers[reason.key] = _example(reason.wanted)
    for aggregate in host.aggregates:
        own = {**aggregate.metadata, **offers}
        others = [a for a in host.aggregates if a != aggregate]
        changed = inputs.Aggregate(aggregate.name, own)
        if not _reasons(flavor.extra_specs, [*others, changed], exempt):
            yield tuple(
                Change('aggregate', 'set', aggregate.name, *offer)
                for offer in offers.items()
            )


def _rewriting(
    flavor: inventory.Flavor, host: inventory.Host, exempt: tuple[str, ...]
) -> Iterator[Changes]:
    """Yield what could be changed in the flavor, if anything can."""
    specs = dict(flavor.extra_specs)
    for _ in range(_ROUNDS):
        for reason in _reasons(specs, host.aggregates, exempt):
            names = [n for n in specs if n.removeprefix(SCOPE) == reason.key]
            for name in names:
                del specs[name]
            value = _accepting(reason)
            if value:
                specs[(names or [SCOPE + reason.key])[0]] = value
        if not _reasons(specs, host.aggregates, exempt):
            break
    else:
        return
    yield tuple(
        Change('flavor', 'set', flavor.name, name, specs[name])
        if name in specs
        else Change('flavor', 'unset', flavor.name, name)
        for name in {**flavor.extra_specs, **specs}
        if specs.get(name) != flavor.extra_specs.get(name)
    )


def _leaving(
    flavor: inventory.Flavor, host: inventory.Host, exempt: tuple[str, ...]
) -> Iterator[Changes]:
    """Yield the aggregates that the host could leave."""
    for aggregate in host.aggregates:
        others = [a for a in host.aggregates if a != aggregate]
        if not _reasons(flavor.extra_specs, others, exempt):
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
