# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over many flavors and hosts."""

import collections
import dataclasses
import functools
from collections.abc import Iterable

from nova_filters.advice import inventory
from nova_filters.matching import inputs
from nova_filters.matching.reason import Reason
from nova_filters.matching.request import Request


@dataclasses.dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on one flavor and one host, and why.

    :param flavor: the flavor's name.
    :param host: the host's name.
    :param aggregates: the names of the host's aggregates.
    :param reasons: every reason to refuse the host; none if it passes.
    """

    flavor: str
    host: str
    aggregates: tuple[str, ...]
    reasons: tuple[Reason, ...]

    @property
    def passed(self) -> bool:
        """Tell whether the host passes."""
        return not self.reasons

    @property
    def failing_keys(self) -> tuple[str, ...]:
        """Return the keys of the reasons, each once."""
        return tuple(dict.fromkeys(reason.key for reason in self.reasons))


def judge(
    flavor: inventory.Flavor, hosts: inventory.Hosts, exempt: tuple[str, ...]
) -> list[Explanation]:
    """Judge every host for one flavor.

    :param flavor: the flavor.
    :param hosts: the hosts.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: one entry per host, in the order of the hosts.
    """
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)
    # Hosts in the same aggregates share the reasons.
    reasons = functools.cache(lambda own: tuple(request.reasons(own)))
    return [
        Explanation(
            flavor.name,
            name,
            tuple(aggregate.name for aggregate in host.aggregates),
            reasons(host.aggregates),
        )
        for name, host in hosts.items()
    ]


def explain(
    flavors: Iterable[inventory.Flavor],
    hosts: inventory.Hosts,
    exempt: tuple[str, ...],
) -> list[Explanation]:
    """Judge every host for every flavor, near misses first.

    :param flavors: the flavors.
    :param hosts: the hosts.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: one entry per flavor and host. Flavors keep their order; the
        hosts of each are ordered by the number of failing keys, then by name.
    """
    return [
        explanation
        for flavor in flavors
        for explanation in sorted(
            judge(flavor, hosts, exempt),
            key=lambda e: (len(e.failing_keys), e.host),
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
        counter = counts.setdefault(explanation.flavor, collections.Counter())
        counter[''.join(first)] += 1
    return [
        (flavor, reason, number)
        for flavor, counter in counts.items()
        for reason, number in sorted(
            counter.items(),
            key=lambda entry: (entry[0] != '', -entry[1], entry[0]),
        )
    ]
