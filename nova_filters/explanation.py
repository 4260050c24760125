# SPDX-License-Identifier: Apache-2.0

"""Why a flavor may use a host or not, over many flavors and hosts.

Pure. The decision is :mod:`nova_filters.decision`, the evaluator
that the filter itself logs from; here it is asked for all its reasons, and
the answers are put into an order.
"""

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Final

from nova_filters import inventory, matching, request

#: What a host in no aggregate is called in a matrix.
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
    reasons: tuple[matching.Reason, ...]

    @property
    def passed(self) -> bool:
        """Tell whether the host passes."""
        return not self.reasons

    @property
    def failing_keys(self) -> tuple[str, ...]:
        """Return the keys that speak against the host, each once."""
        return tuple(dict.fromkeys(reason.key for reason in self.reasons))


@dataclasses.dataclass(frozen=True, slots=True)
class Count:
    """How many hosts share a verdict and its first reason.

    :param flavor: the flavor's name.
    :param passed: whether they pass.
    :param reason: the summary of the reason; empty if they pass.
    :param hosts: their number.
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
    :returns: one entry per flavor and host. Flavors stay in their order;
        the hosts of each come by the number of keys that speak against them,
        so near misses stand before hopeless cases, then by name.
    """
    found = []
    for flavor in flavors:
        asked = request.Request(
            matching.read_flavor(flavor.extra_specs), exempt
        )
        # Hosts in the same aggregates share the reasons.
        known: dict[tuple[str, ...], tuple[matching.Reason, ...]] = {}
        own = []
        for host, aggregates in hosts.items():
            names = tuple(aggregate.name for aggregate in aggregates)
            if names not in known:
                known[names] = tuple(asked.reasons(aggregates))
            own.append(Explanation(flavor.name, host, names, known[names]))
        own.sort(key=lambda e: (len(e.failing_keys), e.host))
        found += own
    return found


def summarize(explanations: Iterable[Explanation]) -> list[Count]:
    """Count hosts by the first reason.

    :param explanations: what :func:`explain` returned.
    :returns: the counts; flavors in their order, those that pass first, then
        the commonest reason.
    """
    counts: dict[str, collections.Counter[str]] = {}
    for explanation in explanations:
        reason = (
            explanation.reasons[0].summary() if explanation.reasons else ''
        )
        counter = counts.setdefault(explanation.flavor, collections.Counter())
        counter[reason] += 1
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
    aggregates: Sequence[inventory.HostAggregate],
    exempt: tuple[str, ...],
) -> list[tuple[str, list[Explanation]]]:
    """Judge every flavor for a host that is in one aggregate alone.

    :param flavors: the flavors.
    :param aggregates: the aggregates.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: per flavor its name and one explanation for each aggregate, in
        their order, and before them one for a host in no aggregate; "host"
        is the aggregate's name.
    """
    alone: dict[str, tuple[matching.Aggregate, ...]] = {NO_AGGREGATE: ()}
    for aggregate in aggregates:
        alone[aggregate.name] = (
            matching.Aggregate(aggregate.name, aggregate.metadata),
        )
    rows = []
    for flavor in flavors:
        asked = request.Request(
            matching.read_flavor(flavor.extra_specs), exempt
        )
        cells = [
            Explanation(
                flavor.name,
                name,
                tuple(aggregate.name for aggregate in own),
                tuple(asked.reasons(own)),
            )
            for name, own in alone.items()
        ]
        rows.append((flavor.name, cells))
    return rows
