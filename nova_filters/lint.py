# SPDX-License-Identifier: Apache-2.0

"""Mistakes in flavors and aggregates that change where flavors boot.

Pure. What is wrong in a single text is told by :mod:`nova_filters.mistakes`;
what only shows when flavors, aggregates and hosts are seen together is asked
of the evaluator here.
"""

import collections
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from nova_filters import inventory, matching, mistakes, request, requirement
from nova_filters.mistakes import Code, Problem

#: How many values a remedy lists.
_LISTED = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Something that should be corrected, or looked at.

    :param owner: ``flavor``, ``aggregate`` or ``host``.
    :param name: the name of the flavor, the aggregate or the host.
    :param key: the key as it is written there.
    :param problem: what is wrong, and how to write it.
    """

    owner: str
    name: str
    key: str
    problem: Problem


def _unmet(
    name: str, text: str, aggregates: Sequence[matching.Aggregate]
) -> Iterator[Problem]:
    """Find an extra spec that no aggregate meets, asking the evaluator."""
    flavor = matching.read_flavor({name: text})
    if not flavor or flavor[0].wanted.problem:
        return
    (spec,) = flavor
    kinds = set()
    # A host passes this check if one of its aggregates alone passes it, or
    # none at all.
    alone: list[tuple[matching.Aggregate, ...]] = [(a,) for a in aggregates]
    for host in ((), *alone):
        reason = next(request.reasons(flavor, host), None)
        if reason is None or reason.side is matching.Side.AGGREGATE:
            return
        kinds.add(reason.kind)
    key = requirement.quote(spec.key)
    if kinds == {matching.Kind.MISSING}:
        yield Problem(
            Code.KEY_NOT_OFFERED,
            f'no aggregate has {key}: no host passes',
            f"{spec.key}=… on an aggregate, or '<or> … <or> ~' in the flavor "
            'if the key may be absent',
        )
        return
    values = {piece.text for a in aggregates for piece in a.pieces(spec.key)}
    shown = map(requirement.quote, sorted(values)[:_LISTED])
    yield Problem(
        Code.VALUE_NOT_OFFERED,
        f'no aggregate has a {key} that meets {requirement.quote(text)}: no '
        'host passes',
        f'values that are there: {", ".join(shown)}',
    )


def _lint_extra_spec(
    name: str, text: str, aggregates: Sequence[matching.Aggregate]
) -> Iterator[Problem]:
    """Find what is wrong with one extra spec."""
    bare = name.removeprefix(mistakes.PREFIX)
    if bare == matching.FLAG:
        yield Problem(
            Code.FLAG_IN_FLAVOR,
            'it has no effect in a flavor',
            f'{matching.FLAG}=True on the aggregate',
        )
        return
    yield from mistakes.flag_key(name)
    yield from mistakes.scope(name, text)
    # Extra specs of other namespaces belong to other parts of Nova and have
    # a syntax of their own; the filter looks at them only where an aggregate
    # has the same key.
    foreign = name == bare and ':' in name
    if foreign and not any(a.values(name) for a in aggregates):
        return
    yield from mistakes.malformed(text)
    yield from mistakes.expanded(text)
    unmatchable = list(mistakes.unmatchable(text))
    yield from unmatchable
    # Nothing can offer such a text: that nothing does is no news.
    if not unmatchable:
        yield from _unmet(name, text, aggregates)


def _lint_metadata(
    name: str, text: str, aggregate: matching.Aggregate
) -> Iterator[Problem]:
    """Find what is wrong with one metadata value."""
    if name.removeprefix(mistakes.PREFIX) == matching.FLAG:
        yield from mistakes.flag(name, text)
        return
    yield from mistakes.flag_key(name)
    yield from mistakes.expanded(text)
    pieces = [piece.strip() for piece in text.split(',')]
    if aggregate.forced:
        for piece in pieces:
            yield from mistakes.malformed(piece)
        return
    for piece in pieces:
        if requirement.parse(piece) != requirement.literal(piece):
            yield Problem(
                Code.SENTINEL_WITHOUT_FLAG,
                f'{requirement.quote(piece)} is plain text here, because '
                f'{matching.FLAG} is not on',
                f'{matching.FLAG}=True, or commas between values',
            )
    if name.startswith(mistakes.PREFIX):
        yield Problem(
            Code.SCOPE_WITHOUT_FLAG,
            'the scope is part of the key here, because '
            f'{matching.FLAG} is not on',
            name.removeprefix(mistakes.PREFIX),
        )


def _contradictory(
    aggregates: Sequence[matching.Aggregate], exempt: tuple[str, ...]
) -> Iterator[matching.Reason]:
    """Find demands of a host's aggregates that no flavor could meet."""
    for reason in request.reasons((), aggregates, exempt):
        if reason.kind is matching.Kind.CONTRADICTION:
            yield reason


