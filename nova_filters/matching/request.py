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

#: The hosts that pass, in the order they came, and the other hosts by the
#: first reason to refuse them.
Sifted = tuple[list[HostT], dict[Reason, list[HostT]]]
#: What an aggregate says about each extra spec of the flavor, and about other
#: keys that the aggregate demands. The type is a frozenset because a frozenset
#: computes its hash only once.
Stated = frozenset[tuple[tuple[int, ...], frozenset[tuple[str, str]]]]
#: What the aggregates of a host state.
Statements = frozenset[Stated]
#: The value for an aggregate that cannot be read. The value for any other
#: aggregate is never empty.
_UNREADABLE: Final[Stated] = frozenset()


class Request:
    """One flavor, with a cache of the aggregates that were read for it.

    The cache compares aggregates as dictionary keys, so Nova's aggregates are
    compared by identity. An aggregate has ``name`` and ``metadata``.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    #: Subclasses replace these for other filters: the function that reads
    #: extra specs, the flag that forces an aggregate, the function that reads
    #: a metadata value, and the function that checks an extra spec.
    read = staticmethod(inputs.read_flavor)
    flag: str | None = inputs.FLAG
    say = staticmethod(decision.read)
    check = staticmethod(decision.check_flavor)

    def __init__(
        self, flavor: Sequence[inputs.FlavorSpec], exempt: inputs.Exempt = ()
    ) -> None:
        #: What could not be read, as sentences, and the last error.
        self.problems: set[str] = set()
        self.fault: Exception | None = None
        self.flavor = flavor
        self._is_exempt = inputs.exemption(exempt)
        #: For each extra spec, a reader for aggregates that are not forced,
        #: and a reader for forced aggregates.
        reader = functools.cache(self._reader)
        self._offered = [(s.key, reader(s.requirement, False)) for s in flavor]
        self._demanded = [reader(s.requirement, True) for s in flavor]
        self._lacking = reader(None, True)
        self._indices: dict[str, list[int]] = {}
        for index, spec in enumerate(flavor):
            self._indices.setdefault(spec.key, []).append(index)
        self._seen: set[Any] = set()
        self._stated: dict[Any, Stated] = {}
        #: Equal values are one object, so that groups are found fast.
        self._alike: dict[Stated, Stated] = {}

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: hosts with ``aggregates``. A host that cannot be read is
            refused.
        """
        passed: list[HostT] = []
        refused: dict[Reason, list[HostT]] = {}
        # An aggregate that has not been read yet counts as None in the key of
        # its host. No group has None in its key, so the aggregate is read
        # before its host gets a group.
        groups: dict[frozenset[Stated | None], list[HostT]] = {}
        get_stated = self._stated.get
        for host in hosts:
            try:
                group = groups.get(frozenset(map(get_stated, host.aggregates)))  # type: ignore[attr-defined]
            except Exception:
                group = None
            if group is None:
                # An aggregate or the combination is new, or cannot be read.
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
        """Yield every reason to refuse a host in some aggregates.

        :returns: first the reasons of the flavor's check, then those of the
            aggregates' check, each sorted by key.
        """
        for refusal in self.refusals(aggregates):
            yield self.explain(refusal, aggregates)

    def refusals(self, aggregates: Iterable[Any]) -> Collection[Reason]:
        """Return the reasons to refuse a host, without the values."""
        return self.refusals_of(self.stated(aggregates))

    def stated(self, aggregates: Iterable[Any]) -> Statements:
        """Return what the metadata of some aggregates state."""
        return frozenset(map(self._state, aggregates))

    def refusals_of(self, stated: Statements) -> Collection[Reason]:
        """Return every reason to refuse a host whose aggregates state this."""
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
        """Tell whether an aggregate causes a refusal, or is unreadable."""
        if refusal.kind is Kind.UNREADABLE:
            return self._state(aggregate) is _UNREADABLE
        readable = inputs.read_aggregate(aggregate)
        if not readable.forced:
            return False
        return refusal.key in {key for key, _ in readable.items()}

    def _state_of(self, host: Any) -> frozenset[Stated]:
        """Return what the metadata of a host's aggregates state."""
        try:
            aggregates = {*(host.aggregates or ())}
        except Exception as exc:
            self._close('the aggregates of a host', exc)
            return frozenset({_UNREADABLE})
        new = aggregates - self._seen
        self._seen |= new
        if 2 * len(new) > len(aggregates) > 1:
            # Perhaps no other host has the new aggregates. To read them
            # together takes less time.
            with contextlib.suppress(Exception):
                stated = self._read(new)
                return frozenset({stated, *map(self._state, aggregates - new)})
        return frozenset(map(self._state, aggregates))

    def _state(self, aggregate: Any) -> Stated:
        """Return what the metadata of one aggregate state."""
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
        """Remember why unreadable hosts are refused."""
        cause = quote(f'{type(exc).__name__}: {exc}')
        self.problems.add(f'{what} could not be read: {cause}')
        self.fault = exc

    def _reader(
        self, requirement: Requirement | None, forced: bool
    ) -> Callable[[str | None], int]:
        """Return a function that reads values and remembers the results."""
        read = functools.partial(self.say, requirement, forced)
        return functools.cache(read)

    def _read(self, aggregates: Iterable[Any]) -> Stated:
        """Return what the metadata of some aggregates state together."""
        offers: list[dict[str, str]] = []
        demanded: dict[str, list[str]] = {}
        lacking, flag = [], self.flag
        for aggregate in aggregates:
            metadata = aggregate.metadata or {}
            # Look for the flag first: most aggregates do not have it.
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
        """Yield every reason why a host refuses the flavor."""
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
            kind = self.check(spec, bits)
            if kind is not None:
                yield Reason(
                    Side.FLAVOR,
                    kind,
                    spec.key,
                    accepted_values=(spec.requirement.text,),
                    problem=spec.requirement.problem,
                    malformed=bool(bits & decision.MALFORMED),
                )
        # Lazy, because sift() needs only the first reason.
        yield from self._unmet_demands(bits_by_spec, lacking)

    def _unmet_demands(
        self, bits_by_spec: Sequence[int], lacking: Mapping[str, Iterable[str]]
    ) -> Iterator[Reason]:
        """Yield a reason for each demand that the flavor does not meet.

        :param bits_by_spec: what the aggregates say about each extra spec.
        :param lacking: the values of the keys that the flavor lacks.
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
    """Return values, with the plain values joined: this is faster to read."""
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
    """Return a function that joins the values of a key; None for no value."""
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
