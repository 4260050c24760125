# SPDX-License-Identifier: Apache-2.0

"""Judge all hosts of one boot request, each distinct aggregate once.

The facts that an aggregate states are kept as the bits of one whole number,
so that the facts about a host are one "or" per aggregate. Only facts that
concern the flavor count. Distinct numbers are therefore few, and each is
decided once. Nothing is kept between requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching import decision, inputs, reason, requirement
from nova_filters.matching.inputs import FLAG
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: How many bits the facts about one extra spec or one key take.
_WIDTH: Final = len(decision.Fact)
_MASK: Final = (1 << _WIDTH) - 1
#: All bits at once, whatever else is added: an aggregate that could not be
#: read closes its hosts.
_CLOSED: Final = -1


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
        self, flavor: Sequence[inputs.FlavorSpec], exempt: tuple[str, ...] = ()
    ) -> None:
        self._flavor = flavor
        self._exempt = exempt
        self._specs: dict[str, list[tuple[int, inputs.FlavorSpec]]] = {}
        #: The lowest bit of each subject that facts are about.
        self._shifts: dict[int | str, int] = {}
        #: By whether the flag is on: the facts of metadata items. Aggregates
        #: often have the same items.
        self._items: dict[bool, dict[tuple[str, object], int]]
        self._items = {False: {}, True: {}}
        #: By aggregate: its facts, and the metadata that were read.
        self._facts: dict[Any, int] = {}
        self._metadata: dict[Any, dict[str, str]] = {}
        self._problems: set[str] = set()
        #: The last failure to read a host or an aggregate.
        self.fault: Exception | None = None
        for position, spec in enumerate(flavor):
            self._specs.setdefault(spec.key, []).append((position, spec))
            # Another namespace's value may be meant for somebody else.
            if not spec.optional:
                self._add_problem('the flavor', spec.key, spec.wanted)

    @property
    def problems(self) -> list[str]:
        """Return what is malformed, one sentence each, sorted."""
        return sorted(self._problems)

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: hosts with ``aggregates``. A host that cannot be read is
            refused.
        """
        passed: list[HostT] = []
        refused: dict[reason.Refusal, list[HostT]] = {}
        groups: dict[int, list[HostT]] = {}
        known = self._facts
        for host in hosts:
            try:
                facts = 0
                for aggregate in host.aggregates:  # type: ignore[attr-defined]
                    facts |= known[aggregate]
                groups[facts].append(host)
            except Exception:
                # Something is new here, or cannot be read.
                facts = self._facts_about(host)
                if facts not in groups:
                    refusal = next(self._refusals(facts), None)
                    groups[facts] = (
                        passed
                        if refusal is None
                        else refused.setdefault(refusal, [])
                    )
                groups[facts].append(host)
        return passed, refused

    def reasons(self, aggregates: Sequence[Any]) -> Iterator[reason.Reason]:
        """Yield every reason to refuse a host.

        :param aggregates: the host's aggregates, if it has any.
        :returns: the flavor's check first, each check in the order of its
            keys.
        """
        for refusal in self._refusals(self._union(aggregates)):
            yield self.explain(refusal, aggregates)

    def explain(
        self, refusal: reason.Refusal, aggregates: Sequence[Any]
    ) -> reason.Reason:
        """Return a refusal with the values and aggregates behind it.

        :param refusal: why a host is refused.
        :param aggregates: the host's aggregates.
        """
        # The host may be in other aggregates by now.
        self._union(aggregates)
        read = (
            inputs.Aggregate(name_of(aggregate), self._metadata[aggregate])
            for aggregate in aggregates
            if aggregate in self._metadata
        )
        return reason.explain(refusal, self._flavor, read)

    def _facts_about(self, host: Any) -> int:
        """Return the facts about a host, whatever its state."""
        try:
            return self._union(host.aggregates or ())
        except Exception as exc:
            return self._close('the aggregates of a host', exc)

    def _union(self, aggregates: Iterable[Any]) -> int:
        """Return the facts that any of some aggregates states."""
        facts = 0
        for aggregate in aggregates:
            try:
                own = self._facts.get(aggregate)
                if own is None:
                    own = self._facts[aggregate] = self._read(aggregate)
                facts |= own
            except Exception as exc:
                facts = self._close('an aggregate', exc)
        return facts

    def _read(self, aggregate: Any) -> int:
        """Return the facts that one aggregate states."""
        # Another thread may change the original at any time.
        metadata = dict(aggregate.metadata or {})
        self._metadata[aggregate] = metadata
        forced = FLAG in metadata and requirement.is_on(metadata[FLAG])
        known = self._items[forced]
        facts = 0
        # The other keys of an aggregate that is not forced concern nobody.
        for name in metadata if forced else self._specs:
            if name in metadata:
                item = name, metadata[name]
                try:
                    facts |= known[item]
                except (KeyError, TypeError):
                    facts |= self._read_item(*item, forced, aggregate)
        return facts

    def _read_item(
        self, name: str, value: object, forced: bool, aggregate: Any
    ) -> int:
        """Return the facts that one item of metadata states."""
        key = inputs.key_of(name, forced)
        if key is None:
            return 0
        pieces = requirement.parse_metadata(value, forced)
        specs = self._specs.get(key, ())
        found = decision.facts_of(
            key,
            pieces,
            specs,
            forced and not inputs.is_exempt(key, self._exempt),
        )
        for position, spec in specs:
            if decision.Fact.CARRIED in found[position]:
                self._add_problem('the flavor', key, spec.wanted)
        facts = 0
        for subject, fact in found.items():
            shift = self._shifts.setdefault(
                subject, _WIDTH * len(self._shifts)
            )
            facts |= fact << shift
        if any(piece.problem for piece in pieces):
            # Each aggregate with such an item is named.
            owner = f'aggregate {quote(name_of(aggregate))}'
            for piece in pieces:
                self._add_problem(owner, key, piece)
        else:
            self._items[forced][name, value] = facts
        return facts

    def _refusals(self, facts: int) -> Iterator[reason.Refusal]:
        """Yield everything that keeps the flavor off a host."""
        if facts == _CLOSED:
            unreadable = reason.Kind.UNREADABLE
            return iter((reason.Refusal(reason.Side.AGGREGATE, unreadable),))
        found = {
            subject: decision.Fact(facts >> shift & _MASK)
            for subject, shift in self._shifts.items()
            if facts >> shift & _MASK
        }
        return decision.refusals(self._flavor, found)

    def _add_problem(
        self, owner: str, key: str, value: requirement.Requirement
    ) -> None:
        """Remember that a value is malformed, if it is."""
        if value.problem:
            text = f'{owner} has {quote(key)}: {value.problem}'
            self._problems.add(text)

    def _close(self, what: str, exc: Exception) -> int:
        """Return the facts that close a host, and remember why."""
        cause = quote(f'{type(exc).__name__}: {exc}')
        self._problems.add(f'{what} could not be read: {cause}')
        self.fault = exc
        return _CLOSED


def name_of(aggregate: Any) -> str:
    """Return an aggregate's name; "?" if it cannot be read."""
    try:
        return str(aggregate.name)
    except Exception:
        return '?'
