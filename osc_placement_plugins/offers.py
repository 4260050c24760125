# SPDX-License-Identifier: Apache-2.0

"""Compare what flavors ask for with what aggregates offer and demand.

:mod:`osc_placement_plugins.mistakes` finds mistakes in a single key or value.
This module finds extra specs that no aggregate meets, flavors without a host,
and aggregates that no flavor may use.
"""

import collections
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from nova_filters.matching import inputs, preferences, requirement
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Side, quote_all
from os_placement_plugins.text import listed, quote
from osc_placement_plugins import mistakes, remedies
from osc_placement_plugins.mistakes import Finding, FindingCode
from osc_placement_plugins.progress import progress
from osc_placement_plugins.records import Aggregate, Flavor, Host, Inventory
from osc_placement_plugins.verdicts import create_matcher

#: How many hosts are judged at once, until one that is up takes a flavor.
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

    def find_in_flavor(flavor: Flavor) -> list[Finding]:
        findings = []
        for name, text in flavor.extra_specs.items():
            for finding in find_in_spec(name, text):
                findings.append(finding._replace(key=name))
        if not _HOPELESS.intersection(each.code for each in findings):
            findings += _find_confined(flavor, inventory)
        return findings

    for flavor in progress(flavors, f'of {len(flavors)} flavors'):
        findings = find_in_flavor(flavor)
        for finding in findings:
            remedy = ''
            corrected = remedies.correct(flavor, finding)
            if corrected is not None and _is_mended(
                finding, findings, find_in_flavor(corrected)
            ):
                remedy = remedies.change_flavor(flavor, corrected)
            yield finding._replace(
                owner='flavor', name=flavor.name, remedy=remedy
            )


def _is_mended(
    finding: Finding, before: Iterable[Finding], after: Iterable[Finding]
) -> bool:
    """Tell whether a correction removes a finding and adds no error.

    :param before: all findings in the flavor.
    :param after: all findings in the corrected flavor.
    """
    known = {(each.code, each.key) for each in before}
    known.remove((finding.code, finding.key))
    for each in after:
        if (each.code, each.key) in known:
            continue
        if each.code is finding.code:
            return False
        if each.code.severity is mistakes.Severity.ERROR:
            return False
    return True


def _find_in_spec(
    name: str, text: str, aggregates: Collection[inputs.Aggregate]
) -> Iterator[Finding]:
    wishes, malformed = preferences.read_preferences({name: text})
    if wishes or malformed:
        yield from _find_in_preference(wishes, malformed, aggregates)
        return
    specs = inputs.read_flavor({name: text})
    if not specs:
        problem = 'it has no effect in a flavor'
        yield Finding(FindingCode.FLAG_IN_FLAVOR, problem)
        return
    (spec,) = specs
    yield from mistakes.misspelled_key(name)
    yield from mistakes.misspelled_namespace(name)
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
        yield Finding(FindingCode.MALFORMED_VALUE, problem)
    for wish in wishes:
        for _ in _find_unmet(wish.spec, aggregates):
            text = 'no aggregate meets it, so it has no effect'
            yield Finding(FindingCode.PREFERENCE_NOT_MET, text)


def _find_unmet(
    spec: inputs.FlavorSpec, aggregates: Collection[inputs.Aggregate]
) -> Iterator[Finding]:
    if spec.requirement.problem:
        return
    # If any host meets the extra spec, then a host in only one aggregate, or
    # in no aggregate, meets it, too. So only such hosts are judged.
    alone = [Host('')]
    alone += [Host('', (aggregate,)) for aggregate in aggregates]
    passed, refused = Matcher((spec,)).match_hosts(alone)
    if passed or any(reason.side is Side.AGGREGATE for reason in refused):
        return
    if {reason.cause for reason in refused} == {Cause.MISSING}:
        yield _key_not_offered(spec.key, aggregates)
    else:
        yield _value_not_offered(spec, aggregates)


def _key_not_offered(
    key: str, aggregates: Iterable[inputs.Aggregate]
) -> Finding:
    keys: set[str] = set()
    for aggregate in aggregates:
        keys.update(name for name, _ in aggregate.items())
    text = f'no aggregate has {quote(key)}: no host passes'
    near = mistakes.alike(key, keys)
    if not near:
        return Finding(FindingCode.KEY_NOT_OFFERED, text)
    return Finding(
        FindingCode.KEY_NOT_OFFERED,
        f'{text}. {_differ(near[0])}',
        meant_key=SCOPE + near[0],
    )


def _value_not_offered(
    spec: inputs.FlavorSpec, aggregates: Iterable[inputs.Aggregate]
) -> Finding:
    need = spec.requirement
    values: set[str] = set()
    for aggregate in aggregates:
        for piece in aggregate.pieces(spec.key):
            values |= piece.literals
    text = (
        f'no aggregate has a {quote(spec.key)} that meets {quote(need.text)}: '
        'no host passes'
    )
    near = []
    for literal in sorted(need.literals):
        near += mistakes.alike(literal, values)
    if not near:
        if values:
            text += f'. Aggregates have {quote_all(values)}'
        return Finding(FindingCode.VALUE_NOT_OFFERED, text)
    meant_value = ''
    if need.literals == {need.text}:
        meant_value = near[0]
    return Finding(
        FindingCode.VALUE_NOT_OFFERED,
        f'{text}. {_differ(near[0])}',
        meant_value=meant_value,
    )


def _differ(text: str) -> str:
    return (
        f'An aggregate has {quote(text)}: only white space, or upper and '
        'lower case, differ'
    )


