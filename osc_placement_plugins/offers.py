# SPDX-License-Identifier: Apache-2.0

"""Compare what flavors ask for with what aggregates offer and demand.

:mod:`osc_placement_plugins.mistakes` finds mistakes in a single key or value.
This module finds extra specs that no aggregate meets, flavors without a host,
and aggregates that no flavor may use.
"""

import collections
import functools
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from nova_filters.matching import inputs, preferences, requirement
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Kind, Side, quote_all
from os_placement_plugins.quoting import listed, quote
from osc_placement_plugins import mistakes
from osc_placement_plugins.mistakes import Finding, FindingCode
from osc_placement_plugins.progress import progress
from osc_placement_plugins.records import Flavor, Host, Inventory
from osc_placement_plugins.verdicts import judge_of

#: How many hosts are judged at once, until two of them take a flavor.
_CHUNK: Final = 200
#: The findings that say that no host passes, and why.
_HOPELESS: Final = {FindingCode.KEY_NOT_OFFERED, FindingCode.VALUE_NOT_OFFERED}


def find(flavors: Collection[Flavor], inventory: Inventory) -> list[Finding]:
    """Look for mistakes in flavors and aggregates.

    Without a list of all hosts, the hosts in no aggregate are not known. A
    flavor that could use such hosts then counts as having a host.

    :returns: the findings; the worst first, then by object and key.
    """
    findings = [
        *_find_in_flavors(flavors, inventory),
        *_find_in_aggregates(inventory.aggregates),
        *_find_without_demand(inventory),
        *_find_closed(flavors, inventory),
        *_find_contradictory(inventory),
    ]
    return sorted(
        dict.fromkeys(findings),
        key=lambda finding: (
            mistakes.SEVERITIES.index(finding.code.severity),
            finding.owner,
            finding.name,
            finding.key,
            finding.code,
        ),
    )


def _find_in_flavors(
    flavors: Collection[Flavor], inventory: Inventory
) -> Iterator[Finding]:
    # Cached, because many flavors have the same extra specs.
    find_in_spec = functools.cache(
        lambda name, text: [*_find_in_spec(name, text, inventory.aggregates)]
    )
    for flavor in progress(flavors, f'of {len(flavors)} flavors'):
        codes = set()
        for name, text in flavor.extra_specs.items():
            for finding in find_in_spec(name, text):
                codes.add(finding.code)
                yield finding._replace(
                    owner='flavor', name=flavor.name, key=name
                )
        if not codes & _HOPELESS:
            yield from _find_confined(flavor, inventory)


def _find_in_spec(
    name: str, text: str, aggregates: Collection[inputs.Aggregate]
) -> Iterator[Finding]:
    wishes, malformed = preferences.read_preferences({name: text})
    if wishes or malformed:
        yield from _find_in_preference(wishes, malformed, aggregates)
        return
    specs = inputs.read_flavor({name: text})
    if not specs:
        yield Finding(
            FindingCode.FLAG_IN_FLAVOR,
            'it has no effect in a flavor',
            f'{name.removeprefix(SCOPE)}=True on the aggregate',
        )
        return
    (spec,) = specs
    yield from mistakes.misspelled(name)
    yield from mistakes.ineffective(name)
    yield from mistakes.scope(name, spec.requirement)
    # Extra specs of other namespaces belong to other parts of Nova. The
    # filter reads such an extra spec only if an aggregate has the same key.
    if spec.optional and not any(a.pieces(name) for a in aggregates):
        return
    yield from mistakes.malformed(spec.requirement)
    yield from mistakes.expanded(text)
    unmatchable = list(mistakes.unmatchable(spec.requirement))
    yield from unmatchable
    # If no aggregate can have such a value, a finding already says so.
    if not unmatchable:
        yield from _find_unmet(spec, aggregates)


def _find_in_preference(
    wishes: Iterable[preferences.Preference],
    malformed: Iterable[str],
    aggregates: Collection[inputs.Aggregate],
) -> Iterator[Finding]:
    for problem in malformed:
        remedy = 'a value as in other extra specs, a factor from 1 to 100'
        yield Finding(FindingCode.MALFORMED_VALUE, problem, remedy)
    for wish in wishes:
        for unmet in _find_unmet(wish.spec, aggregates):
            text = 'no aggregate meets it, so it has no effect'
            yield Finding(FindingCode.PREFERENCE_NOT_MET, text, unmet.remedy)


