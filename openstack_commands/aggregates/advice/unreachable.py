# SPDX-License-Identifier: Apache-2.0

"""Find flavors without a host, and aggregates that no flavor may use."""

import collections
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Kind, Side
from openstack_commands.aggregates.advice import explanation, inventory
from openstack_commands.aggregates.advice.mistakes import Finding, FindingCode
from os_placement_plugins.quoting import listed, quote

#: The beginning of extra specs by which Placement chooses hosts.
_CHOOSING: Final = ('resources', 'trait')


def contradictory(stock: inventory.Stock) -> Iterable[Finding]:
    """Find demands that exclude each other.

    The demands are in one aggregate, or in several aggregates of one host.
    """
    findings: dict[tuple[tuple[str, ...], str], Finding] = {}
    judge = Judge((), stock.exempt)
    cases: list[tuple[str, str, tuple[inputs.Aggregate, ...]]] = []
    for aggregate in stock.aggregates:
        cases.append(('aggregate', aggregate.name, (aggregate,)))
    for host_name, host in stock.hosts.items():
        cases.append(('host', host_name, host.aggregates))
    for owner, name, aggregates in cases:
        for refusal in judge.refusals(aggregates):
            if refusal.kind is not Kind.CONTRADICTION:
                continue
            reason = judge.explain(refusal, aggregates)
            # Hosts in the same aggregates have the same mistake, so it is
            # reported only once.
            findings.setdefault(
                (reason.aggregate, reason.key),
                Finding(
                    FindingCode.CONTRADICTORY_DEMANDS,
                    str(reason),
                    f'{requirement.FORBIDDEN!r} in all of these aggregates, '
                    'or in none',
                    owner,
                    name,
                    reason.key,
                ),
            )
    return findings.values()


def _closing_keys(
    aggregate: inputs.Aggregate,
    hosts: Iterable[Collection[inputs.Aggregate]],
    flavors: Mapping[tuple[inputs.FlavorSpec, ...], int],
    exempt: inputs.Exempt,
    is_demanding: Callable[[Mapping[str, str]], bool],
) -> collections.Counter[str] | None:
    """Count the flavors that an aggregate refuses because of each key.

    :param hosts: the aggregates of each host. Hosts in the same aggregates
        are listed once.
    :param flavors: the extra specs of a flavor -> how many flavors have them.
    :param is_demanding: tells of the metadata of an aggregate whether the
        aggregate demands its keys.
    :returns: key -> number of flavors; None if the aggregate accepts a flavor.
    """
    closing: collections.Counter[str] = collections.Counter()
    for flavor, number in flavors.items():
        judge = Judge(flavor, exempt, is_demanding)
        for aggregates in hosts:
            keys = set()
            for refusal in judge.refusals(aggregates):
                if refusal.side is Side.FLAVOR:
                    continue
                if judge.is_behind(refusal, aggregate):
                    keys.add(refusal.key)
            if not keys:
                return None
            closing.update(dict.fromkeys(keys, number))
    return closing


def closed(stock: inventory.Stock) -> Iterator[Finding]:
    """Find aggregates whose demands no flavor meets on any host.

    Only aggregates with ``force_metadata_check`` ("forced" ones) have demands.
    """
    exempt = stock.exempt
    flavors = [
        inputs.read_flavor(flavor.extra_specs) for flavor in stock.flavors
    ]
    nobody = Judge((), exempt)
    carried = {}
    for aggregate in stock.aggregates:
        if aggregate.forced:
            carried[aggregate] = {key for key, _ in aggregate.items()}
    for aggregate, demanded in carried.items():
        refusals = nobody.refusals((aggregate,))
        kinds = {refusal.kind for refusal in refusals}
        # contradictory() already reports this aggregate.
        if Kind.CONTRADICTION in kinds:
            continue
        # Flavors with the same extra specs for the demanded keys are judged
        # once. Hosts in the same forced aggregates with demanded keys are also
        # judged once.
        alike: collections.Counter[tuple[inputs.FlavorSpec, ...]]
        alike = collections.Counter()
        for specs in flavors:
            alike[tuple(s for s in specs if s.key in demanded)] += 1
        near = {a for a, keys in carried.items() if keys & demanded}
        sets = {
            frozenset(near.intersection(stock.hosts[name].aggregates))
            for name in aggregate.hosts
        }
        closing = _closing_keys(
            aggregate,
            {frozenset({aggregate}), *sets},
            alike,
            exempt,
            inputs.is_forced,
        )
        if closing:
            key = min(closing, key=lambda k: (-closing[k], k))
            yield Finding(
                FindingCode.CLOSED_AGGREGATE,
                f'none of {len(flavors)} flavors meets what it demands; '
                f'{quote(key)} keeps out most',
                f'{SCOPE}{key} in a flavor, or "{_exempt_line(exempt, key)}" '
                'in nova.conf',
                'aggregate',
                aggregate.name,
                key,
            )


