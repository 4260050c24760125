# SPDX-License-Identifier: Apache-2.0

"""Find mistakes in the extra specs of flavors and in aggregates' metadata.

:mod:`openstack_commands.aggregates.advice.mistakes` finds mistakes in a single
key or value. This module finds extra specs that no aggregate meets.
:mod:`openstack_commands.aggregates.advice.unreachable` finds flavors without
a host, and aggregates that no flavor may use.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence

from nova_filters.matching import inputs, preferences, requirement
from nova_filters.matching.inputs import FLAG, SCOPE
from nova_filters.matching.judge import Judge
from nova_filters.matching.reason import Kind, Side, quote_all
from openstack_commands.aggregates.advice import (
    explanation,
    inventory,
    mistakes,
    unreachable,
)
from openstack_commands.aggregates.advice.mistakes import Finding, FindingCode
from os_placement_plugins.quoting import quote


def _unmet(
    spec: inputs.FlavorSpec, aggregates: Sequence[inputs.Aggregate]
) -> Iterator[Finding]:
    """Find an extra spec that no aggregate meets."""
    key, need = spec.key, spec.requirement
    if need.problem:
        return
    # If any host meets the extra spec, then a host in only one aggregate, or
    # in no aggregate, meets it, too. So only such hosts are judged.
    alone = [inventory.Host('')]
    alone += [inventory.Host('', (aggregate,)) for aggregate in aggregates]
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


def _lint_extra_spec(
    name: str, text: str, aggregates: Sequence[inputs.Aggregate]
) -> Iterator[Finding]:
    """Find what is wrong with one extra spec."""
    wishes, malformed = preferences.read_preferences({name: text})
    if wishes or malformed:
        yield from _lint_preference(wishes, malformed, aggregates)
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
    yield from mistakes.misspelled_preference(name)
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
        yield from _unmet(spec, aggregates)


def _lint_preference(
    wishes: Iterable[preferences.Preference],
    malformed: Iterable[str],
    aggregates: Sequence[inputs.Aggregate],
) -> Iterator[Finding]:
    """Find what is wrong with an extra spec that is a preference."""
    for problem in malformed:
        remedy = 'a value as in other extra specs, a factor from 1 to 100'
        yield Finding(FindingCode.MALFORMED_VALUE, problem, remedy)
    for wish in wishes:
        for unmet in _unmet(wish.spec, aggregates):
            text = 'no aggregate meets it, so it has no effect'
            yield Finding(FindingCode.PREFERENCE_NOT_MET, text, unmet.remedy)


def _lint_metadata(
    name: str, text: str, aggregate: inputs.Aggregate
) -> Iterator[Finding]:
    """Find what is wrong with one metadata value."""
    if name.removeprefix(SCOPE) in inputs.FLAGS:
        yield from mistakes.flag(name, text)
        return
    yield from mistakes.misspelled(name)
    yield from mistakes.expanded(text)
    pieces = requirement.split(text)
    if aggregate.forced or inputs.is_soft(aggregate.metadata):
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


def lint(
    stock: inventory.Stock,
    limit: int = 1_000,
    progress: Callable[..., Iterable[inventory.Flavor]] = (
        lambda flavors, _: flavors
    ),
) -> list[Finding]:
    """Look for mistakes in flavors and aggregates.

    Without a list of all hosts, the hosts in no aggregate are not known. A
    flavor that could use such hosts then counts as having a host.

    :param stock: the flavors, aggregates and hosts.
    :param limit: how many hosts Nova requests from Placement at most. This is
        Nova's option ``max_placement_results``.
    :param progress: a function that yields the flavors and shows the progress.
    :returns: the findings; the worst first, then by object and key.
    """
    aggregates = stock.aggregates
    findings = []
    # Cached, because many flavors have the same extra specs.
    in_spec = functools.cache(
        lambda name, text: [*_lint_extra_spec(name, text, aggregates)]
    )
    for flavor in progress(stock.flavors, 'flavors'):
        of_flavor = []
        for name, text in flavor.extra_specs.items():
            for finding in in_spec(name, text):
                of_flavor.append(
                    finding._replace(
                        owner='flavor', name=flavor.name, key=name
                    )
                )
        findings += of_flavor
        # These two findings already say that no host passes, and why.
        hopeless = {FindingCode.KEY_NOT_OFFERED, FindingCode.VALUE_NOT_OFFERED}
        if hopeless.isdisjoint(finding.code for finding in of_flavor):
            verdicts = explanation.Verdicts(flavor, stock)
            findings += unreachable.confined(verdicts)
            findings += unreachable.beyond_limit(verdicts, limit)
    for aggregate in aggregates:
        for name, text in aggregate.metadata.items():
            for finding in _lint_metadata(name, text, aggregate):
                findings.append(
                    finding._replace(
                        owner='aggregate', name=aggregate.name, key=name
                    )
                )
    findings += unreachable.closed(stock)
    findings += unreachable.avoided(stock)
    findings += unreachable.contradictory(stock)
    return sorted(
        dict.fromkeys(findings),
        key=lambda f: (
            mistakes.SEVERITIES.index(f.code.severity),
            f.owner,
            f.name,
            f.key,
            f.code,
        ),
    )
