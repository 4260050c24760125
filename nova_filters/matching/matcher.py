# SPDX-License-Identifier: Apache-2.0

"""Match the hosts of one request by the metadata of their aggregates.

Each aggregate is read once, and hosts whose aggregates say the same share one
answer. Nothing is kept between requests.
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

from nova_filters.matching import inputs, statements
from nova_filters.matching.mismatch import Cause, Mismatch, Side
from os_placement_plugins.text import quote

HostT = TypeVar('HostT')

#: The refused hosts by the first mismatch of each host.
Refused = dict[Mismatch, list[HostT]]
#: What demanding aggregates say about the keys that the flavor lacks: the
#: keys with a plain value, and the other keys with the bits of their value.
Demands = tuple[frozenset[str], frozenset[tuple[str, int]]]
#: What an aggregate says to a flavor. First, the bits of the module
#: ``statements`` for each extra spec of the flavor, all in one number, so that
#: one ``|`` joins two aggregates. Then its demands.
Statement = tuple[int, Demands | None]
#: What the aggregates of a host say together.
Joined = tuple[int, frozenset[Demands]]

#: What a plain value says about a key that the flavor lacks.
_PLAIN: Final = statements.CARRIED | statements.DEMANDED
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

    :param mismatches: those of ``Side.FLAVOR``.
    :param unmet: why the flavor does not meet the demands for its keys.
    """

    mismatches: list[Mismatch]
    unmet: dict[str, Cause]


