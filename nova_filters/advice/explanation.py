# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over many flavors and hosts."""

import collections
import dataclasses
import functools
from collections.abc import Collection, Iterable

from nova_filters.advice import inventory
from nova_filters.matching import inputs
from nova_filters.matching.reason import LISTED, Kind, Reason, Side, quote_all
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote


@dataclasses.dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on one flavor and one host, and why.

    :param reasons: every reason to refuse the host; none if it passes.
    """

    flavor: inventory.Flavor
    host: inventory.Host
    reasons: tuple[Reason, ...]

    @property
    def passed(self) -> bool:
        """Tell whether the host passes."""
        return not self.reasons

    @property
    def open(self) -> bool:
        """Tell whether the host passes, and is neither disabled nor down."""
        return self.passed and self.host.usable

    @property
    def failing_keys(self) -> tuple[str, ...]:
        """Return the keys of the reasons, each once."""
        return tuple(dict.fromkeys(reason.key for reason in self.reasons))


def judge(
    flavor: inventory.Flavor, hosts: inventory.Hosts, exempt: inputs.Exempt
) -> list[Explanation]:
    """Judge every host for one flavor.

    :returns: one entry per host, in the order of the hosts.
    """
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
    # Hosts in the same aggregates share the reasons.
    reasons = functools.cache(lambda own: tuple(request.reasons(own)))
    return [
        Explanation(flavor, host, reasons(host.aggregates))
        for host in hosts.values()
    ]


def explain(
    flavors: Iterable[inventory.Flavor],
    hosts: inventory.Hosts,
    exempt: inputs.Exempt,
) -> list[Explanation]:
    """Judge every host for every flavor, near misses first.

    :returns: one entry per flavor and host. Flavors keep their order; the
        hosts of each are ordered by the number of failing keys, then by name.
    """
    return [
        explanation
        for flavor in flavors
        for explanation in sorted(
            judge(flavor, hosts, exempt),
            key=lambda e: (len(e.failing_keys), e.host.name),
        )
    ]


def summarize(
    explanations: Iterable[Explanation],
) -> list[tuple[str, str, int]]:
    """Count hosts by the first reason.

    :param explanations: the result of :func:`explain`.
    :returns: (flavor, summary of the reason, number of hosts); the summary is
        empty for hosts that pass. Flavors keep their order; hosts that pass
        come first, then the commonest reason.
    """
    counts: dict[str, collections.Counter[str]] = {}
    for explanation in explanations:
        first = [reason.summary() for reason in explanation.reasons[:1]]
        counter = counts.setdefault(
            explanation.flavor.name, collections.Counter()
        )
        counter[''.join(first)] += 1
    return [
        (flavor, reason, number)
        for flavor, counter in counts.items()
        for reason, number in sorted(
            counter.items(),
            key=lambda entry: (entry[0] != '', -entry[1], entry[0]),
        )
    ]


def sentence(explanations: Collection[Explanation]) -> str:
    """Tell how many hosts pass for one flavor, and why the others do not.

    :param explanations: all hosts for one flavor.
    """
    passed = [e for e in explanations if e.passed]
    closed = sum(not e.open for e in passed)
    verb = 'passes' if len(passed) == 1 else 'pass'
    text = f'{len(passed)} of {len(explanations)} hosts {verb}'
    if closed:
        text += f' ({closed} of them disabled or down)'
    told = causes([e for e in explanations if e.reasons])
    return f'{text}; {told}.' if told else f'{text}.'


def causes(refused: Iterable[Explanation]) -> str:
    """Count refused hosts by what keeps them from passing.

    :param refused: the hosts; empty if there is none.
    """
    counts = collections.Counter(_phrase(e.reasons[0]) for e in refused)
    shown = counts.most_common(LISTED)
    told = [
        f'{number} {singular if number == 1 else plural}'
        for (singular, plural), number in shown
    ]
    rest = counts.total() - sum(number for _, number in shown)
    if rest:
        told.append(f'{rest} for other reasons')
    return ', '.join(told)


def _phrase(reason: Reason) -> tuple[str, str]:
    """Return why one host is refused, and why several are."""
    key, wanted = quote(reason.key)[1:-1], quote_all(reason.wanted)
    # A value of one word needs no quotation marks.
    plain = wanted[1:-1] if wanted.split() == [wanted] else wanted
    pair = f'{key}={plain}'
    if reason.kind is Kind.UNREADABLE:
        return 'cannot be read', 'cannot be read'
    if reason.side is Side.AGGREGATE:
        verb, rest = {
            Kind.FORBIDDEN: ('forbid', f' {key}'),
            Kind.CONTRADICTION: ('demand', f' {key} and forbid it'),
        }.get(reason.kind, ('demand', f' {pair}'))
        return f'{verb}s{rest}', f'{verb}{rest}'
    if reason.kind is Kind.MISSING:
        return f'lacks {pair}', f'lack {pair}'
    rest = {
        Kind.FORBIDDEN: f' {key}, which the flavor forbids',
        Kind.MALFORMED: f' no {key} to meet a malformed value',
    }.get(reason.kind, f' another {key} than {plain}')
    return f'has{rest}', f'have{rest}'
