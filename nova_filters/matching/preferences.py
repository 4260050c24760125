# SPDX-License-Identifier: Apache-2.0

"""What a flavor and aggregates would rather have: the filter's rules, soft.

A preference asks what an extra spec asks, and an aggregate whose metadata key
``prefer_metadata_check`` is on demands what a forced one does. Both give
points instead of a verdict.
"""

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nova_filters.matching import inputs, requirement
from nova_filters.matching.reason import Reason, Side
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
        self._harden = functools.cache(harden)

    def score(self, aggregates: Collection[Any]) -> int:
        """Return the points of a host in some aggregates.

        What cannot be read gives no points and takes none.
        """
        hard = self._hardened(aggregates)
        return sum(n for n, _ in self._points(aggregates, hard))

    def reasons(
        self, aggregates: Collection[Any]
    ) -> Iterator[tuple[int, str]]:
        """Yield what a host in some aggregates gains and loses, and why."""
        hard = self._hardened(aggregates)
        for points, why in self._points(aggregates, hard):
            if isinstance(why, Preference):
                yield points, f'{why.name}={why.spec.wanted.text}'
            else:
                yield points, self._flavor.explain(why, hard).summary()

    def _points(
        self, aggregates: Collection[Any], hard: Collection[inputs.Aggregate]
    ) -> Iterator[tuple[int, Preference | Reason]]:
        """Yield each gain and loss, with what is behind it.

        :param hard: what the aggregates prefer, as demands.
        """
        refusals = self._wishes.refusals(aggregates) if self._asking else ()
        unmet = {(refusal.key, refusal.wanted) for refusal in refusals}
        if ('', ()) not in unmet:
            for one in self._asking:
                if (one.spec.key, (one.spec.wanted.text,)) not in unmet:
                    yield one.points, one
        for refusal in self._flavor.refusals(hard) if hard else ():
            if refusal.side is Side.AGGREGATE:
                yield -1, refusal

    def _hardened(self, aggregates: Iterable[Any]) -> list[inputs.Aggregate]:
        """Return the aggregates with the soft flag only, as forced ones."""
        return [*filter(None, map(self._harden, aggregates))]


def harden(aggregate: Any) -> inputs.Aggregate | None:
    """Return a forced copy of an aggregate that has only the soft flag."""
    try:
        if inputs.SOFT_FLAG not in aggregate.metadata:
            return None
    except Exception:
        # What cannot be read prefers nothing.
        return None
    own = inputs.read_aggregate(aggregate)
    if own.forced or not requirement.is_on(own.metadata.get(inputs.SOFT_FLAG)):
        return None
    return inputs.Aggregate(own.name, {**own.metadata, inputs.FLAG: 'true'})
