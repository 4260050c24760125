# SPDX-License-Identifier: Apache-2.0

"""Give points to hosts for the preferences of flavors and aggregates.

A preference of a flavor is read like an extra spec for
``AggregateInstanceTypeFilter``. A soft aggregate has ``prefer_metadata_check``
and not ``force_metadata_check``. A soft aggregate demands its metadata keys
like a forced aggregate. But preferences and soft demands only change the
points of a host, and never refuse the host.
"""

import functools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request, Statements
from os_placement_plugins.quoting import quote

#: How many points one preference of a flavor may add or subtract.
FACTORS: Final = range(1, 101)


class Preference(NamedTuple):
    """An extra spec that is a preference.

    :param name: the name of the extra spec.
    :param spec: the preference as an extra spec, for the filter's checks.
    :param points: the points that a host gains if it meets the extra spec;
        below 0 if the flavor avoids such hosts.
    """

    name: str
    spec: inputs.FlavorSpec
    points: int


def read(
    extra_specs: Mapping[str, str] | None,
) -> tuple[list[Preference], list[str]]:
    """Return a flavor's valid preferences, and a text for each invalid one."""
    preferences = []
    problems = []
    for name, value in (extra_specs or {}).items():
        match = inputs.PREFERENCE.fullmatch(str(name))
        if match is None:
            continue
        kind, factor, key = match.groups('.1')
        spec = inputs.FlavorSpec(key, False, requirement.parse(value))
        problem = spec.requirement.problem
        number = factor.removeprefix('.')
        if not number.isdecimal() or int(number) not in FACTORS:
            problem = f'{quote(number)} is no number from 1 to 100'
        if problem:
            problems.append(f'the flavor has {quote(name)}: {problem}')
            continue
        points = int(number)
        if kind == 'avoided':
            points = -points
        preferences.append(Preference(name, spec, points))
    return preferences, problems


class Preferences:
    """The preferences of one flavor and of the aggregates.

    :param extra_specs: the extra specs of the flavor; None if it has none.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self,
        extra_specs: Mapping[str, str] | None,
        exempt: inputs.Exempt = (),
    ) -> None:
        self._preferences, self.problems = read(extra_specs)
        specs = [preference.spec for preference in self._preferences]
        self._wishes = Request(specs, ('*',))
        self._flavor = Request(inputs.read_flavor(extra_specs), exempt)
        self._harden = functools.cache(harden)
        # Cache the results: many hosts have aggregates with the same metadata.
        self._met = functools.cache(self._read_met)
        self._missed = functools.cache(self._read_missed)

    def score(self, aggregates: Collection[Any]) -> int:
        """Return the points of a host that is in these aggregates.

        Preferences and demands that cannot be read do not count.
        """
        points = 0
        if self._preferences:
            met = self._met(self._wishes.stated(aggregates))
            points += sum(preference.points for preference in met)
        demands = self._hardened(aggregates)
        if demands:
            points -= len(self._missed(self._flavor.stated(demands)))
        return points

    def reasons(
        self, aggregates: Collection[Any]
    ) -> Iterator[tuple[int, str]]:
        """Yield each gain and loss of points of a host, with its reason.

        :param aggregates: the aggregates of the host.
        """
        for preference in self._met(self._wishes.stated(aggregates)):
            value = preference.spec.requirement.text
            yield preference.points, f'{preference.name}={value}'
        demands = self._hardened(aggregates)
        for refusal in self._missed(self._flavor.stated(demands)):
            yield -1, self._flavor.explain(refusal, demands).summary()

    def _read_met(self, stated: Statements) -> list[Preference]:
        """Return the preferences of the flavor that a host meets.

        :param stated: what the aggregates of the host state.
        """
        unmet = set()
        for refusal in self._wishes.refusals_of(stated):
            if refusal.kind is Kind.UNREADABLE:
                return []
            unmet.add((refusal.key, refusal.accepted_values))
        met = []
        for preference in self._preferences:
            spec = preference.spec
            if (spec.key, (spec.requirement.text,)) not in unmet:
                met.append(preference)
        return met

    def _read_missed(self, stated: Statements) -> list[Reason]:
        """Return the soft demands that the flavor does not meet.

        :param stated: what forced copies of the soft aggregates state.
        """
        return [
            refusal
            for refusal in self._flavor.refusals_of(stated)
            if refusal.side is Side.AGGREGATE
        ]

    def _hardened(self, aggregates: Iterable[Any]) -> list[inputs.Aggregate]:
        """Return forced copies of those aggregates that are soft."""
        hardened = []
        for aggregate in aggregates:
            forced_copy = self._harden(aggregate)
            if forced_copy is not None:
                hardened.append(forced_copy)
        return hardened


def weight(points: int) -> float:
    """Return the weight of a host with these points, before the multiplier.

    The weight is 1 for 1 point, 2 for 10 and 3 for 100. The weight does not
    depend on the other hosts. The logarithm keeps the weight small, so that
    other weighers can outweigh it.

    :param points: the points of the host. If they are below 0, the weight is
        below 0, too.
    """
    if points == 0:
        return 0.0
    return math.copysign(1 + math.log10(abs(points)), points)


def harden(aggregate: Any) -> inputs.Aggregate | None:
    """Return a forced copy of a soft aggregate.

    :returns: the copy; None if the aggregate is not soft.
    """
    try:
        if inputs.SOFT_FLAG not in aggregate.metadata:
            return None
    except Exception:
        # An aggregate that cannot be read has no preferences.
        return None
    soft = inputs.read_aggregate(aggregate)
    is_soft = requirement.is_on(soft.metadata.get(inputs.SOFT_FLAG))
    if soft.forced or not is_soft:
        return None
    return inputs.Aggregate(soft.name, {**soft.metadata, inputs.FLAG: 'true'})
