# SPDX-License-Identifier: Apache-2.0

"""Judge all hosts of one boot request by what their own aggregates state.

Hosts whose aggregates state the same share one decision. Nothing is kept
between requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching import decision, inputs, reason, requirement
from nova_filters.matching.decision import Fact, Facts
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: How many new aggregates of a host are read one by one.
_FEW: Final = 5
#: How many metadata items are remembered for other aggregates of a request:
#: where each aggregate has its own, to remember them only costs time.
_SHARED: Final = 500

#: The hosts that pass, in the order they came, and the other hosts by the
#: first reason to refuse them.
Sifted = tuple[list[HostT], dict[reason.Refusal, list[HostT]]]


class Request:
    """One flavor, and what has been read of aggregates for it.

    Aggregates are told apart as Python's dictionaries do it: Nova's by
    identity. An aggregate has ``name`` and ``metadata``.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self, flavor: Sequence[inputs.FlavorSpec], exempt: inputs.Exempt = ()
    ) -> None:
        self._is_exempt = inputs.exemption(exempt)
        self._flavor: dict[str, list[inputs.FlavorSpec]] = {}
        #: What is malformed in the flavor or could not be read, as sentences.
        self.problems: set[str] = set()
        for spec in flavor:
            self._flavor.setdefault(spec.key, []).append(spec)
            # Another namespace's value may be meant for somebody else.
            if spec.wanted.problem and not spec.optional:
                owner = 'the flavor'
                self.problems.add(problem(owner, spec.key, spec.wanted))
        #: The keys of malformed metadata.
        self.malformed: set[str] = set()
        #: The last failure to read a host or an aggregate.
        self.fault: Exception | None = None
        self._seen: set[Any] = set()
        #: By aggregate: the metadata that were judged, and the facts. Equal
        #: facts are one object, so that groups are found fast.
        self._metadata: dict[Any, dict[str, str]] = {}
        self._facts: dict[Any, Facts] = {}
        self._alike: dict[Facts, Facts] = {}
        #: By whether the flag is on: the facts of metadata items.
        self._items: tuple[dict[Any, Sequence[Fact]], ...] = ({}, {})

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: hosts with ``aggregates``. A host that cannot be read is
            refused.
        """
        passed: list[HostT] = []
        refused: dict[reason.Refusal, list[HostT]] = {}
        groups: dict[frozenset[Facts | None], list[HostT]] = {}
        known = self._facts.get
        for host in hosts:
            try:
                group = groups.get(frozenset(map(known, host.aggregates)))  # type: ignore[attr-defined]
            except Exception:
                group = None
            if group is None:
                # Something is new here, or cannot be read.
                stated = self._stated_about(host)
                if stated not in groups:
                    refusal = next(self._refusals(stated), None)
                    groups[stated] = (
                        passed
                        if refusal is None
                        else refused.setdefault(refusal, [])
                    )
                group = groups[stated]
            group.append(host)
        return passed, refused

    def reasons(self, aggregates: Sequence[Any]) -> Iterator[reason.Reason]:
        """Yield every reason to refuse a host in some aggregates.

        :returns: the flavor's check first, each check in the order of its
            keys.
        """
        for refusal in self._refusals([self.facts(a) for a in aggregates]):
            yield self.explain(refusal, aggregates)

    def explain(
        self, refusal: reason.Refusal, aggregates: Iterable[Any]
    ) -> reason.Reason:
        """Return a refusal with the values and aggregates behind it."""
        specs = self._flavor.get(refusal.key, ())
        own = [self.read(a) for a in aggregates if self.is_behind(refusal, a)]
        return reason.explain(refusal, specs, own)

    def is_behind(self, refusal: reason.Refusal, aggregate: Any) -> bool:
        """Tell whether an aggregate has a part in a refusal."""
        if refusal.kind is reason.Kind.UNREADABLE:
            return decision.UNREADABLE in self.facts(aggregate)
        own = self.read(aggregate)
        checked = refusal.side is reason.Side.FLAVOR
        return checked or own.has(refusal.key) and own.forced

    def read(self, aggregate: Any) -> inputs.Aggregate:
        """Return an aggregate, as it was judged if it was judged alone."""
        metadata = self._metadata.get(aggregate)
        try:
            metadata = metadata or dict(aggregate.metadata or {})
        except Exception:
            metadata = {}
        return inputs.Aggregate(name_of(aggregate), metadata)

    def facts(self, aggregate: Any) -> Facts:
        """Return the facts that one aggregate states."""
        facts = self._facts.get(aggregate)
        if facts is None:
            try:
                # Another thread may change the original at any time.
                metadata = dict(aggregate.metadata or {})
                self._metadata[aggregate] = metadata
                facts = self._facts_in(metadata)
                facts = self._alike.setdefault(facts, facts)
                self._facts[aggregate] = facts
            except Exception as exc:
                what = f'aggregate {quote(name_of(aggregate))}'
                facts = self._close(what, exc)
        return facts

    def _stated_about(self, host: Any) -> frozenset[Facts]:
        """Return what the aggregates of a host state."""
        try:
            aggregates = list(host.aggregates or ())
            new = [a for a in aggregates if a not in self._seen]
            self._seen.update(new)
            if len(new) <= _FEW:
                return frozenset(map(self.facts, aggregates))
            # Hosts may be in hundreds of aggregates of their own. Only those
            # that another host is in, too, are worth a look at each.
            others = {*aggregates}.difference(new)
            return frozenset(
                (self._facts_together(new), *map(self.facts, others))
            )
        except Exception as exc:
            return frozenset((self._close('the aggregates of a host', exc),))

    def _facts_together(self, aggregates: Iterable[Any]) -> Facts:
        """Return the facts that any of some aggregates states."""
        offered: dict[str, set[str]] = {name: set() for name in self._flavor}
        demanded: set[tuple[str, Any]] = set()
        for aggregate in aggregates:
            metadata = dict(aggregate.metadata or {})
            if inputs.is_forced(metadata):
                demanded.update(metadata.items())
                continue
            for name, values in offered.items():
                if name in metadata:
                    values.add(metadata[name])
        found: list[Fact] = []
        for name, values in offered.items():
            if values:
                # A comma separates alternatives.
                found += self._facts_of(name, ','.join(values), False)
        asked: dict[str, list[str]] = {}
        for name, value in demanded:
            if name in offered and requirement.is_plain(value):
                asked.setdefault(name, []).append(value)
            else:
                found += self._facts_of(name, value, True)
        for name, texts in asked.items():
            found += self._facts_of(name, ','.join(texts), True)
        return frozenset(found)

    def _facts_in(self, metadata: dict[str, str]) -> Facts:
        """Return the facts that metadata state."""
        forced = inputs.is_forced(metadata)
        known = self._items[forced]
        found: list[Fact] = []
        items: Iterable[tuple[str, object]] = metadata.items()
        if not forced:
            # The other keys concern nobody.
            items = [(k, metadata[k]) for k in self._flavor if k in metadata]
        for item in items:
            # What is no text may not be there to be looked up by.
            facts = known.get(item) if isinstance(item[1], str) else None
            if facts is None:
                facts = self._facts_of(*item, forced)
                if len(known) < _SHARED and isinstance(item[1], str):
                    known[item] = facts
            found += facts
        return frozenset(found)

    def _facts_of(
        self, name: str, value: object, forced: bool
    ) -> Sequence[Fact]:
        """Return the facts that one item of metadata states."""
        key = inputs.key_of(name, forced)
        if key is None or value is None:
            return ()
        specs = self._flavor.get(key, ())
        demanding = forced and not self._is_exempt(key)
        if not specs and (not demanding or requirement.is_plain(value)):
            # The flavor lacks the key, so the text makes no difference.
            return ((decision.DEMANDED, key, ''),) if demanding else ()
        texts, pieces = requirement.split(value, forced)
        if any(piece.problem for piece in pieces):
            self.malformed.add(key)
        return decision.facts_of(key, texts, pieces, specs, demanding)

    def _refusals(self, stated: Iterable[Facts]) -> Iterator[reason.Refusal]:
        """Yield everything that keeps the flavor off a host."""
        return decision.refusals(self._flavor, frozenset().union(*stated))

    def _close(self, what: str, exc: Exception) -> Facts:
        """Return the facts that close a host, and remember why."""
        cause = quote(f'{type(exc).__name__}: {exc}')
        self.problems.add(f'{what} could not be read: {cause}')
        self.fault = exc
        return frozenset((decision.UNREADABLE,))


def problem(owner: str, key: str, value: requirement.Requirement) -> str:
    """Return a sentence on a malformed value."""
    return f'{owner} has {quote(key)}: {value.problem}'


def name_of(aggregate: Any) -> str:
    """Return an aggregate's name; "?" if it cannot be read."""
    try:
        return str(aggregate.name)
    except Exception:
        return '?'