def _exempt_line(patterns: inputs.Exempt, key: str) -> str:
    """Return the line for nova.conf that exempts one more key.

    The line lists all patterns, because it replaces the default.
    """
    names = dict.fromkeys([*patterns, key])
    return f'exempt_metadata_keys = {",".join(names)}'


def avoided(stock: inventory.Stock) -> Iterator[Finding]:
    """Find preferences of aggregates that no flavor meets."""
    flavors = collections.Counter(
        inputs.read_flavor(flavor.extra_specs) for flavor in stock.flavors
    )
    for aggregate in stock.aggregates:
        if not inputs.is_soft(aggregate.metadata):
            continue
        unmet = _closing_keys(
            aggregate, [[aggregate]], flavors, stock.exempt, inputs.is_soft
        )
        if not unmet:
            continue
        for key, number in unmet.items():
            if number == len(stock.flavors):
                yield Finding(
                    FindingCode.AVOIDED_BY_ALL,
                    'no flavor meets it: all flavors use these hosts last',
                    f'{key}=… in a flavor, unless the hosts are to be emptied',
                    'aggregate',
                    aggregate.name,
                    key,
                )


def confined(
    verdicts: explanation.Verdicts,
) -> Iterator[Finding]:
    """Find a flavor with no host, with only one, or with none that is up."""
    flavor, stock = verdicts.flavor, verdicts.stock
    passed = verdicts.passed
    if passed and not verdicts.usable:
        names = listed([f'{host.name} ({host.state})' for host in passed])
        yield Finding(
            FindingCode.NO_HOST_UP,
            f'none of the hosts that take the flavor is up: {names}',
            'enable one of them, or start its nova-compute',
            'flavor',
            flavor.name,
        )
    unseen = stock.listed_hosts is None and not verdicts.judge.refusals(())
    if len(passed) > 1 or not verdicts.refused or unseen:
        return
    code = FindingCode.NO_HOST
    text = f'none of {len(stock.hosts)} hosts takes the flavor'
    if passed:
        code = FindingCode.ONE_HOST
        text = f'only {passed[0].name} takes the flavor'
    nearest, key = verdicts.nearest(), ''
    if nearest:
        reasons = [*verdicts.judge.reasons(nearest.aggregates)]
        sentences = '; '.join(str(reason) for reason in reasons)
        text += f'; nearest is {nearest.name}: {sentences}'
        key = reasons[0].key
    yield Finding(code, text, '', 'flavor', flavor.name, key)


def beyond_limit(
    verdicts: explanation.Verdicts, limit: int
) -> Iterator[Finding]:
    """Find a flavor whose hosts Placement may leave out.

    Placement does not know the metadata of aggregates. If the number of hosts
    that are up exceeds the limit, Placement may leave out any of these hosts.
    A flavor whose extra specs request resources or traits is not reported.

    :param limit: how many hosts Nova requests from Placement at most.
    """
    flavor = verdicts.flavor
    is_chosen = any(key.startswith(_CHOOSING) for key in flavor.extra_specs)
    usable = [host for host in verdicts.hosts if host.usable]
    takers = len(verdicts.usable)
    if is_chosen or not takers or len(usable) <= limit:
        return
    text = (
        f'{takers} of {len(usable)} hosts take the flavor, and Nova looks at '
        f'{limit} hosts'
    )
    if takers <= limit:
        text += ': the right ones need not be among them'
    yield Finding(
        code=FindingCode.BEYOND_LIMIT,
        text=text,
        remedy=(
            f'max_placement_results = {len(usable)} in nova.conf, or a trait '
            'in the flavor'
        ),
        owner='flavor',
        name=flavor.name,
    )
