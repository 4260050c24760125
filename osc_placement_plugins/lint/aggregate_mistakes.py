# SPDX-License-Identifier: Apache-2.0

"""Mistakes in aggregates: in metadata, and demands that nobody can meet.

Only aggregates with ``force_metadata_check`` ("forced" ones) have demands.
"""

import collections
import math
from collections.abc import Collection, Iterable, Iterator, Sequence

from nova_filters.matching import inputs, requirement
from nova_filters.matching.inputs import FLAG, FLAGS, SCOPE
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Side, quote_all
from os_placement_plugins.text import quote
from osc_placement_plugins.inventory import Inventory
from osc_placement_plugins.lint import text_mistakes
from osc_placement_plugins.lint.findings import Finding, FindingCode
from osc_placement_plugins.source.records import Flavor, HostAggregate

_OFF = ('false', '0', 'f', 'n', 'no', 'off', '')


def find_in_metadata(
    aggregate: HostAggregate, exempt: inputs.Exempt
) -> Iterator[Finding]:
    """Yield the mistakes in the metadata of an aggregate."""
    for name, text in aggregate.metadata.items():
        problem = ''
        if name in FLAGS:
            is_off = text.strip().lower() in _OFF
            if not is_off and not requirement.is_on(text):
                problem = f'{quote(text)} leaves the flag off'
            elif name == inputs.read_flag(aggregate.metadata):
                problem = _explain_idle_flag(aggregate, name, exempt)
        elif name.removeprefix(SCOPE) in FLAGS:
            problem = 'the flag has no effect with a scope'
        else:
            yield from _find_in_item(name, text, aggregate)
        if problem:
            yield Finding(FindingCode.FLAG_WITHOUT_EFFECT, name, problem)


def _explain_idle_flag(
    aggregate: HostAggregate, flag: str, exempt: inputs.Exempt
) -> str:
    """Return why a flag that is on has no effect; empty if it has one."""
    is_exempt = inputs.compile_exemption(exempt)
    keys = [key for key, _ in aggregate.items(flag)]
    if not keys:
        return 'the flag has no effect, because the aggregate has no other key'
    if all(is_exempt(key) for key in keys):
        return (
            'the flag has no effect, because exempt_metadata_keys covers all '
            f'other keys: {quote_all(keys)}'
        )
    return ''


def _find_in_item(
    name: str, text: str, aggregate: HostAggregate
) -> Iterator[Finding]:
    yield from text_mistakes.find_misspelled_flag(name)
    yield from _find_endless_multiplier(name, text)
    flag = inputs.read_flag(aggregate.metadata)
    for piece in requirement.split(text):
        meant = requirement.parse(piece)
        if flag:
            yield from text_mistakes.find_malformed(name, meant)
        if flag == FLAG:
            continue
        # With the other flag, PreferenceWeigher reads sentinels, and the
        # filter does not. It only matters if the piece names values.
        if flag and (meant.absence_only or meant.problem):
            continue
        if meant != requirement.literal(piece):
            yield Finding(
                FindingCode.MISREAD_VALUE,
                name,
                f'{quote(piece)}: read as plain text, because {FLAG} is not '
                'on',
            )
    if not flag and name.startswith(SCOPE):
        yield Finding(
            FindingCode.NAMESPACE_WITHOUT_EFFECT,
            name,
            f'the scope is part of the key here, because {FLAG} is not on',
        )


def _find_endless_multiplier(name: str, text: str) -> Iterator[Finding]:
    """Find a multiplier of Nova's weighers that makes weights NaN."""
    if not name.endswith('_weight_multiplier'):
        return
    try:
        number = float(text)
    except ValueError:
        # Nova then takes the value of the option.
        return
    if not math.isfinite(number):
        yield Finding(
            FindingCode.ENDLESS_MULTIPLIER,
            name,
            f'{quote(text)}: the weights of the hosts then cannot be '
            'compared, and Nova may choose any host',
        )


def find_closed(
    flavors: Collection[Flavor], inventory: Inventory
) -> Iterator[Finding]:
    """Yield the aggregates whose demands no flavor meets on any host."""
    specs = [inputs.read_flavor(flavor.extra_specs) for flavor in flavors]
    is_exempt = inputs.compile_exemption(inventory.exempt)
    matcher_without_flavor = Matcher((), inventory.exempt)
    for aggregate in inventory.aggregates:
        mismatches = matcher_without_flavor.list_mismatches((aggregate,))
        # find_contradictory() already reports this aggregate.
        if any(each.cause is Cause.CONTRADICTION for each in mismatches):
            continue
        keys = set()
        if aggregate.forced:
            for key, _ in aggregate.items():
                if not is_exempt(key):
                    keys.add(key)
        if not keys:
            continue
        # Flavors that say the same about the demanded keys are judged once.
        alike = collections.Counter(
            tuple(each for each in spec if each.key in keys) for spec in specs
        )
        closing: collections.Counter[str] = collections.Counter()
        for spec, number in alike.items():
            closing_keys = _find_closing_keys(aggregate, spec, inventory)
            if not closing_keys:
                closing.clear()
                break
            closing.update(dict.fromkeys(closing_keys, number))
        if not closing:
            continue
        key = min(closing, key=lambda each: (-closing[each], each))
        yield Finding(
            FindingCode.CLOSED_AGGREGATE,
            key,
            f'no flavor meets what it demands; {quote(key)} keeps out '
            f'{closing[key]} of {len(flavors)}. Either the flavor for its '
            'hosts is missing or misspelled, or the aggregate demands too '
            'much',
            owner='aggregate',
            name=aggregate.name,
        )


def _find_closing_keys(
    aggregate: HostAggregate,
    spec: Sequence[inputs.FlavorSpec],
    inventory: Inventory,
) -> set[str]:
    """Return the demands for which an aggregate refuses a flavor.

    :returns: the keys; none if a host of the aggregate does not refuse the
        flavor because of the aggregate.
    """
    matcher = Matcher(spec, inventory.exempt)
    closing_keys = set()
    combinations: set[tuple[inputs.Aggregate, ...]] = {(aggregate,)}
    for name in aggregate.hosts:
        combinations.add(inventory.hosts[name].aggregates)
    for aggregates in combinations:
        keys = set()
        for mismatch in matcher.list_mismatches(aggregates):
            if mismatch.side is Side.FLAVOR:
                continue
            if matcher.is_behind(mismatch, aggregate):
                keys.add(mismatch.key)
        if not keys:
            return set()
        closing_keys |= keys
    return closing_keys


def find_contradictory(inventory: Inventory) -> Iterable[Finding]:
    """Return the demands that exclude each other.

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
                    reason.key,
                    str(reason),
                    owner=owner,
                    name=name,
                ),
            )
    return findings.values()
