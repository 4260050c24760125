# SPDX-License-Identifier: Apache-2.0

"""What would let a flavor use a host: the smallest change.

Each proposal is put to the evaluator, and only what it lets pass is returned.
No proposal changes the availability zone of a host: Nova refuses a second
zone, and another one while servers run there.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from nova_filters.advice import changes, inventory
from nova_filters.advice.changes import Change
from nova_filters.advice.explanation import Panel
from nova_filters.advice.impact import LOSES, flips
from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request

#: A change of a flavor can call up a demand on the same key, and no more.
_ROUNDS: Final = 3
#: As long as Nova lets a value be.
_LONGEST: Final = 255

#: What reaches few hosts and flavors comes before what reaches more.
_WIDTHS: Final = (
    *(('aggregate', 'add host'), ('aggregate', 'set')),
    *(('flavor', 'set'), ('flavor', 'unset'), ('aggregate', 'remove host')),
)

Changes = tuple[Change, ...]


class Remedy(NamedTuple):
    """A change that lets a flavor use a host.

    :param changes: the fewest that do; none if no change is known that does.
    :param losers: the other flavors that lose a host by it.
    """

    changes: Changes
    losers: tuple[str, ...] = ()


def find(
    flavor: inventory.Flavor,
    host: inventory.Host,
    stock: inventory.Stock,
) -> Remedy:
    """Return the fewest changes that would let a flavor use a host.

    Of as many changes, those that reach fewer hosts and flavors come first:
    the host joins an aggregate, its aggregate gets a key that it lacks, the
    flavor changes, the host leaves an aggregate. Nobody can change a flavor
    that is not in the stock: it is a server's copy.
    """
    request = Request(inputs.read_flavor(flavor.extra_specs), stock.exempt)
    proposals = [
        found
        for found, own in _regrouping(request, host, stock.aggregates)
        if dataclasses.replace(host, aggregates=own).zones == host.zones
        and not request.refusals(own)
    ]
    if flavor in stock.flavors:
        proposals += _rewriting(flavor, host, stock.exempt)
    found = min(
        proposals,
        key=lambda own: (
            len(own),
            [_WIDTHS.index((one.noun, one.verb)) for one in own],
        ),
        default=(),
    )
    return Remedy(found, _losers(found, flavor, stock))


def _losers(
    found: Changes, flavor: inventory.Flavor, stock: inventory.Stock
) -> tuple[str, ...]:
    """Return the other flavors that lose a host that is up by changes."""
    if not found or found[0].noun == 'flavor':
        return ()
    then = changes.apply(found, stock)
    reached = [
        name
        for name, host in stock.hosts.items()
        if host.usable and host.aggregates != then.hosts[name].aggregates
    ]
    before, after = (
        Panel(one, [one.hosts[n] for n in reached]) for one in (stock, then)
    )
    lost = {e.name for e in flips(before, after) if e.effect == LOSES}
    lost.discard(flavor.name)
    return tuple(one.name for one in stock.flavors if one.name in lost)


def _regrouping(
    request: Request,
    host: inventory.Host,
    aggregates: Iterable[inventory.HostAggregate],
) -> Iterator[tuple[Changes, tuple[inputs.Aggregate, ...]]]:
    """Yield changes of aggregates, and those that the host is in then."""
    offers = {
        reason.key: _example(reason.wanted)
        for reason in request.reasons(host.aggregates)
        if reason.side is Side.FLAVOR and reason.kind is Kind.MISSING
    }
    for aggregate in aggregates:
        name = aggregate.name
        others = tuple(a for a in host.aggregates if a is not aggregate)
        if len(others) == len(host.aggregates):
            change = Change('aggregate', 'add host', name, host.name)
            yield (change,), (*others, aggregate)
            continue
        change = Change('aggregate', 'remove host', name, host.name)
        yield (change,), others
        own = inputs.Aggregate(name, {**aggregate.metadata, **offers})
        sets = (Change('aggregate', 'set', name, *o) for o in offers.items())
        yield tuple(sets), (*others, own)


def _rewriting(
    flavor: inventory.Flavor, host: inventory.Host, exempt: inputs.Exempt
) -> Iterator[Changes]:
    """Yield what could be changed in the flavor, if anything can."""
    specs = dict(flavor.extra_specs)
    for _ in range(_ROUNDS + 1):
        request = Request(inputs.read_flavor(specs), exempt)
        reasons = list(request.reasons(host.aggregates))
        if not reasons:
            found = tuple(
                Change('flavor', 'set', flavor.name, name, specs[name])
                if name in specs
                else Change('flavor', 'unset', flavor.name, name)
                for name in {**flavor.extra_specs, **specs}
                if specs.get(name) != flavor.extra_specs.get(name)
            )
            # Nova knows the values of other namespaces, and refuses ours.
            if all(
                ':' not in change.key.removeprefix(SCOPE)
                or change.key.startswith(SCOPE)
                or change.verb == 'unset'
                for change in found
            ) and all(len(change.value) <= _LONGEST for change in found):
                yield found
            return
        for reason in reasons:
            names = [n for n in specs if n.removeprefix(SCOPE) == reason.key]
            for name in names:
                del specs[name]
            value = _accepting(reason)
            if value:
                specs[(names or [SCOPE + reason.key])[0]] = value


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
