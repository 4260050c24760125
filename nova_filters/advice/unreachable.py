# SPDX-License-Identifier: Apache-2.0

"""Flavors that no host takes, and aggregates that no flavor can enter."""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nova_filters.advice import explanation, inventory, opening
from nova_filters.advice.mistakes import Code, Finding, Problem
from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote


def exempt_line(patterns: Iterable[str]) -> str:
    """Return the whole line of nova.conf with these patterns, each once.

    A line with one more key alone would drop the default patterns.
    """
    return f'exempt_metadata_keys = {",".join(dict.fromkeys(patterns))}'


def _contradictions(
    aggregates: Sequence[inputs.Aggregate], exempt: inputs.Exempt
) -> list[Reason]:
    """Return the demands of a host's aggregates that no flavor could meet."""
    reasons = Request((), exempt).reasons(aggregates)
    return [reason for reason in reasons if reason.kind is Kind.CONTRADICTION]


def contradictory(
    hosts: inventory.Hosts,
    aggregates: Sequence[inputs.Aggregate],
    exempt: inputs.Exempt,
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
    exempt: inputs.Exempt,
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


def closed(
    flavors: Sequence[inventory.Flavor],
    hosts: inventory.Hosts,
    aggregates: Sequence[inputs.Aggregate],
    exempt: inputs.Exempt,
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
                f'{SCOPE}{key} in a flavor, or "{exempt_line((*exempt, key))}"'
                ' in nova.conf',
            )
            yield Finding('aggregate', aggregate.name, key, problem)


def confined(
    flavor: inventory.Flavor,
    hosts: inventory.Hosts,
    aggregates: Sequence[inventory.HostAggregate],
    exempt: inputs.Exempt,
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