def _contradictions(
    hosts: inventory.Hosts,
    aggregates: Sequence[matching.Aggregate],
    exempt: tuple[str, ...],
) -> Iterator[Finding]:
    """Find demands that exclude each other, in one aggregate or on a host."""
    seen = set()
    cases: list[tuple[str, str, tuple[matching.Aggregate, ...]]] = [
        ('aggregate', aggregate.name, (aggregate,)) for aggregate in aggregates
    ]
    cases += [('host', name, own) for name, own in hosts.items()]
    for owner, name, own in cases:
        for reason in _contradictory(own, exempt):
            case = (frozenset(reason.aggregate), reason.key)
            # Further hosts in the same aggregates are the same mistake.
            if case not in seen:
                seen.add(case)
                problem = Problem(
                    Code.CONTRADICTORY_DEMANDS,
                    str(reason),
                    f'{requirement.FORBIDDEN!r} in all of these aggregates, '
                    'or in none',
                )
                yield Finding(owner, name, reason.key, problem)


def _rivals(
    aggregate: matching.Aggregate, hosts: inventory.Hosts
) -> list[tuple[matching.Aggregate, ...]]:
    """Return the forced aggregates whose demands meet on each host.

    :param aggregate: the aggregate in question.
    :param hosts: the aggregates of each host.
    :returns: for its hosts the aggregate itself, and those that demand a key
        that it demands, too: they widen what it accepts. Each set comes
        once.
    """
    keys = {key for key, _ in aggregate.demands()}
    sets = {}
    for own in hosts.values():
        if all(other.name != aggregate.name for other in own):
            continue
        rivals = tuple(
            other
            for other in own
            if other.forced and any(key in keys for key, _ in other.demands())
        )
        sets[tuple(other.name for other in rivals)] = rivals
    return list(sets.values())


def _closing_keys(
    flavors: Mapping[tuple[matching.FlavorSpec, ...], int],
    aggregate: matching.Aggregate,
    own: Sequence[matching.Aggregate],
    exempt: tuple[str, ...],
) -> collections.Counter[str]:
    """Count the flavors that each demand keeps out of an aggregate.

    :param flavors: the numbers of flavors that say the same about the keys
        that the aggregate demands.
    :param aggregate: the aggregate in question.
    :param own: what :func:`_rivals` returned of one of its hosts.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: flavors by key; nothing if the aggregate lets one in.
    """
    closing: collections.Counter[str] = collections.Counter()
    for flavor, number in flavors.items():
        keys = {
            reason.key
            for reason in request.reasons(flavor, own, exempt)
            if reason.side is matching.Side.AGGREGATE
            and aggregate.name in reason.aggregate
        }
        if not keys:
            return collections.Counter()
        closing.update(dict.fromkeys(keys, number))
    return closing


def _closed(
    flavors: Sequence[inventory.Flavor],
    hosts: inventory.Hosts,
    aggregates: Sequence[matching.Aggregate],
    exempt: tuple[str, ...],
) -> Iterator[Finding]:
    """Find forced aggregates whose demands no flavor meets on any host."""
    specs = [matching.read_flavor(flavor.extra_specs) for flavor in flavors]
    for aggregate in aggregates:
        # What contradicts itself is told already.
        if not aggregate.forced or any(_contradictory((aggregate,), exempt)):
            continue
        demanded = {key for key, _ in aggregate.demands()}
        alike = collections.Counter(
            tuple(spec for spec in flavor if spec.key in demanded)
            for flavor in specs
        )
        closing: collections.Counter[str] = collections.Counter()
        for own in ((aggregate,), *_rivals(aggregate, hosts)):
            found = _closing_keys(alike, aggregate, own, exempt)
            if not found:
                break
            closing += found
        else:
            if not closing:
                # There is no flavor at all.
                continue
            key = min(closing, key=lambda k: (-closing[k], k))
            problem = Problem(
                Code.CLOSED_AGGREGATE,
                f'none of {len(specs)} flavors meets what it demands; '
                f'{requirement.quote(key)} keeps out most',
                f'{mistakes.PREFIX}{key} in a flavor, or {key} in the option '
                'exempt_metadata_keys',
            )
            yield Finding('aggregate', aggregate.name, key, problem)


def lint(
    flavors: Sequence[inventory.Flavor],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
) -> list[Finding]:
    """Look for mistakes in flavors and aggregates.

    :param flavors: the flavors.
    :param aggregates: the aggregates with their hosts.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: the findings; the worst first, then by object and key.
    """
    hosts = inventory.hosts_of(aggregates)
    judged = [matching.Aggregate(a.name, a.metadata) for a in aggregates]
    found = [
        Finding('flavor', flavor.name, name, problem)
        for flavor in flavors
        for name, text in flavor.extra_specs.items()
        for problem in _lint_extra_spec(name, text, judged)
    ]
    found += [
        Finding('aggregate', aggregate.name, name, problem)
        for aggregate in judged
        for name, text in aggregate.metadata.items()
        for problem in _lint_metadata(name, text, aggregate)
    ]
    found += _closed(flavors, hosts, judged, exempt)
    found += _contradictions(hosts, judged, exempt)
    return sorted(
        dict.fromkeys(found),
        key=lambda f: (
            mistakes.SEVERITIES.index(f.problem.severity),
            f.owner,
            f.name,
            f.key,
            f.problem.code,
        ),
    )
