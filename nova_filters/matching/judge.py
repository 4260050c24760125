# SPDX-License-Identifier: Apache-2.0

"""Judge the hosts of one request by the metadata of their aggregates.

Each aggregate is read once, and hosts whose aggregates say the same share one
decision. Nothing is kept between requests.
"""

import functools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, NamedTuple, TypeVar

from nova_filters.matching import decision, inputs
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.requirement import is_plain
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: The refused hosts by the first reason to refuse each host.
Refused = dict[Reason, list[HostT]]
#: What the aggregates of a host say together: their offers, joined, and the
#: aggregates that demand keys that the flavor lacks.
Joined = tuple[int, frozenset[Any]]
#: The demanded keys that the flavor does not meet: why not, and whether a
#: value of an aggregate is malformed.
Unmet = dict[str, tuple[Kind, bool]]

#: How many bits of an offer belong to one extra spec.
_WIDTH: Final = 8
_MASK: Final = (1 << _WIDTH) - 1


class Statement(NamedTuple):
    """What the metadata of an aggregate say to a flavor.

    :param offer: the bits of the module ``decision`` for each extra spec of
        the flavor. All of them are one number, so that one ``|`` joins the
        offers of two aggregates.
    :param missing: the demanded keys that the flavor lacks.
    :param sentinels: the bits for those of these keys that are not in
        ``missing``, because sentinels in their values may allow or forbid what
        the flavor lacks.
    """

    offer: int
    missing: Unmet
    sentinels: Mapping[str, int]