def _find_unmet(
    spec: inputs.FlavorSpec, aggregates: Collection[inputs.Aggregate]
) -> Iterator[Finding]:
    key, need = spec.key, spec.requirement
    if need.problem:
        return
    # If any host meets the extra spec, then a host in only one aggregate, or
    # in no aggregate, meets it, too. So only such hosts are judged.
    alone = [Host('')]
    alone += [Host('', (aggregate,)) for aggregate in aggregates]
    passed, refused = Judge((spec,)).sift(alone)
    if passed or any(reason.side is Side.AGGREGATE for reason in refused):
        return
    quoted = quote(key)
    if {reason.kind for reason in refused} == {Kind.MISSING}:
        keys: set[str] = set()
        for aggregate in aggregates:
            keys.update(name for name, _ in aggregate.items())
        near = mistakes.alike(key, keys)
        code, text = FindingCode.KEY_NOT_OFFERED, f'no aggregate has {quoted}'
        if near:
            remedy = quote(near[0])
        else:
            remedy = (
                f"{key}=… on an aggregate, or '<or> … <or> ~' in the flavor "
                'if the key may be absent'
            )
    else:
        values: set[str] = set()
        for aggregate in aggregates:
            values.update(piece.text for piece in aggregate.pieces(key))
        near = []
        for literal in sorted(need.literals):
            near += mistakes.alike(literal, values)
        text = f'no aggregate has a {quoted} that meets {quote(need.text)}'
        code = FindingCode.VALUE_NOT_OFFERED
        remedy = f'values that are there: {quote_all(values)}'
    text += ': no host passes'
    if near:
        text += (
            f'. An aggregate has {quote(near[0])}: only white space, or upper '
            'and lower case, differ'
        )
    yield Finding(code, text, remedy)


def _find_confined(flavor: Flavor, inventory: Inventory) -> Iterator[Finding]:
    """Find a flavor with no host, with only one, or with none that is up."""
    judge = judge_of(flavor, inventory)
    # Hosts in no aggregate may exist, and may take the flavor.
    if inventory.services is None and not judge.refusals(()):
        return
    hosts = [*inventory.hosts.values()]
    passed: list[Host] = []
    refusals: collections.Counter[str] = collections.Counter()
    for start in range(0, len(hosts), _CHUNK):
        passed_here, refused = judge.sift(hosts[start : start + _CHUNK])
        passed += passed_here
        if len(passed) > 1 and any(host.usable for host in passed):
            return
        for reason, refused_hosts in refused.items():
            refusals[reason.key] += len(refused_hosts)
    command = f'openstack aggregate filter explain {shlex.quote(flavor.name)}'
    if passed and not any(host.usable for host in passed):
        names = listed([f'{host.name} ({host.state})' for host in passed])
        yield Finding(
            FindingCode.NO_HOST_UP,
            f'none of the hosts that take the flavor is up: {names}',
            'enable one of them, or start its nova-compute',
            'flavor',
            flavor.name,
        )
    elif len(passed) == 1 and len(hosts) > 1:
        yield Finding(
            FindingCode.ONE_HOST,
            f'only {passed[0].name} takes the flavor',
            f'see {command}',
            'flavor',
            flavor.name,
        )
    elif hosts and not passed:
        causes = [
            f'{number} because of {quote(key)}'
            for key, number in refusals.most_common()
        ]
        yield Finding(
            FindingCode.NO_HOST,
            f'0 of {len(hosts)} hosts take it: {listed(causes)}',
            f'see {command}',
            'flavor',
            flavor.name,
        )


def _find_in_aggregates(
    aggregates: Iterable[inputs.Aggregate],
) -> Iterator[Finding]:
    for aggregate in aggregates:
        for name, text in aggregate.metadata.items():
            for finding in _find_in_metadata(name, text, aggregate):
                yield finding._replace(
                    owner='aggregate', name=aggregate.name, key=name
                )


def _find_without_demand(inventory: Inventory) -> Iterator[Finding]:
    """Find aggregates with a flag whose keys are all exempt from demand."""
    is_exempt = inputs.exemption(inventory.exempt)
    for aggregate in inventory.aggregates:
        flag = inputs.read_flag(aggregate.metadata)
        keys = [key for key, _ in aggregate.items()]
        if not flag or not all(is_exempt(key) for key in keys):
            continue
        text = 'the flag has no effect, because the aggregate has no other key'
        if keys:
            text = (
                'the flag has no effect, because exempt_metadata_keys covers '
                f'all other keys: {quote_all(keys)}'
            )
        yield Finding(
            FindingCode.FLAG_WITHOUT_DEMAND,
            text,
            'a key that exempt_metadata_keys does not cover',
            'aggregate',
            aggregate.name,
            flag,
        )


