# SPDX-License-Identifier: Apache-2.0

"""Judge the hosts of one request by the metadata of their aggregates.

Each aggregate is read once, and hosts whose aggregates say the same share one
decision. Nothing is kept between requests.
"""

import functools
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Final, NamedTuple, TypeVar

from nova_filters.matching import decision, inputs
from nova_filters.matching.reason import Kind, Reason, Side
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: The refused hosts by the first reason to refuse each host.
Refused = dict[Reason, list[HostT]]
#: Demanded keys that the flavor lacks, each with the bits of a value.
Demands = frozenset[tuple[str, int]]
#: What an aggregate says to a flavor. First, the bits of the module
#: ``decision`` for each extra spec of the flavor; all of them are one number,
#: so that one ``|`` joins two aggregates. Then its demands.
Statement = tuple[int, Demands]
#: What the aggregates of a host say together.
Joined = tuple[int, frozenset[Demands]]

#: What an aggregate says that has nothing to do with the flavor.
_NO_DEMANDS: Final[Demands] = frozenset()
_NOTHING: Final[Statement] = (0, _NO_DEMANDS)
#: How many bits of a statement belong to one extra spec.
_WIDTH: Final = 8
_MASK: Final = (1 << _WIDTH) - 1


class _Answers(dict[Any, Any]):
    """The answers of a function. Each question is asked only once."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, question: Any) -> Any:
        answer = self[question] = self._function(question)
        return answer


class _Check(NamedTuple):
    """What comes of both checks for the extra specs of a flavor.

    :param refusals: the reasons of ``Side.FLAVOR``.
    :param unmet: the keys whose demand the flavor does not meet: why not, and
        the bits.
    """

    refusals: list[Reason]
    unmet: dict[str, tuple[Kind, int]]


class Judge:
    """Judge hosts for one flavor.

    An aggregate needs the attributes ``name`` and ``metadata``. Aggregates are
    keys of a dictionary, so Nova's aggregates are compared by identity.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    :param flag: the flag with which an aggregate demands its keys.
    """

    def __init__(
        self,
        flavor: Sequence[inputs.FlavorSpec],
        exempt: inputs.Exempt = (),
        flag: str = inputs.FLAG,
    ) -> None:
        self.flavor = flavor
        self._flag = flag
        self._indices: dict[str, list[int]] = {}
        for index, spec in enumerate(flavor):
            self._indices.setdefault(spec.key, []).append(index)
        is_exempt = inputs.exemption(exempt)
        # What reads the extra specs of the flavor, by the aggregate's flag.
        self._readers = {}
        for each in ('', *inputs.FLAGS):
            demanding = each == flag
            self._readers[each] = _list_readers(
                flavor, bool(each), demanding, is_exempt
            )
        self._demands = _Answers(
            functools.partial(_read_demand, {*self._indices}, is_exempt)
        )
        self._checks = _Answers(functools.partial(_check, flavor))
        self._statements: dict[Any, Statement] = {}
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
            for piece in readable.pieces(refusal.key):
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
            bits, _ = self._join((aggregate,))
        except Exception:
            return refusal.kind is Kind.UNREADABLE
        for index in self._indices.get(refusal.key, ()):
            if _bits(bits, index) & decision.DEMAND:
                return True
        _, demands = self._statements[aggregate]
        return any(key == refusal.key for key, _ in demands)

    def met_specs(self, aggregates: Iterable[Any]) -> list[int]:
        """Return the indices of the extra specs that some aggregates meet.

        :raises Exception: if an aggregate cannot be read.
        """
        joined, _ = self._join(aggregates)
        return [
            index
            for index, spec in enumerate(self.flavor)
            if decision.check_flavor(spec, _bits(joined, index)) is None
        ]

    def count_unmet_demands(self, aggregates: Iterable[Any]) -> int:
        """Return how many keys some aggregates demand in vain.

        :raises Exception: if an aggregate cannot be read.
        """
        joined = self._join(aggregates)
        count = self._unmet_counts.get(joined)
        if count is None:
            count = sum(1 for _ in self._find_unmet(*joined))
            self._unmet_counts[joined] = count
        return count

    def _join(self, aggregates: Iterable[Any]) -> Joined:
        """Return what some aggregates say together.

        :raises Exception: if an aggregate cannot be read.
        """
        joined_bits = 0
        joined_demands = []
        for aggregate in aggregates:
            statement = self._statements.get(aggregate)
            if statement is None:
                statement = self._read(aggregate.metadata or {})
                self._statements[aggregate] = statement
            bits, demands = statement
            joined_bits |= bits
            if demands:
                joined_demands.append(demands)
        return joined_bits, frozenset(joined_demands)

    def _read(self, metadata: Mapping[str, str]) -> Statement:
        """Return what the metadata of an aggregate say."""
        flag = inputs.read_flag(metadata)
        joined_bits = 0
        for name, answers, shift in self._readers[flag]:
            value = metadata.get(name)
            if value is not None:
                joined_bits |= answers[value] << shift
        if flag == self._flag:
            # Copy the pairs: another thread may change the metadata.
            pairs = [*metadata.items()]
            demands = {self._demands[pair] for pair in pairs}
            demands.discard(None)
            return joined_bits, frozenset(demands)
        if joined_bits:
            return joined_bits, _NO_DEMANDS
        return _NOTHING

    def _refuse(
        self, joined: int, demands: Iterable[Demands]
    ) -> Iterator[Reason]:
        """Yield every reason to refuse a host, as :meth:`refusals` does."""
        yield from self._checks[joined].refusals
        for key, kind, bits in self._find_unmet(joined, demands):
            malformed = bool(bits & decision.MALFORMED)
            yield Reason(Side.AGGREGATE, kind, key, malformed=malformed)

    def _find_unmet(
        self, joined: int, demands: Iterable[Demands]
    ) -> Iterator[tuple[str, Kind, int]]:
        """Yield the demanded keys that the flavor does not meet, sorted.

        :returns: each key, why the flavor does not meet it, and its bits.
        """
        pairs = _NO_DEMANDS.union(*demands)
        lacking = dict(pairs)
        if len(lacking) < len(pairs):
            # Values of the same key say different things.
            for key, bits in pairs:
                lacking[key] |= bits
        unmet = self._checks[joined].unmet
        for key in sorted([*lacking, *unmet]):
            if key in unmet:
                kind, bits = unmet[key]
                yield key, kind, bits
                continue
            bits = lacking[key]
            refusal = decision.check_demand(None, bits)
            if refusal is not None:
                yield key, refusal, bits


def _check(flavor: Sequence[inputs.FlavorSpec], joined: int) -> _Check:
    """Check the extra specs of a flavor.

    :param joined: what the aggregates of a host say about them.
    """
    refusals = []
    unmet = {}
    for index, spec in enumerate(flavor):
        bits = _bits(joined, index)
        kind = decision.check_flavor(spec, bits)
        if kind is not None:
            refusals.append(
                Reason(
                    Side.FLAVOR,
                    kind,
                    spec.key,
                    accepted_values=(spec.requirement.text,),
                    problem=spec.requirement.problem,
                    malformed=bool(bits & decision.MALFORMED),
                )
            )
        kind = decision.check_demand(spec.requirement, bits)
        if kind is not None:
            unmet[spec.key] = kind, bits
    return _Check(refusals, unmet)


def _list_readers(
    flavor: Sequence[inputs.FlavorSpec],
    flagged: bool,
    demanding: bool,
    is_exempt: Callable[[str], object],
) -> list[tuple[str, _Answers, int]]:
    """Return what reads the extra specs of a flavor in some aggregates.

    :param flagged: whether a flag counts in the aggregates.
    :param demanding: whether the aggregates demand their keys.
    :returns: for each name of a key in metadata, the bits for each value, and
        where these bits belong in a statement.
    """
    readers = []
    for index, spec in enumerate(flavor):
        read = functools.partial(
            decision.read,
            spec.requirement,
            flagged=flagged,
            demanded=demanding and not is_exempt(spec.key),
        )
        answers = _Answers(read)
        for name in inputs.list_names(spec.key, flagged):
            readers.append((name, answers, index * _WIDTH))
    return readers


def _read_demand(
    flavor_keys: Container[str],
    is_exempt: Callable[[str], object],
    pair: tuple[str, str],
) -> tuple[str, int] | None:
    """Return what a demanding aggregate demands that the flavor lacks.

    :param pair: a key and its value, as the metadata have them.
    :returns: the key, and the bits of the value; None if the flavor has the
        key, or if no aggregate demands it.
    """
    for key, value in inputs.read_items(dict([pair]), flagged=True):
        if key not in flavor_keys and not is_exempt(key):
            return key, decision.read(None, value, flagged=True, demanded=True)
    return None


def _bits(joined: int, index: int) -> int:
    return joined >> index * _WIDTH & _MASK


def _unreadable(exc: Exception) -> Reason:
    problem = quote(f'{type(exc).__name__}: {exc}')
    return Reason(Side.AGGREGATE, Kind.UNREADABLE, problem=problem)
