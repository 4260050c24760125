# SPDX-License-Identifier: Apache-2.0

"""Match the hosts of one request by the metadata of their aggregates.

Each aggregate is read once. Nothing is kept between requests.
"""

import functools
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from typing import Any, Final, NamedTuple, TypeVar

from nova_filters.matching import inputs, statements
from nova_filters.matching.mismatch import Cause, Mismatch, Side
from nova_filters.matching.requirement import FORBIDDEN, OMITTABLE
from nova_filters.matching.statements import Demands
from os_placement_plugins.text import quote

HostT = TypeVar('HostT')

#: The sentinels "~" and "!" in demands, each with its key.
Sentinels = Collection[tuple[str, str]]
#: What an aggregate says to a flavor: what it offers to the extra specs, the
#: keys that it demands, and the sentinels in its demands. The offers are bits
#: in one number, so that one ``|`` joins those of two aggregates.
Statement = tuple[int, Set[str], Sentinels]

_NO_KEYS: Final[frozenset[str]] = frozenset()
_NO_DEMANDS: Final = Demands(_NO_KEYS, _NO_KEYS, _NO_KEYS)
#: How many bits belong to one extra spec.
_WIDTH: Final = 4
_MASK: Final = (1 << _WIDTH) - 1


class _Answers(dict[Any, Any]):
    """The answers of a function. Each question is asked only once."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, question: Any) -> Any:
        answer = self[question] = self._function(question)
        return answer


#: What an extra spec makes of values, and where its bits belong.
Reader = tuple[_Answers, int]


class _Check(NamedTuple):
    """What the offers of a host's aggregates mean for a flavor.

    :param mismatches: those of ``Side.FLAVOR``, by the number of the extra
        spec.
    :param accepted: the keys of the flavor for which the demanding aggregates
        accept each of its extra specs.
    """

    mismatches: dict[int, Mismatch]
    accepted: Set[str]


class Matcher:
    """Match hosts with one flavor.

    An aggregate needs the attributes ``name`` and ``metadata``. Aggregates are
    keys of a dictionary, so Nova's aggregates are compared by identity.

    :param flavor: the result of
        :func:`nova_filters.matching.inputs.read_flavor`.
    :param exempt: patterns of keys that no aggregate may demand.
    :param flag: the flag with which an aggregate demands its keys. Only there
        do sentinels and operators have a meaning.
    """

    def __init__(
        self,
        flavor: Sequence[inputs.FlavorSpec],
        exempt: inputs.Exempt = (),
        flag: str = inputs.FLAG,
    ) -> None:
        self.flavor = flavor
        self._flag = flag
        self._flavor_keys = statements.FlavorKeys(
            keys={spec.key for spec in flavor},
            required={
                spec.key
                for spec in flavor
                if not spec.requirement.accepts_absence
            },
        )
        is_exempt = inputs.compile_exemption(exempt)
        self._demands = _Answers(statements.read_demand)
        # For each extra spec, what reads the values of its key, and where the
        # bits belong: in aggregates without the flag, and with the flag.
        self._plain_readers: list[tuple[str, Reader]] = []
        readers: dict[str, list[Reader]] = {}
        for number, spec in enumerate(flavor):
            read = functools.partial(statements.read_offer, spec.requirement)
            plain = functools.partial(read, forced=False, is_demanded=False)
            is_demanded = not is_exempt(spec.key)
            forced = functools.partial(
                read, forced=True, is_demanded=is_demanded
            )
            shift = number * _WIDTH
            self._plain_readers.append((spec.key, (_Answers(plain), shift)))
            readers.setdefault(spec.key, []).append((_Answers(forced), shift))
        self._keys = _Answers(functools.partial(_find_key, is_exempt, readers))
        self._checks = _Answers(functools.partial(_check_flavor, flavor))
        self._demand_mismatch = functools.cache(
            functools.partial(Mismatch, Side.AGGREGATE)
        )
        self._statements: dict[Any, Statement] = {}

    def match_hosts(
        self, hosts: Iterable[HostT]
    ) -> tuple[list[HostT], list[HostT]]:
        """Return the hosts that pass, and the refused hosts.

        :param hosts: objects with the attribute ``aggregates``. A host is
            refused if one of its aggregates cannot be read.
        :returns: both in their old order.
        """
        passed: list[HostT] = []
        refused: list[HostT] = []
        for host in hosts:
            aggregates = host.aggregates or ()  # type: ignore[attr-defined]
            try:
                check, _, unmet = self._check_aggregates(aggregates)
                is_refused = bool(check.mismatches or unmet)
            except Exception:
                is_refused = True
            if is_refused:
                refused.append(host)
            else:
                passed.append(host)
        return passed, refused

    def list_mismatches(self, aggregates: Iterable[Any]) -> list[Mismatch]:
        """Return every mismatch with a host that is in these aggregates.

        :returns: the mismatches, without the values that :meth:`explain` adds.
            First come those of ``Side.FLAVOR``, then those of
            ``Side.AGGREGATE``. Each part is sorted by key.
        """
        try:
            check, demands, unmet = self._check_aggregates(aggregates)
        except Exception as exc:
            problem = quote(f'{type(exc).__name__}: {exc}')
            return [
                Mismatch(Side.AGGREGATE, Cause.UNREADABLE, problem=problem)
            ]
        mismatches = dict.fromkeys(check.mismatches.values())
        for key in sorted(unmet):
            cause = statements.find_cause(self._flavor_keys, demands, key)
            mismatches[self._demand_mismatch(cause, key)] = None
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
        if mismatch.cause is Cause.UNREADABLE:
            return self.name_aggregates(mismatch, aggregates)
        names = []
        texts = []
        problem = ''
        for aggregate in aggregates:
            if not self.is_behind(mismatch, aggregate):
                continue
            readable = inputs.read_aggregate(aggregate)
            for piece in readable.pieces(mismatch.key, self._flag):
                if mismatch.side is Side.FLAVOR and piece.absence_only:
                    continue
                names.append(readable.name)
                texts.append(piece.text)
                problem = problem or piece.problem
        mismatch = mismatch._replace(aggregate=tuple(names))
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

    def name_aggregates(
        self, mismatch: Mismatch, aggregates: Iterable[Any]
    ) -> Mismatch:
        """Return a mismatch with its aggregates alone, which is faster."""
        names = []
        for aggregate in aggregates:
            if self.is_behind(mismatch, aggregate):
                names.append(inputs.read_name(aggregate))
        return mismatch._replace(aggregate=tuple(names))

    def is_behind(self, mismatch: Mismatch, aggregate: Any) -> bool:
        """Tell whether an aggregate may be a cause of a mismatch."""
        if mismatch.side is Side.FLAVOR:
            return True
        try:
            _, demanded, sentinels = self._read_aggregate(aggregate)
        except Exception:
            return mismatch.cause is Cause.UNREADABLE
        key = mismatch.key
        return key in demanded or (FORBIDDEN, key) in sentinels

    def met_specs(self, aggregates: Iterable[Any]) -> list[int]:
        """Return the numbers of the extra specs that some aggregates meet.

        :raises Exception: if an aggregate cannot be read.
        """
        check, _, _ = self._check_aggregates(aggregates)
        numbers = range(len(self.flavor))
        return [number for number in numbers if number not in check.mismatches]

    def count_unmet_demands(self, aggregates: Iterable[Any]) -> int:
        """Return how many keys some aggregates demand in vain.

        :raises Exception: if an aggregate cannot be read.
        """
        _, _, unmet = self._check_aggregates(aggregates)
        return len(unmet)

    def _check_aggregates(
        self, aggregates: Iterable[Any]
    ) -> tuple[_Check, Demands, Set[str]]:
        """Return the check, the demands, and the keys of unmet demands.

        :raises Exception: if an aggregate cannot be read.
        """
        offers = 0
        demanded = []
        sentinels: list[tuple[str, str]] = []
        for aggregate in aggregates:
            offer, keys, signs = self._read_aggregate(aggregate)
            offers |= offer
            if keys:
                demanded.append(keys)
            if signs:
                sentinels += signs
        check = self._checks[offers]
        if not demanded and not sentinels:
            return check, _NO_DEMANDS, _NO_KEYS
        demands = Demands(
            demanded=_NO_KEYS.union(*demanded),
            omittable={key for sign, key in sentinels if sign == OMITTABLE},
            forbidden={key for sign, key in sentinels if sign == FORBIDDEN},
        )
        return (
            check,
            demands,
            statements.find_unmet(self._flavor_keys, check.accepted, demands),
        )

    def _read_aggregate(self, aggregate: Any) -> Statement:
        """Return what an aggregate says. It is read only once.

        :raises Exception: if the aggregate cannot be read.
        """
        statement = self._statements.get(aggregate)
        if statement is not None:
            return statement
        metadata = aggregate.metadata or {}
        if inputs.read_flag(metadata) == self._flag:
            statement = self._read_demands(metadata)
        else:
            offers = 0
            for key, (offers_of_values, shift) in self._plain_readers:
                value = metadata.get(key)
                if value is not None:
                    offers |= offers_of_values[value] << shift
            statement = offers, _NO_KEYS, ()
        self._statements[aggregate] = statement
        return statement

    def _read_demands(self, metadata: Mapping[str, str]) -> Statement:
        """Return what an aggregate with the flag says."""
        offers = 0
        demanded = []
        sentinels = []
        keys = self._keys
        demands = self._demands
        # Copy the pairs: another thread may change the metadata.
        for name, value in [*metadata.items()]:
            # In Nova's API, None removes a key.
            if value is None:
                continue
            key, readers = keys[name]
            for offers_of_values, shift in readers:
                offers |= offers_of_values[value] << shift
            if key is None:
                continue
            is_demanded, signs = demands[value]
            if is_demanded:
                demanded.append(key)
            for sign in signs:
                sentinels.append((sign, key))
        return offers, frozenset(demanded), sentinels


def _find_key(
    is_exempt: Callable[[str], object],
    readers: Mapping[str, list[Reader]],
    name: str,
) -> tuple[str | None, Sequence[Reader]]:
    """Return what a key in metadata with the flag means.

    :param readers: what reads values for the flavor, by key.
    :param name: the key, as the metadata have it.
    :returns: the key that the aggregate demands; None if it demands none. Then
        what reads its value.
    """
    key = name.removeprefix(inputs.SCOPE)
    if key in inputs.FLAGS:
        return None, ()
    if is_exempt(key):
        return None, readers.get(key, ())
    return key, readers.get(key, ())


def _check_flavor(flavor: Sequence[inputs.FlavorSpec], offers: int) -> _Check:
    """Check the extra specs of a flavor.

    :param offers: what the aggregates of a host offer to them.
    """
    mismatches = {}
    accepted = {spec.key for spec in flavor}
    for number, spec in enumerate(flavor):
        offer = offers >> number * _WIDTH & _MASK
        cause = statements.check_flavor(spec, offer)
        if cause is not None:
            mismatches[number] = Mismatch(
                Side.FLAVOR,
                cause,
                spec.key,
                accepted_values=(spec.requirement.text,),
                problem=spec.requirement.problem,
            )
        if not offer & statements.ACCEPTED:
            accepted.discard(spec.key)
    return _Check(mismatches, accepted)