def _find_in_metadata(
    name: str, text: str, aggregate: inputs.Aggregate
) -> Iterator[Finding]:
    if name.removeprefix(SCOPE) in inputs.FLAGS:
        yield from mistakes.flag(name, text)
        return
    yield from mistakes.misspelled(name)
    yield from mistakes.expanded(text)
    pieces = requirement.split(text)
    if aggregate.flagged:
        for piece in pieces:
            yield from mistakes.malformed(requirement.parse(piece))
        return
    for piece in pieces:
        if requirement.parse(piece) != requirement.literal(piece):
            yield Finding(
                FindingCode.SENTINEL_WITHOUT_FLAG,
                f'{quote(piece)} is plain text here, because {FLAG} is not on',
                f'{FLAG}=True, or commas between values',
            )
    if name.startswith(SCOPE):
        yield Finding(
            FindingCode.SCOPE_WITHOUT_FLAG,
            f'the scope is part of the key here, because {FLAG} is not on',
            name.removeprefix(SCOPE),
        )


def _find_closed(
    flavors: Collection[Flavor], inventory: Inventory
) -> Iterator[Finding]:
    """Find aggregates whose demands no flavor meets on any host.

    Only aggregates with ``force_metadata_check`` ("forced" ones) have demands.
    """
    specs = [inputs.read_flavor(flavor.extra_specs) for flavor in flavors]
    judge_nobody = Judge((), inventory.exempt)
    demanded = {}
    for aggregate in inventory.aggregates:
        if aggregate.forced:
            demanded[aggregate] = {key for key, _ in aggregate.items()}
    for aggregate, keys in demanded.items():
        refusals = judge_nobody.refusals((aggregate,))
        # _find_contradictory() already reports this aggregate.
        if any(refusal.kind is Kind.CONTRADICTION for refusal in refusals):
            continue
        # Flavors with the same extra specs for the demanded keys are judged
        # once. Hosts in the same forced aggregates with demanded keys are also
        # judged once.
        alike = collections.Counter(
            tuple(each for each in spec if each.key in keys) for spec in specs
        )
        near = {other for other in demanded if demanded[other] & keys}
        hosts = {frozenset({aggregate})}
        for name in aggregate.hosts:
            aggregates = inventory.hosts[name].aggregates
            hosts.add(frozenset(near.intersection(aggregates)))
        closing = _closing_keys(aggregate, hosts, alike, inventory.exempt)
        if closing:
            key = min(closing, key=lambda k: (-closing[k], k))
            remedy = (
                f"{SCOPE}{key}=… in a flavor, or a piece '~' in this "
                "aggregate's value if flavors without the key may use its "
                'hosts'
            )
            if ':' in key:
                remedy += (
                    f', or {quote(key)} in exempt_metadata_keys if the key '
                    'belongs to another service'
                )
            yield Finding(
                FindingCode.CLOSED_AGGREGATE,
                f'none of {len(flavors)} flavors meets what it demands; '
                f'{quote(key)} keeps out most',
                remedy,
                'aggregate',
                aggregate.name,
                key,
            )


def _closing_keys(
    aggregate: inputs.Aggregate,
    hosts: Iterable[Collection[inputs.Aggregate]],
    flavors: Mapping[tuple[inputs.FlavorSpec, ...], int],
    exempt: inputs.Exempt,
) -> collections.Counter[str] | None:
    """Count the flavors that an aggregate refuses because of each key.

    :param hosts: the aggregates of each host. Hosts in the same aggregates
        are listed once.
    :param flavors: the extra specs of a flavor -> how many flavors have them.
    :returns: key -> number of flavors; None if the aggregate accepts a flavor.
    """
    closing: collections.Counter[str] = collections.Counter()
    for flavor, number in flavors.items():
        judge = Judge(flavor, exempt)
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


def _find_contradictory(inventory: Inventory) -> Iterable[Finding]:
    """Find demands that exclude each other.

    The demands are in one aggregate, or in several aggregates of one host.
    """
    findings: dict[tuple[tuple[str, ...], str], Finding] = {}
    judge = Judge((), inventory.exempt)
    cases: list[tuple[str, str, tuple[inputs.Aggregate, ...]]] = []
    for aggregate in inventory.aggregates:
        cases.append(('aggregate', aggregate.name, (aggregate,)))
    for name, host in inventory.hosts.items():
        cases.append(('host', name, host.aggregates))
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
