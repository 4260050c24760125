# SPDX-License-Identifier: Apache-2.0

"""Mistakes in flavors and aggregates that change where flavors boot.

:mod:`nova_filters.advice.mistakes` finds what is wrong in a single text. This
module asks the evaluator for the rest, which only flavors, aggregates and
hosts together show.
"""

import collections
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nova_filters.advice import explanation, inventory, mistakes, opening
from nova_filters.advice.mistakes import Code, Problem
from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.reason import LISTED, Kind, Reason, Side
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """Something to correct, or to look at.

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
    name: str, text: str, aggregates: Sequence[inputs.Aggregate]
) -> Iterator[Problem]:
    """Find an extra spec that no aggregate meets."""
    flavor = inputs.read_flavor({name: text})
    if flavor[0].wanted.problem:
        return
    request, key = Request(flavor), flavor[0].key
    kinds = set()
    # If any host passes this check, then one in one aggregate or in none.
    for host in ((), *((aggregate,) for aggregate in aggregates)):
        reason = next(request.reasons(host), None)
        if reason is None or reason.side is Side.AGGREGATE:
            return
        kinds.add(reason.kind)
    quoted = quote(key)
    if kinds == {Kind.MISSING}:
        yield Problem(
            Code.KEY_NOT_OFFERED,
            f'no aggregate has {quoted}: no host passes',
            f"{key}=… on an aggregate, or '<or> … <or> ~' in the flavor "
            'if the key may be absent',
        )
        return
    values = {piece.text for a in aggregates for piece in a.pieces(key)}
    shown = map(quote, sorted(values)[:LISTED])
    yield Problem(
        Code.VALUE_NOT_OFFERED,
        f'no aggregate has a {quoted} that meets {quote(text)}: '
        'no host passes',
        f'values that are there: {", ".join(shown)}',
    )


def _lint_extra_spec(
    name: str, text: str, aggregates: Sequence[inputs.Aggregate]
) -> Iterator[Problem]:
    """Find what is wrong with one extra spec."""
    bare = name.removeprefix(SCOPE)
    if bare == FLAG:
        yield Problem(
            Code.FLAG_IN_FLAVOR,
            'it has no effect in a flavor',
            f'{FLAG}=True on the aggregate',
        )
        return
    yield from mistakes.flag_key(name)
    yield from mistakes.scope(name, text)
    # Extra specs of other namespaces belong to other parts of Nova. The
    # filter reads one only if an aggregate has the same key.
    foreign = name == bare and ':' in name
    if foreign and not any(a.has(name) for a in aggregates):
        return
    yield from mistakes.malformed(text)
    yield from mistakes.expanded(text)
    unmatchable = list(mistakes.unmatchable(text))
    yield from unmatchable
    # No aggregate can offer such a text: one finding is enough.
    if not unmatchable:
        yield from _unmet(name, text, aggregates)


def _lint_metadata(
    name: str, text: str, aggregate: inputs.Aggregate
) -> Iterator[Problem]:
    """Find what is wrong with one metadata value."""
    if name.removeprefix(SCOPE) == FLAG:
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
                f'{quote(piece)} is plain text here, because {FLAG} is not on',
                f'{FLAG}=True, or commas between values',
            )
    if name.startswith(SCOPE):
        yield Problem(
            Code.SCOPE_WITHOUT_FLAG,
            f'the scope is part of the key here, because {FLAG} is not on',
            name.removeprefix(SCOPE),
        )


def _contradictions(
    aggregates: Sequence[inputs.Aggregate], exempt: tuple[str, ...]
) -> list[Reason]:
    """Return the demands of a host's aggregates that no flavor could meet."""
    reasons = Request((), exempt).reasons(aggregates)
    return [reason for reason in reasons if reason.kind is Kind.CONTRADICTION]


def _contradictory(
    hosts: inventory.Hosts,
    aggregates: Sequence[inputs.Aggregate],
    exempt: tuple[str, ...],
) -> Iterable[Finding]:
    """Find demands that exclude each other, in one aggregate or on a host."""
    found: dict[tuple[frozenset[str], str], Finding] = {}
    cases: list[tuple[str, str, tuple[inputs.Aggregate, ...]]] = [
        ('aggregate', aggregate.name, (aggregate,)) for aggregate in aggregates
    ]
    cases += [('host', name, own.aggregates) for name, own in hosts.items()]
    for owner, name, own in cases:
        for reason in _contradictions(own, exempt):
            problem = Problem(
                Code.CONTRADICTORY_DEMANDS,
                str(reason),
                f'{requirement.FORBIDDEN!r} in all of these aggregates, or in '
                'none',
            )
            # Further hosts in the same aggregates are the same mistake.
            found.setdefault(
                (frozenset(reason.aggregate), reason.key),
                Finding(owner, name, reason.key, problem),
            )
    return found.values()