def _find_confined(flavor: Flavor, inventory: Inventory) -> Iterator[Finding]:
    """Find a flavor that no host takes, or no host that is up."""
    matcher = create_matcher(flavor, inventory)
    # Hosts in no aggregate may exist, and may take the flavor.
    if inventory.services is None and not matcher.list_mismatches(()):
        return
    hosts = [*inventory.hosts.values()]
    passed: list[Host] = []
    mismatches: collections.Counter[str] = collections.Counter()
    for start in range(0, len(hosts), _CHUNK):
        passed_here, refused = matcher.match_hosts(
            hosts[start : start + _CHUNK]
        )
        passed += passed_here
        if any(host.usable for host in passed):
            return
        for reason, refused_hosts in refused.items():
            mismatches[reason.key] += len(refused_hosts)
    if passed:
        names = listed([f'{host.name} ({host.state})' for host in passed])
        text = f'none of the hosts that take the flavor is up: {names}'
        yield Finding(FindingCode.NO_HOST, text)
    elif hosts:
        causes = [
            f'{number} because of {quote(key)}'
            for key, number in mismatches.most_common()
        ]
        text = f'0 of {len(hosts)} hosts take it: {listed(causes)}'
        yield Finding(FindingCode.NO_HOST, text)


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
    yield from mistakes.misspelled_key(name)
    for finding in mistakes.misspelled_namespace(name):
        # Preferences are in flavors only.
        if finding.code is FindingCode.MISSPELLED_SCOPE:
            yield finding
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
            )
    if name.startswith(SCOPE):
        yield Finding(
            FindingCode.SCOPE_WITHOUT_FLAG,
            f'the scope is part of the key here, because {FLAG} is not on',
        )


def _find_closed(
    flavors: Collection[Flavor], inventory: Inventory
) -> Iterator[Finding]:
    """Find aggregates whose demands no flavor meets on any host.

    Only aggregates with ``force_metadata_check`` ("forced" ones) have demands.
    """
    specs = [inputs.read_flavor(flavor.extra_specs) for flavor in flavors]
    matcher_without_flavor = Matcher((), inventory.exempt)
    demanded = _read_demands(inventory)
    for aggregate, keys in demanded.items():
        mismatches = matcher_without_flavor.list_mismatches((aggregate,))
        # _find_contradictory() already reports this aggregate.
        if any(
            mismatch.cause is Cause.CONTRADICTION for mismatch in mismatches
        ):
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
        find_closing = functools.partial(
            _closing_keys, aggregate, hosts, alike
        )
        closing = find_closing(inventory.exempt)
        if not closing:
            continue
        key = min(closing, key=lambda k: (-closing[k], k))
        remedy = ''
        # The remedy must not change what another aggregate demands.
        if not any(key in demanded[other] for other in near - {aggregate}):
            if keys == {key}:
                remedy = remedies.switch_off(aggregate)
            elif not find_closing((*inventory.exempt, key)):
                remedy = remedies.exempt_key(key, inventory.exempt)
        yield _closed(aggregate.name, key, len(flavors), remedy)


def _read_demands(inventory: Inventory) -> dict[Aggregate, set[str]]:
    """Return the forced aggregates with the keys that they demand."""
    is_exempt = inputs.exemption(inventory.exempt)
    demanded = {}
    for aggregate in inventory.aggregates:
        if aggregate.forced:
            keys = {key for key, _ in aggregate.items()}
            demanded[aggregate] = {key for key in keys if not is_exempt(key)}
    return demanded


def _closed(name: str, key: str, flavors: int, remedy: str) -> Finding:
    text = (
        f'none of {flavors} flavors meets what it demands; {quote(key)} keeps '
        'out most'
    )
    if remedy:
        text += f'. With the remedy, it no longer demands {quote(key)}'
    return Finding(
        FindingCode.CLOSED_AGGREGATE,
        text,
        'aggregate',
        name,
        key,
        remedy=remedy,
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
        matcher = Matcher(flavor, exempt)
        for aggregates in hosts:
            keys = set()
            for mismatch in matcher.list_mismatches(aggregates):
                if mismatch.side is Side.FLAVOR:
                    continue
                if matcher.is_behind(mismatch, aggregate):
                    keys.add(mismatch.key)
            if not keys:
                return None
            closing.update(dict.fromkeys(keys, number))
    return closing


def _find_contradictory(inventory: Inventory) -> Iterable[Finding]:
    """Find demands that exclude each other.

    The demands are in one aggregate, or in several aggregates of one host.
    """
    findings: dict[tuple[tuple[str, ...], str], Finding] = {}
    matcher = Matcher((), inventory.exempt)
    cases: list[tuple[str, str, tuple[inputs.Aggregate, ...]]] = []
    for aggregate in inventory.aggregates:
        cases.append(('aggregate', aggregate.name, (aggregate,)))
    for name, host in inventory.hosts.items():
        cases.append(('host', name, host.aggregates))
    for owner, name, aggregates in cases:
        for mismatch in matcher.list_mismatches(aggregates):
            if mismatch.cause is not Cause.CONTRADICTION:
                continue
            reason = matcher.explain(mismatch, aggregates)
            # Hosts in the same aggregates have the same mistake, so it is
            # reported only once.
            findings.setdefault(
                (reason.aggregate, reason.key),
                Finding(
                    FindingCode.CONTRADICTORY_DEMANDS,
                    str(reason),
                    owner,
                    name,
                    reason.key,
                ),
            )
    return findings.values()