class Judge:
    """Judge hosts for one flavor.

    An aggregate needs the attributes ``name`` and ``metadata``. Aggregates are
    keys of a dictionary, so Nova's aggregates are compared by identity.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    :param is_demanding: tells of the metadata of an aggregate whether the
        aggregate demands its keys.
    """

    def __init__(
        self,
        flavor: Sequence[inputs.FlavorSpec],
        exempt: inputs.Exempt = (),
        is_demanding: Callable[[Mapping[str, str]], bool] = inputs.is_forced,
    ) -> None:
        self.flavor = flavor
        self._is_exempt = functools.cache(inputs.exemption(exempt))
        self._is_demanding = is_demanding
        self._indices: dict[str, list[int]] = {}
        for index, spec in enumerate(flavor):
            self._indices.setdefault(spec.key, []).append(index)
        self._statements: dict[Any, Statement] = {}
        # Many aggregates have the same values.
        self._read_value = functools.cache(decision.read)
        # Many hosts are in the same demanding aggregates.
        self._unmet_counts: dict[Joined, int] = {}

    def sift(
        self, hosts: Iterable[HostT]
    ) -> tuple[list[HostT], Refused[HostT]]:
        """Return the hosts that pass, and the refused hosts by reason.

        :param hosts: objects with the attribute ``aggregates``. A host is
            refused if its aggregates cannot be read.
        :returns: the hosts that pass, in their old order, and the others.
        """
        passed: list[HostT] = []
        refused: Refused[HostT] = {}
        groups: dict[Joined, list[HostT]] = {}
        for host in hosts:
            try:
                joined = self._join(host.aggregates or ())  # type: ignore[attr-defined]
            except Exception as exc:
                refused.setdefault(_unreadable(exc), []).append(host)
                continue
            group = groups.get(joined)
            if group is None:
                refusal = next(self._refuse(*joined), None)
                group = passed
                if refusal is not None:
                    group = refused.setdefault(refusal, [])
                groups[joined] = group
            group.append(host)
        return passed, refused

    def refusals(self, aggregates: Iterable[Any]) -> list[Reason]:
        """Return every reason to refuse a host that is in these aggregates.

        :returns: the reasons, without the values that :meth:`explain` adds.
            First come the reasons of ``Side.FLAVOR``, then the reasons of
            ``Side.AGGREGATE``. Each part is sorted by key.
        """
        try:
            joined = self._join(aggregates)
        except Exception as exc:
            return [_unreadable(exc)]
        return [*dict.fromkeys(self._refuse(*joined))]

    def reasons(self, aggregates: Collection[Any]) -> Iterator[Reason]:
        """Yield every reason of :meth:`refusals`, with its values."""
        for refusal in self.refusals(aggregates):
            yield self.explain(refusal, aggregates)

    def explain(self, refusal: Reason, aggregates: Iterable[Any]) -> Reason:
        """Return a reason with the values and the aggregates that cause it."""
        names = []
        texts = []
        problem = ''
        for aggregate in aggregates:
            if not self.is_behind(refusal, aggregate):
                continue
            readable = inputs.read_aggregate(aggregate)
            if refusal.kind is Kind.UNREADABLE:
                names.append(readable.name)
                continue
            demanding = self._is_demanding(readable.metadata)
            for piece in inputs.read_pieces(
                readable.metadata, demanding, refusal.key
            ):
                if refusal.side is Side.FLAVOR and piece.absence_only:
                    continue
                names.append(readable.name)
                texts.append(piece.text)
                problem = problem or piece.problem
        refusal = refusal._replace(aggregate=tuple(names))
        if refusal.kind is Kind.UNREADABLE:
            return refusal
        if refusal.side is Side.FLAVOR:
            return refusal._replace(stated_values=tuple(texts))
        flavor_texts = [
            spec.requirement.text
            for spec in self.flavor
            if spec.key == refusal.key
        ]
        return refusal._replace(
            accepted_values=tuple(texts),
            problem=problem,
            stated_values=tuple(flavor_texts),
        )

    def is_behind(self, refusal: Reason, aggregate: Any) -> bool:
        """Tell whether an aggregate may be a cause of a refusal."""
        if refusal.side is Side.FLAVOR:
            return True
        try:
            offer, _ = self._join((aggregate,))
        except Exception:
            return refusal.kind is Kind.UNREADABLE
        key = refusal.key
        if key in self._indices:
            index = self._indices[key][0]
            return bool(_bits(offer, index) & decision.DEMAND)
        statement = self._statements[aggregate]
        return key in statement.missing or key in statement.sentinels

    def met_specs(self, aggregates: Iterable[Any]) -> list[int]:
        """Return the indices of the extra specs that some aggregates meet.

        :raises Exception: if an aggregate cannot be read.
        """
        offer, _ = self._join(aggregates)
        return [
            index
            for index, spec in enumerate(self.flavor)
            if decision.check_flavor(spec, _bits(offer, index)) is None
        ]

    def count_unmet_demands(self, aggregates: Iterable[Any]) -> int:
        """Return how many keys some aggregates demand in vain.

        :raises Exception: if an aggregate cannot be read.
        """
        joined = self._join(aggregates)
        count = self._unmet_counts.get(joined)
        if count is None:
            unmet = self._find_unmet(*joined)
            count = sum(not self._is_exempt(key) for key in unmet)
            self._unmet_counts[joined] = count
        return count

    def _join(self, aggregates: Iterable[Any]) -> Joined:
        """Return what some aggregates say together.

        :raises Exception: if an aggregate cannot be read.
        """
        joined_offer = 0
        demanding = []
        for aggregate in aggregates:
            statement = self._statements.get(aggregate)
            if statement is None:
                statement = self._read(aggregate.metadata or {})
                self._statements[aggregate] = statement
            offer, missing, sentinels = statement
            joined_offer |= offer
            if missing or sentinels:
                demanding.append(aggregate)
        return joined_offer, frozenset(demanding)

    def _read(self, metadata: Mapping[str, str]) -> Statement:
        offer = 0
        if not self._is_demanding(metadata):
            for index, spec in enumerate(self.flavor):
                value = metadata.get(spec.key)
                if value is not None:
                    bits = self._read_value(spec.requirement, False, value)
                    offer |= bits << index * _WIDTH
            return Statement(offer, {}, {})
        missing: Unmet = {}
        sentinels: dict[str, int] = {}
        for key, value in inputs.read_items(metadata, True):
            if key in self._indices:
                for index in self._indices[key]:
                    requirement = self.flavor[index].requirement
                    bits = self._read_value(requirement, True, value)
                    offer |= bits << index * _WIDTH
            elif is_plain(value):
                missing[key] = Kind.MISSING, False
            else:
                bits = decision.read(None, True, value)
                sentinels[key] = sentinels.get(key, 0) | bits
        return Statement(offer, missing, sentinels)

    def _refuse(
        self, offer: int, demanding: frozenset[Any]
    ) -> Iterator[Reason]:
        """Yield every reason to refuse a host, as :meth:`refusals` does."""
        for index, spec in enumerate(self.flavor):
            bits = _bits(offer, index)
            kind = decision.check_flavor(spec, bits)
            if kind is not None:
                yield Reason(
                    Side.FLAVOR,
                    kind,
                    spec.key,
                    accepted_values=(spec.requirement.text,),
                    problem=spec.requirement.problem,
                    malformed=bool(bits & decision.MALFORMED),
                )
        unmet = self._find_unmet(offer, demanding)
        for key in sorted(unmet):
            if self._is_exempt(key):
                continue
            kind, malformed = unmet[key]
            yield Reason(Side.AGGREGATE, kind, key, malformed=malformed)

    def _find_unmet(self, offer: int, demanding: frozenset[Any]) -> Unmet:
        """Return the demanded keys that the flavor does not meet.

        :returns: key -> why the flavor does not meet it, and whether a value
            of an aggregate is malformed.
        """
        unmet: Unmet = {}
        sentinels: dict[str, int] = {}
        for aggregate in demanding:
            statement = self._statements[aggregate]
            unmet.update(statement.missing)
            for key, bits in statement.sentinels.items():
                sentinels[key] = sentinels.get(key, 0) | bits
        for key, bits in sentinels.items():
            if unmet.pop(key, None):
                bits |= decision.REQUIRED
            kind = decision.check_demand(None, bits)
            if kind is not None:
                unmet[key] = kind, bool(bits & decision.MALFORMED)
        for index, spec in enumerate(self.flavor):
            bits = _bits(offer, index)
            kind = decision.check_demand(spec.requirement, bits)
            if kind is not None:
                unmet[spec.key] = kind, bool(bits & decision.MALFORMED)
        return unmet


def _bits(offer: int, index: int) -> int:
    return offer >> index * _WIDTH & _MASK


def _unreadable(exc: Exception) -> Reason:
    problem = quote(f'{type(exc).__name__}: {exc}')
    return Reason(Side.AGGREGATE, Kind.UNREADABLE, problem=problem)
