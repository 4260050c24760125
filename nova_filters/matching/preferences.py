# SPDX-License-Identifier: Apache-2.0

"""What a flavor and aggregates would rather have: the filter's rules, soft.

A preference asks what an extra spec asks, and an aggregate whose metadata key
``prefer_metadata_check`` is on demands what a forced one does. Both give
points instead of a verdict.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Side
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote

#: How much one preference of a flavor may count.
FACTORS: Final = range(1, 101)


class Preference(NamedTuple):
    """An extra spec that is a preference.

    :param name: the name of the extra spec.
    :param spec: what it is as a demand.
    :param points: what a host gains that meets it; below 0 to avoid the host.
    """

    name: str
    spec: inputs.FlavorSpec
    points: int


def read(
    extra_specs: Mapping[str, str] | None,
) -> tuple[list[Preference], list[str]]:
    """Return the preferences of a flavor, and what is malformed in others."""
    found, problems = [], []
    for name, value in (extra_specs or {}).items():
        match = inputs.PREFERENCE.fullmatch(str(name))
        if match is None:
            continue
        kind, factor, key = match.groups('.1')
        wanted = requirement.parse(value)
        problem = wanted.problem
        if not factor[1:].isdecimal() or int(factor[1:]) not in FACTORS:
            problem = f'{quote(factor[1:])} is no number from 1 to 100'
        if problem:
            problems.append(f'the flavor has {quote(name)}: {problem}')
        else:
            points = int(factor[1:]) * (1 if kind == 'preferred' else -1)
            spec = inputs.FlavorSpec(key, False, wanted)
            found.append(Preference(name, spec, points))
    return found, problems


class Preferences:
    """What one flavor and the aggregates prefer.

    :param extra_specs: those of the flavor; None stands for none.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self,
        extra_specs: Mapping[str, str] | None,
        exempt: inputs.Exempt = (),
    ) -> None:
        self._asking, self.problems = read(extra_specs)
        self._wishes = Request([one.spec for one in self._asking], ('*',))
        self._flavor = Request(inputs.read_flavor(extra_specs), exempt)
        self._hard: dict[Any, inputs.Aggregate | None] = {}

    def points(self, aggregates: Collection[Any]) -> Iterator[tuple[int, str]]:
        """Yield what a host in some aggregates gains and loses, and why.

        :returns: nothing for what a host gains and loses by aggregates that
            cannot be read.
        """
        refusals = self._wishes.refusals(aggregates) if self._asking else ()
        unmet = {(refusal.key, refusal.wanted) for refusal in refusals}
        if ('', None) not in unmet:
            for name, spec, points in self._asking:
                if (spec.key, spec.wanted) not in unmet:
                    yield points, f'{name}={spec.wanted.text}'
        hard = [one for one in map(self._harden, aggregates) if one]
        keys = set()
        for refusal in self._flavor.refusals(hard) if hard else ():
            if refusal.side is Side.AGGREGATE and refusal.key not in keys:
                keys.add(refusal.key)
                reason = self._flavor.explain(refusal, hard)
                yield -1, reason.summary()

    def _harden(self, aggregate: Any) -> inputs.Aggregate | None:
        """Return an aggregate with its preferences as demands, if it has any.

        With both flags on, its demands are no preferences.
        """
        if aggregate not in self._hard:
            self._hard[aggregate] = _hardened(aggregate)
        return self._hard[aggregate]


def _hardened(aggregate: Any) -> inputs.Aggregate | None:
    """Return a forced copy of an aggregate that has only the soft flag."""
    own = inputs.read_aggregate(aggregate)
    if own.forced or not requirement.is_on(own.metadata.get(inputs.SOFT_FLAG)):
        return None
    return inputs.Aggregate(own.name, {**own.metadata, inputs.FLAG: 'true'})