def _closing_keys(
    aggregate: inputs.Aggregate,
    hosts: Iterable[tuple[inputs.Aggregate, ...]],
    flavors: Mapping[tuple[inputs.FlavorSpec, ...], int],
    exempt: tuple[str, ...],
) -> collections.Counter[str]:
    """Count the flavors that each key keeps out; none if one gets in."""
    closing: collections.Counter[str] = collections.Counter()
    for flavor, number in flavors.items():
        request = Request(flavor, exempt)
        for own in hosts:
            keys = {
                reason.key
                for reason in request.reasons(own)
                if reason.side is Side.AGGREGATE
                and aggregate.name in reason.aggregate
            }
            if not keys:
                return collections.Counter()
            closing.update(dict.fromkeys(keys, number))
    return closing


def _closed(
    flavors: Sequence[inventory.Flavor],
    hosts: inventory.Hosts,
    aggregates: Sequence[inputs.Aggregate],
    exempt: tuple[str, ...],
) -> Iterator[Finding]:
    """Find forced aggregates whose demands no flavor meets on any host."""
    specs = [inputs.read_flavor(flavor.extra_specs) for flavor in flavors]
    for aggregate in aggregates:
        # A contradiction is a finding of its own.
        if not aggregate.forced or _contradictions((aggregate,), exempt):
            continue
        demanded = {key for key, _ in aggregate.items()}
        # Many flavors say the same about these keys, and many hosts are in
        # the same forced aggregates.
        alike = collections.Counter(
            tuple(spec for spec in flavor if spec.key in demanded)
            for flavor in specs
        )
        sets = {
            tuple(other for other in own.aggregates if other.forced)
            for own in hosts.values()
            if aggregate in own.aggregates
        }
        closing = _closing_keys(
            aggregate, {(aggregate,), *sets}, alike, exempt
        )
        if closing:
            key = min(closing, key=lambda k: (-closing[k], k))
            problem = Problem(
                Code.CLOSED_AGGREGATE,
                f'none of {len(specs)} flavors meets what it demands; '
                f'{quote(key)} keeps out most',
                f'{SCOPE}{key} in a flavor, or {key} in the option '
                'exempt_metadata_keys',
            )
            yield Finding('aggregate', aggregate.name, key, problem)


def _confined(
    flavor: inventory.Flavor,
    hosts: inventory.Hosts,
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
    complete: bool,
) -> Iterator[Finding]:
    """Find a flavor that no host takes, or one host only."""
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
    passed, refused = request.sift(hosts.values())
    unseen = not complete and not any(request.reasons(()))
    if len(passed) > 1 or not refused or unseen:
        return
    # The hosts that pass come first.
    nearest = explanation.explain([flavor], hosts, exempt)[len(passed)]
    changes = opening.smallest(flavor, nearest.host, aggregates, exempt)
    code, text = Code.NO_HOST, f'none of {len(hosts)} hosts takes the flavor'
    if passed:
        code, text = Code.ONE_HOST, f'only {passed[0].name} takes the flavor'
    reasons = '; '.join(map(str, nearest.reasons))
    problem = Problem(
        code,
        f'{text}; nearest is {nearest.host.name}: {reasons}',
        ' && '.join(map(str, changes)),
    )
    yield Finding('flavor', flavor.name, nearest.failing_keys[0], problem)


def lint(
    flavors: Sequence[inventory.Flavor],
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
    others: Iterable[inventory.Host] | None = None,
) -> list[Finding]:
    """Look for mistakes in flavors and aggregates.

    :param flavors: the flavors.
    :param aggregates: the aggregates with their hosts.
    :param exempt: patterns of keys that no aggregate may demand.
    :param others: all hosts, those in no aggregate included; None if nobody
        knows. A flavor may then have a host in no aggregate.
    :returns: the findings; the worst first, then by object and key.
    """
    hosts = inventory.hosts_of(aggregates, others)
    found = []
    for flavor in flavors:
        own = [
            Finding('flavor', flavor.name, name, problem)
            for name, text in flavor.extra_specs.items()
            for problem in _lint_extra_spec(name, text, aggregates)
        ]
        found += own
        # These two say already that no host passes, and why.
        hopeless = {Code.KEY_NOT_OFFERED, Code.VALUE_NOT_OFFERED}
        if hopeless.isdisjoint(f.problem.code for f in own):
            complete = others is not None
            found += _confined(flavor, hosts, aggregates, exempt, complete)
    found += [
        Finding('aggregate', aggregate.name, name, problem)
        for aggregate in aggregates
        for name, text in aggregate.metadata.items()
        for problem in _lint_metadata(name, text, aggregate)
    ]
    found += _closed(flavors, hosts, aggregates, exempt)
    found += _contradictory(hosts, aggregates, exempt)
    return sorted(
        dict.fromkeys(found),
        key=lambda f: (
            mistakes.SEVERITIES.index(f.problem.code.severity),
            f.owner,
            f.name,
            f.key,
            f.problem.code,
        ),
    )
