# SPDX-License-Identifier: Apache-2.0

"""Judge all hosts of one boot request by the metadata of their aggregates.

Hosts whose aggregates have the same metadata share one decision. Nothing is
kept between requests.
"""

import contextlib
import functools
import operator
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, TypeVar

from nova_filters.matching import decision, inputs
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.requirement import Requirement, is_on, is_plain
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: The hosts that pass, in their old order, and the refused hosts, grouped by
#: the first reason to refuse each host.
Sifted = tuple[list[HostT], dict[Reason, list[HostT]]]
#: What one or more aggregates state: the bits of the module ``decision`` for
#: each extra spec of the flavor, and the demanded keys that the flavor lacks,
#: with their values. The type is a frozenset of one element, because a
#: frozenset computes its hash only once.
Stated = frozenset[tuple[tuple[int, ...], frozenset[tuple[str, str]]]]
#: What all aggregates of a host state.
Statements = frozenset[Stated]
#: The :data:`Stated` of an aggregate that cannot be read. It is empty, unlike
#: the :data:`Stated` of any other aggregate.
_UNREADABLE: Final[Stated] = frozenset()


class Request:
    """Judge hosts for one flavor, and cache the aggregates that were read.

    Aggregates are the keys of the cache, so Nova's aggregates are compared by
    identity. An aggregate needs the attributes ``name`` and ``metadata``.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self, flavor: Sequence[inputs.FlavorSpec], exempt: inputs.Exempt = ()
    ) -> None:
        #: A sentence for each host or aggregate that could not be read.
        self.problems: set[str] = set()
        #: The error of the last host or aggregate that could not be read.
        self.fault: Exception | None = None
        self.flavor = flavor
        self._is_exempt = inputs.exemption(exempt)
        #: Functions that read a metadata value: for each extra spec in
        #: aggregates that are not forced, for each extra spec in forced
        #: aggregates, and for keys that the flavor lacks.
        reader = functools.cache(self._reader)
        self._offered = [(s.key, reader(s.requirement, False)) for s in flavor]
        self._demanded = [reader(s.requirement, True) for s in flavor]
        self._lacking = reader(None, True)
        self._indices: dict[str, list[int]] = {}
        for index, spec in enumerate(flavor):
            self._indices.setdefault(spec.key, []).append(index)
        self._seen: set[Any] = set()
        self._stated: dict[Any, Stated] = {}
        #: Each :data:`Stated` as its own key. Equal ones become one object, so
        #: dictionaries compare them fast.
        self._alike: dict[Stated, Stated] = {}

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Return the hosts that pass, and the refused hosts by reason.

        :param hosts: objects with the attribute ``aggregates``. A host is
            refused if its aggregates cannot be read.
        """
        passed: list[HostT] = []
        refused: dict[Reason, list[HostT]] = {}
        # All hosts of a group share the key: what their aggregates state. For
        # an aggregate that has not been read yet, get_stated() returns None.
        # No key contains None, so no group is found for a host in such an
        # aggregate. The aggregates of this host are then read.
        groups: dict[frozenset[Stated | None], list[HostT]] = {}
        get_stated = self._stated.get
        for host in hosts:
            try:
                group = groups.get(frozenset(map(get_stated, host.aggregates)))  # type: ignore[attr-defined]
            except Exception:
                group = None
            if group is None:
                # One of the aggregates or their combination is new, or the
                # aggregates cannot be read.
                stated = self._state_of(host)
                group = groups.get(stated)
                if group is None:
                    refusal = next(self._refusals(stated), None)
                    group = passed
                    if refusal is not None:
                        group = refused.setdefault(refusal, [])
                    groups[stated] = group
            group.append(host)
        return passed, refused

    def reasons(self, aggregates: Collection[Any]) -> Iterator[Reason]:
        """Yield every reason to refuse a host that is in these aggregates.

        :returns: first the reasons of ``Side.FLAVOR``, then the reasons of
            ``Side.AGGREGATE``. Each part is sorted by key.
        """
        for refusal in self.refusals(aggregates):
            yield self.explain(refusal, aggregates)

    def refusals(self, aggregates: Iterable[Any]) -> Collection[Reason]:
        """Return the reasons to refuse a host that is in these aggregates.

        :returns: the reasons, without the values that :meth:`explain` adds.
        """
        return self.refusals_of(self.stated(aggregates))

    def stated(self, aggregates: Iterable[Any]) -> Statements:
        """Return what the metadata of each aggregate states."""
        return frozenset(map(self._state, aggregates))

    def refusals_of(self, stated: Statements) -> Collection[Reason]:
        """Return every reason to refuse a host.

        :param stated: what the aggregates of the host state.
        """
        return dict.fromkeys(self._refusals(stated))

    def explain(self, refusal: Reason, aggregates: Iterable[Any]) -> Reason:
        """Return a reason with the values and the aggregates that cause it."""
        of_flavor = refusal.side is Side.FLAVOR
        behind = [
            inputs.read_aggregate(aggregate)
            for aggregate in aggregates
            if of_flavor or self.is_behind(refusal, aggregate)
        ]
        if refusal.kind is Kind.UNREADABLE:
            return refusal._replace(aggregate=tuple(a.name for a in behind))
        names = []
        texts = []
        problem = ''
        for aggregate in behind:
            for piece in aggregate.pieces(refusal.key):
                if not (of_flavor and piece.absence_only):
                    names.append(aggregate.name)
                    texts.append(piece.text)
                    problem = problem or piece.problem
        if of_flavor:
            return refusal._replace(
                stated_values=tuple(texts), aggregate=tuple(names)
            )
        flavor_texts = [
            spec.requirement.text
            for spec in self.flavor
            if spec.key == refusal.key
        ]
        return refusal._replace(
            accepted_values=tuple(texts),
            problem=problem,
            stated_values=tuple(flavor_texts),
            aggregate=tuple(names),
        )

    def is_behind(self, refusal: Reason, aggregate: Any) -> bool:
        """Tell whether an aggregate is a cause of a refusal.

        :param refusal: a reason of ``Side.AGGREGATE``.
        """
        if refusal.kind is Kind.UNREADABLE:
            return self._state(aggregate) is _UNREADABLE
        readable = inputs.read_aggregate(aggregate)
        if not readable.forced:
            return False
        return refusal.key in {key for key, _ in readable.items()}

    def _state_of(self, host: Any) -> frozenset[Stated]:
        """Return what the metadata of a host's aggregates states."""
        try:
            aggregates = {*(host.aggregates or ())}
        except Exception as exc:
            self._close('the aggregates of a host', exc)
            return frozenset({_UNREADABLE})
        new = aggregates - self._seen
        self._seen |= new
        if 2 * len(new) > len(aggregates) > 1:
            # Perhaps no other host is in the new aggregates. Reading them
            # together is faster than one by one.
            with contextlib.suppress(Exception):
                stated = self._read(new)
                return frozenset({stated, *map(self._state, aggregates - new)})
        return frozenset(map(self._state, aggregates))

    def _state(self, aggregate: Any) -> Stated:
        """Return what the metadata of one aggregate states."""
        stated = self._stated.get(aggregate)
        if stated is None:
            try:
                stated = self._read((aggregate,))
            except Exception as exc:
                name = quote(inputs.read_aggregate(aggregate).name)
                self._close(f'aggregate {name}', exc)
                stated = _UNREADABLE
            self._stated[aggregate] = stated
        return stated

    def _close(self, what: str, exc: Exception) -> None:
        """Record that a host or an aggregate could not be read.

        :param what: the host or the aggregate, for the sentence in
            :attr:`problems`.
        """
        cause = quote(f'{type(exc).__name__}: {exc}')
        self.problems.add(f'{what} could not be read: {cause}')
        self.fault = exc

    def _reader(
        self, requirement: Requirement | None, forced: bool
    ) -> Callable[[str | None], int]:
        """Return a function that reads metadata values and caches the bits."""
        read = functools.partial(decision.read, requirement, forced)
        return functools.cache(read)

    def _read(self, aggregates: Iterable[Any]) -> Stated:
        """Return what the metadata of some aggregates states together."""
        offers: list[dict[str, str]] = []
        demanded: dict[str, list[str]] = {}
        lacking = []
        flag = inputs.FLAG
        for aggregate in aggregates:
            metadata = aggregate.metadata or {}
            # Looking for the flag is fast, and most aggregates lack the flag.
            if flag not in metadata or not is_on(metadata[flag]):
                offers.append(metadata)
                continue
            for key, text in inputs.items(metadata, forced=True):
                if key in self._indices:
                    demanded.setdefault(key, []).append(text)
                else:
                    lacking.append((key, text))
        get = _together(offers)
        bits_by_spec = [read(get(key)) for key, read in self._offered]
        for key, texts in demanded.items():
            if len(texts) > 1:
                texts = _joined(texts)
            for index in self._indices[key]:
                for text in texts:
                    bits_by_spec[index] |= self._demanded[index](text)
        stated = frozenset({(tuple(bits_by_spec), frozenset(lacking))})
        return self._alike.setdefault(stated, stated)

    def _refusals(self, stated: Collection[Stated]) -> Iterator[Reason]:
        """Yield every reason to refuse a host.

        :param stated: what the aggregates of the host state.
        """
        if _UNREADABLE in stated:
            yield Reason(Side.AGGREGATE, Kind.UNREADABLE)
            return
        bits_by_spec = [0] * len(self.flavor)
        lacking: dict[str, list[str]] = {}
        for ((bits_of_aggregate, demanded),) in stated:
            bits_by_spec = [
                *map(operator.or_, bits_by_spec, bits_of_aggregate)
            ]
            for key, text in demanded:
                lacking.setdefault(key, []).append(text)
        for spec, bits in zip(self.flavor, bits_by_spec, strict=True):
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
        # This is a generator, because sift() needs only the first reason.
        yield from self._unmet_demands(bits_by_spec, lacking)

    def _unmet_demands(
        self, bits_by_spec: Sequence[int], lacking: Mapping[str, Iterable[str]]
    ) -> Iterator[Reason]:
        """Yield a reason for each demand that the flavor does not meet.

        :param bits_by_spec: what the aggregates say about each extra spec.
        :param lacking: the demanded keys that the flavor lacks, with the
            values in the aggregates.
        """
        for key in sorted((*self._indices, *lacking)):
            cases: list[tuple[Requirement | None, int]]
            if key in lacking:
                bits_of_key = 0
                for text in lacking[key]:
                    bits_of_key |= self._lacking(text)
                cases = [(None, bits_of_key)]
            else:
                cases = [
                    (self.flavor[index].requirement, bits_by_spec[index])
                    for index in self._indices[key]
                ]
            for requirement, bits in cases:
                kind = decision.check_demand(requirement, bits)
                if kind is not None and not self._is_exempt(key):
                    malformed = bool(bits & decision.MALFORMED)
                    yield Reason(
                        Side.AGGREGATE, kind, key, malformed=malformed
                    )


def _joined(texts: Iterable[str]) -> list[str]:
    """Join the plain values into one value, which is faster to read.

    Other values stay apart, because "*" and "~" in one value mean more than
    in two values.
    """
    plain = []
    special = []
    for text in texts:
        if is_plain(text):
            plain.append(text)
        else:
            special.append(text)
    if not plain:
        return special
    return [','.join(plain), *special]


def _together(offers: Sequence[dict[str, str]]) -> Callable[[str], str | None]:
    """Return a function that joins the metadata values of a key.

    :returns: the function; it returns None if no aggregate has the key.
    """
    if len(offers) == 1:
        return offers[0].get

    def get(key: str) -> str | None:
        # With 300 aggregates, a loop takes longer than a comprehension.
        values = [
            value
            for metadata in offers
            if (value := metadata.get(key)) is not None
        ]
        if not values:
            return None
        return ','.join(values)

    return get
