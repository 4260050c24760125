# SPDX-License-Identifier: Apache-2.0

"""Judge all hosts of one boot request by what their own aggregates state.

Hosts whose aggregates state the same share one decision. Nothing is kept
between requests.
"""

import contextlib
import functools
import itertools
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching import decision, inputs, requirement
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.requirement import Requirement
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: The hosts that pass, in the order they came, and the other hosts by the
#: first reason to refuse them.
Sifted = tuple[list[HostT], dict[Reason, list[HostT]]]
#: What is said of each extra spec of the flavor, and of other keys that are
#: demanded. It stands in a set, which keeps its hash, unlike a tuple.
Stated = frozenset[tuple[tuple[int, ...], frozenset[tuple[str, str]]]]
#: What the aggregates of a host state.
Statements = frozenset[Stated]
#: What is stated by an aggregate that cannot be read. What others state is
#: never empty.
_UNREADABLE: Final[Stated] = frozenset()


class Request:
    """One flavor, and what has been read of aggregates for it.

    Aggregates are told apart as Python's dictionaries do it: Nova's by
    identity. An aggregate has ``name`` and ``metadata``.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    #: How extra specs are read, the key that forces an aggregate, what a
    #: value says, and what is wrong with that.
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
        #: By extra spec, for an aggregate that is not forced and one that is.
        reader = functools.cache(self._reader)
        self._offered = [(s.key, reader(s.requirement, False)) for s in flavor]
        self._demanded = [reader(s.requirement, True) for s in flavor]
        self._lacking = reader(None, True)
        self._indices: dict[str, list[int]] = {}
        for index, spec in enumerate(flavor):
            self._indices.setdefault(spec.key, []).append(index)
        self._seen: set[Any] = set()
        self._stated: dict[Any, Stated] = {}
        #: Equal ones are one object, so that groups are found fast.
        self._alike: dict[Stated, Stated] = {}

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: hosts with ``aggregates``. A host that cannot be read is
            refused.
        """
        passed: list[HostT] = []
        refused: dict[Reason, list[HostT]] = {}
        # A host with a new aggregate has None in its set. No group has such
        # a key, so it is never found before the aggregate is read.
        groups: dict[frozenset[Stated | None], list[HostT]] = {}
        known = self._stated.get
        for host in hosts:
            try:
                group = groups.get(frozenset(map(known, host.aggregates)))  # type: ignore[attr-defined]
            except Exception:
                group = None
            if group is None:
                # Something is new here, or cannot be read.
                stated = self._state_of(host)
                group = groups.get(stated)
                if group is None:
                    refusal = next(self._refusals(stated), None)
                    group = (
                        refused.setdefault(refusal, []) if refusal else passed
                    )
                    groups[stated] = group
            group.append(host)
        return passed, refused

    def reasons(self, aggregates: Collection[Any]) -> Iterator[Reason]:
        """Yield every reason to refuse a host in some aggregates.

        :returns: the flavor's check first, each check in the order of its
            keys.
        """
        for refusal in self.refusals(aggregates):
            yield self.explain(refusal, aggregates)

    def refusals(self, aggregates: Iterable[Any]) -> Collection[Reason]:
        """Return what :meth:`reasons` explains, without the values."""
        return self.refusals_of(self.stated(aggregates))

    def stated(self, aggregates: Iterable[Any]) -> Statements:
        """Return what some aggregates state; it is the same for many hosts."""
        return frozenset(map(self._state, aggregates))

    def refusals_of(self, stated: Statements) -> Collection[Reason]:
        """Return every reason to refuse a host whose aggregates state this."""
        return dict.fromkeys(self._refusals(stated))

    def explain(self, refusal: Reason, aggregates: Iterable[Any]) -> Reason:
        """Return a refusal with the values and aggregates behind it now."""
        of_flavor = refusal.side is Side.FLAVOR
        own = [
            inputs.read_aggregate(aggregate)
            for aggregate in aggregates
            if of_flavor or self.is_behind(refusal, aggregate)
        ]
        if refusal.kind is Kind.UNREADABLE:
            return refusal._replace(aggregate=tuple(a.name for a in own))
        offers = []
        for aggregate in own:
            for piece in aggregate.pieces(refusal.key):
                if not (of_flavor and piece.absence_only):
                    offers.append((aggregate.name, piece))
        names = tuple(name for name, _ in offers)
        texts = tuple(piece.text for _, piece in offers)
        if of_flavor:
            return refusal._replace(stated_values=texts, aggregate=names)
        return refusal._replace(
            accepted_values=texts,
            problem=next((p.problem for _, p in offers if p.problem), ''),
            stated_values=tuple(
                spec.requirement.text
                for spec in self.flavor
                if spec.key == refusal.key
            ),
            aggregate=names,
        )

    def is_behind(self, refusal: Reason, aggregate: Any) -> bool:
        """Tell whether an aggregate has a part in a demand, or is unread."""
        if refusal.kind is Kind.UNREADABLE:
            return self._state(aggregate) is _UNREADABLE
        own = inputs.read_aggregate(aggregate)
        return own.forced and refusal.key in (key for key, _ in own.items())

    def _state_of(self, host: Any) -> frozenset[Stated]:
        """Return what the aggregates of a host state."""
        try:
            own = {*(host.aggregates or ())}
        except Exception as exc:
            self._close('the aggregates of a host', exc)
            return frozenset({_UNREADABLE})
        new = own - self._seen
        self._seen |= new
        if 2 * len(new) > len(own) > 1:
            # Perhaps no other host has them. Together, they are read faster.
            with contextlib.suppress(Exception):
                stated = self._read(new)
                return frozenset({stated, *map(self._state, own - new)})
        return frozenset(map(self._state, own))

    def _state(self, aggregate: Any) -> Stated:
        """Return what one aggregate states."""
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
        """Remember why hosts are refused that cannot be read."""
        cause = quote(f'{type(exc).__name__}: {exc}')
        self.problems.add(f'{what} could not be read: {cause}')
        self.fault = exc

    def _reader(
        self, wanted: Requirement | None, forced: bool
    ) -> Callable[[str | None], int]:
        """Return what tells what a value says, asked once for each value."""
        return functools.cache(functools.partial(self.say, wanted, forced))

    def _read(self, aggregates: Iterable[Any]) -> Stated:
        """Return what some aggregates state together."""
        offers: list[dict[str, str]] = []
        demanded: dict[str, list[str]] = {}
        lacking, flag = [], self.flag
        for aggregate in aggregates:
            metadata = aggregate.metadata or {}
            # Most aggregates do not even have the key.
            if flag not in metadata or not requirement.is_on(metadata[flag]):
                offers.append(metadata)
                continue
            for key, text in inputs.items(metadata, forced=True):
                if key in self._indices:
                    demanded.setdefault(key, []).append(text)
                else:
                    lacking.append((key, text))
        get = offers[0].get if len(offers) == 1 else _together(offers)
        said = [read(get(key)) for key, read in self._offered]
        for key, texts in demanded.items():
            if len(texts) > 1:
                texts = _joined(texts)
            for index in self._indices[key]:
                for text in texts:
                    said[index] |= self._demanded[index](text)
        stated = frozenset({(tuple(said), frozenset(lacking))})
        return self._alike.setdefault(stated, stated)

    def _refusals(self, stated: Collection[Stated]) -> Iterator[Reason]:
        """Yield everything that keeps the flavor off a host."""
        if _UNREADABLE in stated:
            yield Reason(Side.AGGREGATE, Kind.UNREADABLE)
            return
        said = [0] * len(self.flavor)
        lacking: dict[str, list[str]] = {}
        for ((own, demanded),) in stated:
            said = [*map(operator.or_, said, own)]
            for key, text in demanded:
                lacking.setdefault(key, []).append(text)
        for spec, number in zip(self.flavor, said, strict=True):
            kind = self.check(spec, number)
            if kind is not None:
                malformed = bool(number & decision.MALFORMED)
                text, problem = spec.requirement.text, spec.requirement.problem
                case = Side.FLAVOR, kind, spec.key, (text,), problem, malformed
                yield Reason(*case)
        for key in sorted((*self._indices, *lacking)):
            cases: list[tuple[Requirement | None, int]]
            if key in lacking:
                # Mostly, the first one is all that is asked for.
                texts = map(self._lacking, lacking[key])
                cases = [(None, functools.reduce(operator.or_, texts))]
            else:
                cases = [
                    (self.flavor[index].requirement, said[index])
                    for index in self._indices[key]
                ]
            for wanted, number in cases:
                kind = decision.check_demand(wanted, number)
                if kind is not None and not self._is_exempt(key):
                    malformed = bool(number & decision.MALFORMED)
                    yield Reason(
                        Side.AGGREGATE, kind, key, malformed=malformed
                    )


def _joined(texts: Iterable[str]) -> list[str]:
    """Return values with the plain ones as one: that is read faster."""
    plain = [*filter(requirement.is_plain, texts)]
    others = itertools.filterfalse(requirement.is_plain, texts)
    return [','.join(plain), *others] if plain else [*others]


def _together(offers: Iterable[dict[str, str]]) -> Callable[[str], str | None]:
    """Return what gives all values of a key as one; None for no value."""

    def get(key: str) -> str | None:
        values = [v for o in offers if (v := o.get(key)) is not None]
        return ','.join(values) if values else None

    return get
