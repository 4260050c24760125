# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over many flavors and hosts."""

import collections
import dataclasses
import functools
from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters.advice import inventory
from nova_filters.matching import inputs
from nova_filters.matching.reason import Reason
from nova_filters.matching.request import Request

#: The name of a host in no aggregate, in a matrix.
NO_AGGREGATE: Final = '(none)'


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


@dataclasses.dataclass(frozen=True, slots=True)
class Count:
    """How many hosts share a verdict and its first reason.

    :param flavor: the flavor's name.
    :param passed: whether the hosts pass.
    :param reason: the summary of the reason; empty if the hosts pass.
    :param hosts: the number of hosts.
    """

    flavor: str
    passed: bool
    reason: str
    hosts: int


def explain(
    flavors: Iterable[inventory.Flavor],
    hosts: inventory.Hosts,
    exempt: tuple[str, ...],
) -> list[Explanation]:
    """Judge every host for every flavor.

    :param flavors: the flavors.
    :param hosts: the aggregates of each host.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: one entry per flavor and host. Flavors keep their order. The
        hosts of each flavor are ordered by the number of failing keys, then
        by name: near misses stand before hopeless cases.
    """
    return [
        explanation
        for flavor in flavors
        for explanation in sorted(
            _judge(flavor, hosts, exempt),
            key=lambda e: (len(e.failing_keys), e.host),
        )
    ]


def summarize(explanations: Iterable[Explanation]) -> list[Count]:
    """Count hosts by the first reason.

    :param explanations: the result of :func:`explain`.
    :returns: the counts. Flavors keep their order; hosts that pass come
        first, then the commonest reason.
    """
    counts: dict[str, collections.Counter[str]] = {}
    for explanation in explanations:
        first = [reason.summary() for reason in explanation.reasons[:1]]
        counter = counts.setdefault(explanation.flavor, collections.Counter())
        counter[''.join(first)] += 1
    return [
        Count(flavor, not reason, reason, number)
        for flavor, counter in counts.items()
        for reason, number in sorted(
            counter.items(),
            key=lambda entry: (entry[0] != '', -entry[1], entry[0]),
        )
    ]


def matrix(
    flavors: Iterable[inventory.Flavor],
    aggregates: Sequence[inputs.Aggregate],
    exempt: tuple[str, ...],
) -> list[tuple[str, list[Explanation]]]:
    """Judge every flavor for a host that is in one aggregate alone.

    :param flavors: the flavors.
    :param aggregates: the aggregates.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: per flavor its name and its explanations: for a host in no
        aggregate, then for each aggregate, with the aggregate's name as the
        host.
    """
    alone: inventory.Hosts = {
        NO_AGGREGATE: (),
        **{aggregate.name: (aggregate,) for aggregate in aggregates},
    }
    return [(flavor.name, _judge(flavor, alone, exempt)) for flavor in flavors]


def _judge(
    flavor: inventory.Flavor, hosts: inventory.Hosts, exempt: tuple[str, ...]
) -> list[Explanation]:
    """Judge every host for one flavor, in the order of the hosts."""
    request = Request(inputs.read_flavor(flavor.extra_specs), exempt)

    @functools.cache
    def reasons(
        aggregates: tuple[inputs.Aggregate, ...],
    ) -> tuple[Reason, ...]:
        return tuple(request.reasons(aggregates))

    return [
        Explanation(
            flavor.name,
            host,
            tuple(aggregate.name for aggregate in aggregates),
            reasons(aggregates),
        )
        for host, aggregates in hosts.items()
    ]