class Matcher:
    """Match hosts with one flavor.

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
        is_exempt = inputs.compile_exemption(exempt)
        # What reads the extra specs of the flavor, by the aggregate's flag.
        self._readers = {}
        for each in ('', *inputs.FLAGS):
            demanding = each == flag
            self._readers[each] = _list_readers(
                flavor, bool(each), demanding, is_exempt
            )
        self._lacking_keys = _Answers(
            functools.partial(_find_lacking, self._indices, is_exempt)
        )
        self._lacking_bits = _Answers(
            functools.partial(
                statements.read, None, flagged=True, demanded=True
            )
        )
        self._checks = _Answers(functools.partial(_check_flavor, flavor))
        self._unmet_demands = _Answers(_unmet_demand)
        self._statements: dict[Any, Statement] = {}

    def match_hosts(
        self, hosts: Iterable[HostT]
    ) -> tuple[list[HostT], Refused[HostT]]:
        """Return the hosts that pass, and the refused hosts by mismatch.

        :param hosts: objects with the attribute ``aggregates``. A host is
            refused if its aggregates cannot be read.
        :returns: the hosts that pass, in their old order, and the others.
        """
        passed: list[HostT] = []
        refused: Refused[HostT] = {}
        groups: dict[Joined, list[HostT]] = {}
        for host in hosts:
            try:
                joined = self._join_statements(host.aggregates or ())  # type: ignore[attr-defined]
            except Exception as exc:
                refused.setdefault(_unreadable_mismatch(exc), []).append(host)
                continue
            group = groups.get(joined)
            if group is None:
                mismatch = self._find_first(joined)
                group = passed
                if mismatch is not None:
                    group = refused.setdefault(mismatch, [])
                groups[joined] = group
            group.append(host)
        return passed, refused

    def list_mismatches(self, aggregates: Iterable[Any]) -> list[Mismatch]:
        """Return every mismatch with a host that is in these aggregates.

        :returns: the mismatches, without the values that :meth:`explain` adds.
            First come those of ``Side.FLAVOR``, then those of
            ``Side.AGGREGATE``. Each part is sorted by key.
        """
        try:
            joined = self._join_statements(aggregates)
        except Exception as exc:
            return [_unreadable_mismatch(exc)]
        bits, _ = joined
        mismatches = dict.fromkeys(self._checks[bits].mismatches)
        for unmet in sorted(self._find_unmet(joined).items()):
            mismatches[self._unmet_demands[unmet]] = None
        return [*mismatches]

    def explain_mismatches(
        self, aggregates: Collection[Any]
    ) -> Iterator[Mismatch]:
        """Yield each of :meth:`list_mismatches`, with its values."""
        for mismatch in self.list_mismatches(aggregates):
            yield self.explain(mismatch, aggregates)

    def explain(
        self, mismatch: Mismatch, aggregates: Iterable[Any]
    ) -> Mismatch:
        """Return a mismatch with its values and its aggregates."""
        names = []
        texts = []
        problem = ''
        for aggregate in aggregates:
            if not self.is_behind(mismatch, aggregate):
                continue
            readable = inputs.read_aggregate(aggregate)
            if mismatch.cause is Cause.UNREADABLE:
                names.append(readable.name)
                continue
            for piece in readable.pieces(mismatch.key):
                if mismatch.side is Side.FLAVOR and piece.absence_only:
                    continue
                names.append(readable.name)
                texts.append(piece.text)
                problem = problem or piece.problem
        mismatch = mismatch._replace(aggregate=tuple(names))
        if mismatch.cause is Cause.UNREADABLE:
            return mismatch
        if mismatch.side is Side.FLAVOR:
            return mismatch._replace(stated_values=tuple(texts))
        flavor_texts = [
            spec.requirement.text
            for spec in self.flavor
            if spec.key == mismatch.key
        ]
        return mismatch._replace(
            accepted_values=tuple(texts),
            problem=problem,
            stated_values=tuple(flavor_texts),
        )

    def is_behind(self, mismatch: Mismatch, aggregate: Any) -> bool:
        """Tell whether an aggregate may be a cause of a mismatch."""
        if mismatch.side is Side.FLAVOR:
            return True
        key = mismatch.key
        try:
            statement = self._statements.get(aggregate)
            if statement is None:
                statement = self._read_statement(aggregate)
        except Exception:
            return mismatch.cause is Cause.UNREADABLE
        bits, demands = statement
        for index in self._indices.get(key, ()):
            if _select_bits(bits, index) & statements.DEMAND:
                return True
        if demands is None:
            return False
        plain_keys, other_demands = demands
        return key in plain_keys or key in dict(other_demands)

    def met_specs(self, aggregates: Iterable[Any]) -> list[int]:
        """Return the indices of the extra specs that some aggregates meet.

        :raises Exception: if an aggregate cannot be read.
        """
        joined, _ = self._join_statements(aggregates)
        return [
            index
            for index, spec in enumerate(self.flavor)
            if statements.check_flavor(spec, _select_bits(joined, index))
            is None
        ]

    def count_unmet_demands(self, aggregates: Iterable[Any]) -> int:
        """Return how many keys some aggregates demand in vain.

        :raises Exception: if an aggregate cannot be read.
        """
        return len(self._find_unmet(self._join_statements(aggregates)))

    def _join_statements(self, aggregates: Iterable[Any]) -> Joined:
        """Return what some aggregates say together.

        :raises Exception: if an aggregate cannot be read.
        """
        joined_bits = 0
        joined_demands = []
        for aggregate in aggregates:
            statement = self._statements.get(aggregate)
            if statement is None:
                statement = self._read_statement(aggregate)
            bits, demands = statement
            joined_bits |= bits
            if demands is not None:
                joined_demands.append(demands)
        return joined_bits, frozenset(joined_demands)

    def _read_statement(self, aggregate: Any) -> Statement:
        """Return what an aggregate says, and remember it.

        :raises Exception: if the aggregate cannot be read.
        """
        metadata = aggregate.metadata or {}
        flag = inputs.read_flag(metadata)
        bits = 0
        for name, bits_of_values, shift in self._readers[flag]:
            value = metadata.get(name)
            if value is not None:
                bits |= bits_of_values[value] << shift
        demands = None
        if flag == self._flag:
            demands = self._read_demands(metadata)
        statement = bits, demands
        self._statements[aggregate] = statement
        return statement

    def _read_demands(self, metadata: Mapping[str, str]) -> Demands | None:
        """Return what a demanding aggregate demands that the flavor lacks."""
        plain_keys = []
        other_demands = []
        lacking_keys = self._lacking_keys
        lacking_bits = self._lacking_bits
        # Copy the pairs: another thread may change the metadata.
        for name, value in [*metadata.items()]:
            key = lacking_keys[name]
            # In Nova's API, None removes a key.
            if key is None or value is None:
                continue
            bits = lacking_bits[value]
            if bits == _PLAIN:
                plain_keys.append(key)
            else:
                other_demands.append((key, bits))
        if plain_keys or other_demands:
            return frozenset(plain_keys), frozenset(other_demands)
        return None

    def _find_first(self, joined: Joined) -> Mismatch | None:
        """Return the first mismatch with a host; None if it passes."""
        bits, _ = joined
        check: _Check = self._checks[bits]
        if check.mismatches:
            return check.mismatches[0]
        unmet = self._find_unmet(joined)
        if not unmet:
            return None
        key = min(unmet)
        mismatch: Mismatch = self._unmet_demands[key, unmet[key]]
        return mismatch

    def _find_unmet(self, joined: Joined) -> dict[str, Cause]:
        """Return the demanded keys that the flavor does not meet."""
        bits, demands = joined
        unmet = dict.fromkeys(
            frozenset().union(*[plain_keys for plain_keys, _ in demands]),
            Cause.MISSING,
        )
        unmet.update(self._checks[bits].unmet)
        # Values of the same key may say different things.
        joined_others: dict[str, int] = {}
        for _, other_demands in demands:
            for key, demand in other_demands:
                joined_others[key] = joined_others.get(key, 0) | demand
        for key, demand in joined_others.items():
            if unmet.pop(key, None):
                demand |= _PLAIN
            cause = statements.check_demand(None, demand)
            if cause is not None:
                unmet[key] = cause
        return unmet


def _check_flavor(flavor: Sequence[inputs.FlavorSpec], joined: int) -> _Check:
    """Check the extra specs of a flavor.

    :param joined: what the aggregates of a host say about them.
    """
    mismatches = []
    unmet = {}
    for index, spec in enumerate(flavor):
        bits = _select_bits(joined, index)
        cause = statements.check_flavor(spec, bits)
        if cause is not None:
            mismatches.append(
                Mismatch(
                    Side.FLAVOR,
                    cause,
                    spec.key,
                    accepted_values=(spec.requirement.text,),
                    problem=spec.requirement.problem,
                )
            )
        cause = statements.check_demand(spec.requirement, bits)
        if cause is not None:
            unmet[spec.key] = cause
    return _Check(mismatches, unmet)


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
            statements.read,
            spec.requirement,
            flagged=flagged,
            demanded=demanding and not is_exempt(spec.key),
        )
        answers = _Answers(read)
        for name in inputs.list_names(spec.key, flagged):
            readers.append((name, answers, index * _WIDTH))
    return readers


def _find_lacking(
    flavor_keys: Container[str], is_exempt: Callable[[str], object], name: str
) -> str | None:
    """Return the key that an aggregate demands and the flavor lacks.

    :param name: the key, as the metadata have it.
    :returns: None if the flavor has the key, or if no aggregate demands it.
    """
    key = name.removeprefix(inputs.SCOPE)
    if key in inputs.FLAGS or key in flavor_keys or is_exempt(key):
        return None
    return key


def _unmet_demand(unmet: tuple[str, Cause]) -> Mismatch:
    """Return the mismatch with the demand for a key."""
    key, cause = unmet
    return Mismatch(Side.AGGREGATE, cause, key)


def _select_bits(joined: int, index: int) -> int:
    return joined >> index * _WIDTH & _MASK


def _unreadable_mismatch(exc: Exception) -> Mismatch:
    problem = quote(f'{type(exc).__name__}: {exc}')
    return Mismatch(Side.AGGREGATE, Cause.UNREADABLE, problem=problem)
