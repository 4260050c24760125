# SPDX-License-Identifier: Apache-2.0

"""Give points to hosts for the preferences of flavors and aggregates.

A preference of a flavor is read like an extra spec for
``AggregateInstanceTypeFilter``. A soft aggregate has ``prefer_metadata_check``
and not ``force_metadata_check``. A soft aggregate demands its metadata keys
like a forced aggregate. But preferences and soft demands only change the
points of a host, and never refuse the host.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs, requirement
from nova_filters.matching.matcher import Matcher
from os_placement_plugins.text import quote

#: How many points one preference of a flavor may add or subtract: 1 to 100.
_FACTOR: Final = re.compile('[1-9][0-9]?|100')
MOST_POINTS: Final = 100


class Preference(NamedTuple):
    """An extra spec that is a preference.

    :param spec: the preference as an extra spec, for the filter's checks.
    :param points: the points that a host gains if it meets the extra spec;
        below 0 if the flavor avoids such hosts.
    """

    spec: inputs.FlavorSpec
    points: int


def read_preferences(
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
        if not _FACTOR.fullmatch(number):
            problem = f'{quote(number)} is no number from 1 to 100'
        if problem:
            problems.append(f'the flavor has {quote(name)}: {problem}')
            continue
        points = int(number)
        if kind == 'avoided':
            points = -points
        preferences.append(Preference(spec, points))
    return preferences, problems


class Preferences:
    """The preferences of one flavor and of the aggregates.

    :param extra_specs: the extra specs of the flavor; None if it has none.
    :param aggregates: the aggregates of all candidates.
    :param exempt: patterns of keys that no aggregate may demand.
    :raises Exception: if an aggregate cannot be read.
    """

    def __init__(
        self,
        extra_specs: Mapping[str, str] | None,
        aggregates: Iterable[Any],
        exempt: inputs.Exempt = (),
    ) -> None:
        self.preferences, self.problems = read_preferences(extra_specs)
        self._flavor_matcher: Matcher | None = None
        if self.preferences:
            specs = [preference.spec for preference in self.preferences]
            self._flavor_matcher = Matcher(specs)
        self._soft_matcher: Matcher | None = None
        flags = {inputs.read_flag(each.metadata or {}) for each in aggregates}
        if inputs.SOFT_FLAG in flags:
            self._soft_matcher = Matcher(
                inputs.read_flavor(extra_specs), exempt, inputs.SOFT_FLAG
            )

    def score(self, aggregates: Collection[Any]) -> int:
        """Return the points of a host that is in these aggregates.

        :raises Exception: if an aggregate cannot be read.
        """
        points = 0
        if self._soft_matcher is not None:
            points -= self._soft_matcher.count_unmet_demands(aggregates)
        if self._flavor_matcher is not None:
            for number in self._flavor_matcher.met_specs(aggregates):
                points += self.preferences[number].points
        return points


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
