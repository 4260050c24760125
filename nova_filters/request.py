# SPDX-License-Identifier: Apache-2.0

"""Judge the hosts of one boot request, each distinct aggregate once.

Pure. The decision is :mod:`nova_filters.decision`. Each fact gets a bit when
it is first seen, so what a host's aggregates say together is one whole
number. Only facts that concern the flavor count, so distinct numbers are few,
and each is decided once. Nothing is kept between requests.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from nova_filters import decision, matching, requirement
from nova_filters.matching import Aggregate, FlavorSpec, Kind, Reason, Side

HostT = TypeVar('HostT')


@dataclasses.dataclass(frozen=True, slots=True)
class Sifted(Generic[HostT]):
    """What became of the hosts of one request.

    :param passed: the hosts that pass, in the order they came.
    :param refused: the other hosts, by the first question that they fail.
    """

    passed: list[HostT]
    refused: dict[decision.Refusal, list[HostT]]


class Request:
    """One flavor, and all that one request learns about aggregates.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self, flavor: Sequence[FlavorSpec], exempt: tuple[str, ...] = ()
    ) -> None:
        self._flavor = flavor
        self._exempt = exempt
        self._specs: dict[str, list[tuple[int, FlavorSpec]]] = {}
        for position, spec in enumerate(flavor):
            self._specs.setdefault(spec.key, []).append((position, spec))
        self._bits: dict[decision.Fact, int] = {}
        self._facts: dict[int, decision.Fact] = {}
        #: Items of metadata that were read already: aggregates repeat them.
        self._items: dict[bool, dict[tuple[str, object], int]] = {
            False: {},
            True: {},
        }
        #: By the id of each aggregate: what it says; and the aggregate, which
        #: must live as long as its id is used, with a copy of its metadata.
        self._said: dict[int, int] = {}
        self._read: dict[int, tuple[Any, dict[str, str]]] = {}
        self._problems: set[str] = set()
        for spec in flavor:
            # Another namespace's value may be meant for somebody else.
            if not spec.optional:
                self._tell(spec)

    @property
    def problems(self) -> list[str]:
        """Return what is malformed, one sentence each, sorted."""
        return sorted(self._problems)

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: hosts with ``aggregates``, each of which has ``name``
            and ``metadata``. What cannot be read closes its host.
        :returns: those that pass, and the others by the question they fail.
        """
        passed: list[HostT] = []
        refused: dict[decision.Refusal, list[HostT]] = {}
        groups: dict[int, list[HostT]] = {}
        said = self._said
        for host in hosts:
            try:
                union = 0
                for aggregate in host.aggregates:  # type: ignore[attr-defined]
                    union |= said[id(aggregate)]
            except Exception:
                # No aggregates, new ones, or some that cannot be read.
                union = self._union(host)
            group = groups.get(union)
            if group is None:
                refusal = next(self._refusals(union), None)
                if refusal is None:
                    group = passed
                else:
                    group = refused.setdefault(refusal, [])
                groups[union] = group
            group.append(host)
        return Sifted(passed, refused)

    def reasons(self, aggregates: Iterable[Any]) -> Iterator[Reason]:
        """Give every reason why a host in these aggregates is refused.

        :param aggregates: the host's aggregates; none is allowed.
        :returns: the flavor's check first, each check in the order of its
            keys; each reason is looked for when it is asked for.
        """
        aggregates = list(aggregates)
        union = 0
        for aggregate in aggregates:
            union |= self._said_by(aggregate)
        for refusal in self._refusals(union):
            yield self.describe(refusal, aggregates)

    def describe(
        self, refusal: decision.Refusal, aggregates: Iterable[Any]
    ) -> Reason:
        """Return a refusal with the values and aggregates that it is about.

        :param refusal: which question the host fails.
        :param aggregates: the host's aggregates.
        """
        side, kind, key, position = refusal
        if kind is Kind.UNREADABLE:
            return Reason(side, kind, key)
        offers = [
            (known.name, piece)
            for known in self.read(aggregates)
            if known.forced or side is Side.FLAVOR
            for piece in known.pieces(key)
        ]
        if side is Side.FLAVOR:
            wanted = self._flavor[position].wanted
            carried = [(n, p) for n, p in offers if not p.absence_only]
            return Reason(
                side,
                kind,
                key,
                wanted=(wanted.text,),
                found=tuple(piece.text for _, piece in carried),
                aggregate=tuple(name for name, _ in carried),
                problem=wanted.problem,
            )
        return Reason(
            side,
            kind,
            key,
            wanted=tuple(piece.text for _, piece in offers),
            found=tuple(
                spec.wanted.text for _, spec in self._specs.get(key, ())
            ),
            aggregate=tuple(name for name, _ in offers),
            problem=next((p.problem for _, p in offers if p.problem), ''),
        )

    def read(self, aggregates: Iterable[Any]) -> list[Aggregate]:
        """Return aggregates as this request has read them.

        :param aggregates: a host's aggregates.
        """
        found = []
        for aggregate in aggregates:
            self._said_by(aggregate)
            metadata = self._read[id(aggregate)][1]
            found.append(Aggregate(name_of(aggregate), metadata))
        return found

    def _union(self, host: Any) -> int:
        """Return what all aggregates of a host say, whatever its state."""
        union = 0
        try:
            for aggregate in host.aggregates or ():
                union |= self._said_by(aggregate)
        except Exception as exc:
            return self._close('the aggregates of a host', exc)
        return union

    def _said_by(self, aggregate: Any) -> int:
        """Return what one aggregate says; read it unless it was read."""
        identity = id(aggregate)
        said = self._said.get(identity)
        if said is None:
            metadata: dict[str, str] = {}
            try:
                # Another thread may change the original at any time.
                metadata = dict(aggregate.metadata or {})
                said = self._facts_of(aggregate, metadata)
            except Exception as exc:
                said = self._close('an aggregate', exc)
            self._read[identity] = aggregate, metadata
            self._said[identity] = said
        return said

    def _facts_of(self, aggregate: Any, metadata: dict[str, str]) -> int:
        """Return the facts of an aggregate with these metadata."""
        flag = metadata.get(matching.FLAG)
        forced = flag is not None and requirement.is_on(flag)
        items = self._items[forced]
        union = 0
        # Whatever else an aggregate holds whose flag is off concerns nobody.
        for name in metadata if forced else self._specs:
            if name not in metadata:
                continue
            item = (name, metadata[name])
            try:
                union |= items[item]
            except (KeyError, TypeError):
                facts, problems = self._facts_of_item(*item, forced)
                union |= facts
                if problems:
                    owner = requirement.quote(name_of(aggregate))
                    self._problems.update(
                        _problem(f'aggregate {owner}', *problem)
                        for problem in problems
                    )
                elif isinstance(item[1], str):
                    items[item] = facts
        return union

    def _facts_of_item(
        self, name: str, value: object, forced: bool
    ) -> tuple[int, list[tuple[str, str]]]:
        """Return the facts of one item of metadata, and what is malformed."""
        key = matching.demanded_key(name) if forced else name
        if key is None:
            return 0, []
        pieces = requirement.parse_metadata(value, forced)
        facts = decision.facts_of(
            key,
            pieces,
            self._specs.get(key, ()),
            forced and not matching.is_exempt(key, self._exempt),
        )
        problems = [(key, piece.problem) for piece in pieces if piece.problem]
        return sum(map(self._bit, facts)), problems

    def _bit(self, fact: decision.Fact) -> int:
        """Return the bit of a fact."""
        bit = self._bits.get(fact)
        if bit is None:
            bit = self._bits[fact] = 1 << len(self._bits)
            self._facts[bit] = fact
        return bit

    def _refusals(self, union: int) -> Iterator[decision.Refusal]:
        """Yield every question that a host fails, by what is said of it."""
        facts = []
        while union:
            bit = union & -union
            union ^= bit
            facts.append(self._facts[bit])
        for said, position in facts:
            if said is decision.Said.CARRIES:
                self._tell(self._flavor[int(position)])
        return decision.refusals(self._flavor, facts)

    def _tell(self, spec: FlavorSpec) -> None:
        """Remember that an extra spec is malformed, if it is."""
        if spec.wanted.problem:
            self._problems.add(
                _problem('the flavor', spec.key, spec.wanted.problem)
            )

    def _close(self, what: str, exc: Exception) -> int:
        """Return the fact that closes a host, and remember why."""
        # Objects of the service may fail to be read in ways that only its
        # future versions know.
        cause = requirement.quote(f'{type(exc).__name__}: {exc}')
        self._problems.add(f'{what} could not be read: {cause}')
        return self._bit(decision.UNREADABLE)


def name_of(aggregate: Any) -> str:
    """Return an aggregate's name; "?" if it cannot be read."""
    try:
        return str(aggregate.name)
    except Exception:
        return '?'


def _problem(owner: str, key: str, problem: str) -> str:
    """Return the sentence that says what is malformed."""
    return f'{owner} has {requirement.quote(key)}: {problem}'


def reasons(
    flavor: Sequence[FlavorSpec],
    aggregates: Sequence[Aggregate],
    exempt: tuple[str, ...] = (),
) -> Iterator[Reason]:
    """Give every reason why a host in these aggregates is refused.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param aggregates: the host's aggregates; none is allowed.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: see :meth:`Request.reasons`.
    """
    return Request(flavor, exempt).reasons(aggregates)
