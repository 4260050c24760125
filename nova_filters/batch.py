# SPDX-License-Identifier: Apache-2.0

"""Judge many hosts for one flavor, each distinct aggregate once.

Pure. Answers exactly what :func:`nova_filters.matching.evaluate` answers for
each host, at a cost per host that does not depend on the flavor: see
:mod:`nova_filters.judging`.

What an aggregate means to a flavor is kept between requests beside a copy of
the metadata that were judged, and counts as long as the aggregate's metadata
equal that copy. They may change in place, and ``updated_at`` does not change
with them; so neither the object nor its date is ever trusted.
"""

import collections
import dataclasses
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from nova_filters import judging, matching, memory, requirement

#: How much all that is kept between requests may take, in bytes, and how much
#: of it one flavor, or one aggregate as one flavor sees it. Nova has no limit
#: for the number of keys; the ten longest ones that it stores, with the
#: longest values, take 24 KiB.
MEMORY_LIMIT: Final = 32 * 1024 * 1024
LARGEST: Final = 64 * 1024

#: How many sets of aggregates that demand alike are named one by one.
EXPLAINED: Final = 10

#: What is counted in bytes, beside the texts. An aggregate, once: its
#: dictionary and its place in another one; and one item in it.
_AGGREGATE: Final = 350
_ITEM: Final = 120
#: An aggregate as one flavor sees it: the judgement, a weak reference, and
#: their place in a dictionary; and one demanded key that the flavor lacks.
_JUDGEMENT: Final = 400
_LACKING: Final = 80
#: The same for a flavor, an extra spec, and one of its characters: "<or>"
#: makes a string and a place in a set out of six of them.
_FLAVOR: Final = 4000
_SPEC: Final = 1500
_SPEC_CHARACTER: Final = 40


class AggregateLike(Protocol):
    """What is read of an aggregate."""

    @property
    def name(self) -> str:
        """The aggregate's name."""

    @property
    def metadata(self) -> Mapping[str, str]:
        """The aggregate's metadata."""


class HostLike(Protocol):
    """What is read of a host."""

    @property
    def aggregates(self) -> Sequence[AggregateLike]:
        """The aggregates that the host is in."""


HostT = TypeVar('HostT', bound=HostLike)


@dataclasses.dataclass(frozen=True, slots=True)
class Sifted(Generic[HostT]):
    """What became of the hosts of one request.

    :param passed: the hosts that pass, in the order they came.
    :param refused: the others, in groups that are refused alike: by the
        same check, over the same key.
    :param problems: what is malformed in the flavor and in the aggregates
        that were looked at; one sentence each, sorted.
    """

    passed: list[HostT]
    refused: list[list[HostT]]
    problems: list[str]


#: No aggregates at all, or none that can be read.
_NONE: Final[frozenset[int]] = frozenset()


def _aggregates(host: HostLike) -> Sequence[AggregateLike]:
    """Return a host's aggregates; none if they cannot be read."""
    try:
        # Reading on may fail as well.
        return list(host.aggregates or ())
    except Exception:
        return ()


def names(host: HostLike) -> list[str]:
    """Return the names of a host's aggregates, sorted.

    :param host: the host.
    :returns: the names, for a log line; "?" for one that cannot be read.
    """
    found = []
    for aggregate in _aggregates(host):
        try:
            found.append(str(aggregate.name))
        except Exception:
            found.append('?')
    return sorted(found)


def by_aggregates(groups: Iterable[list[HostT]]) -> list[list[HostT]]:
    """Split groups of hosts so that each holds one set of aggregates.

    :param groups: groups of hosts.
    :returns: finer groups, in the order of their first hosts.
    """
    finer: dict[frozenset[int], list[HostT]] = {}
    for group in groups:
        for host in group:
            try:
                identity = frozenset(map(id, host.aggregates))
            except Exception:
                identity = _NONE
            finer.setdefault(identity, []).append(host)
    return list(finer.values())


def explain(
    groups: Iterable[list[HostT]],
    flavor: Sequence[matching.FlavorSpec],
    exempt: tuple[str, ...] = (),
) -> Iterator[tuple[list[HostT], matching.Reason]]:
    """Ask the evaluator why groups of hosts are refused.

    :param groups: groups of hosts that share a verdict.
    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: each group with the reason of its first host.
    """
    for group in groups:
        try:
            aggregates = [_copy(a) for a in group[0].aggregates or ()]
            reason = matching.evaluate(flavor, aggregates, exempt).reason
        except Exception:
            yield group, matching.UNREADABLE
            continue
        # The metadata may have changed since the hosts were judged.
        yield group, reason or matching.CHANGED


def summarize(
    groups: Iterable[list[HostT]],
    flavor: Sequence[matching.FlavorSpec],
    exempt: tuple[str, ...] = (),
) -> list[tuple[int, str]]:
    """Count refused hosts by the summary of their reason.

    :param groups: :attr:`Sifted.refused`.
    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: (number of hosts, summary), the commonest first, then by text.
    """
    counts: collections.Counter[str] = collections.Counter()
    for group, reason in explain(groups, flavor, exempt):
        if reason.side is matching.Side.FLAVOR:
            counts[reason.summary()] += len(group)
            continue
        # Aggregates of different names may demand alike.
        sets = by_aggregates([group])
        sets.sort(key=len, reverse=True)
        for hosts, own in explain(sets[:EXPLAINED], flavor, exempt):
            counts[own.summary()] += len(hosts)
        rest = sum(map(len, sets[EXPLAINED:]))
        if rest:
            counts['demands of further aggregates'] += rest
    return sorted(
        ((number, text) for text, number in counts.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )


def _copy(aggregate: AggregateLike) -> matching.Aggregate:
    """Return what is read of an aggregate, safe from other threads."""
    return matching.Aggregate(
        str(aggregate.name), dict(aggregate.metadata or {})
    )


class _Known(NamedTuple):
    """An aggregate that an earlier request has judged.

    :param aggregate: a weak reference to it: Nova replaces its objects.
    :param metadata: a copy of the metadata that were judged.
    :param judgement: what they mean to the flavor.
    """

    aggregate: weakref.ref[AggregateLike]
    metadata: dict[str, str]
    judgement: judging.Judgement


class _Identified:
    """An aggregate that can be a key, whatever its class says of hashes.

    It is told from others by identity, and cannot be referred to weakly: so
    nothing of it is kept for the next request.

    :param aggregate: the aggregate.
    """

    __slots__ = ('_aggregate',)

    def __init__(self, aggregate: AggregateLike) -> None:
        self._aggregate = aggregate

    def __eq__(self, other: object) -> bool:
        """Tell whether the other one stands for the same aggregate."""
        return (
            isinstance(other, _Identified)
            and self._aggregate is other._aggregate
        )

    def __hash__(self) -> int:
        """Return the identity."""
        return id(self._aggregate)

    @property
    def name(self) -> str:
        """The aggregate's name."""
        return self._aggregate.name

    @property
    def metadata(self) -> Mapping[str, str]:
        """The aggregate's metadata."""
        return self._aggregate.metadata


class _Flags(dict[AggregateLike, int]):
    """Flags by aggregate, in one request; it learns those of a new one.

    Being a key keeps an aggregate alive, too: another request may replace it
    on the hosts meanwhile.

    :param judge: the flavor.
    :param known: what earlier requests have learnt, by the id of the
        aggregate; None if nothing is to be kept.
    """

    def __init__(
        self, judge: judging.Judge, known: Mapping[int, _Known] | None
    ) -> None:
        super().__init__()
        self._judge = judge
        self._known = known
        self._memo = judging.Memo()
        #: The same, in a plain dictionary, when most are known from earlier
        #: requests: it is faster, but does not learn.
        self.recalled: dict[AggregateLike, int] = {}
        #: The aggregates that were judged anew, to be kept.
        self.new: list[
            tuple[AggregateLike, dict[str, str], judging.Judgement]
        ] = []
        self.problems = {
            _problem('the flavor', *entry) for entry in judge.problems
        }
        #: Where the flags begin of each demanded key the flavor lacks.
        self._places: dict[str, int] = {}
        self._width = judge.width
        self.questions = judge.questions
        #: The questions that are answered by being settled.
        self.demands = judge.questions & ~judge.contradictions

    def __missing__(self, aggregate: AggregateLike) -> int:
        """Return the flags of a new aggregate, and remember them."""
        try:
            metadata = aggregate.metadata or {}
            known = self._known.get(id(aggregate)) if self._known else None
            if known is not None and known.metadata == metadata:
                judgement = known.judgement
            else:
                # Another thread may change the original at any time.
                copy = {**metadata}
                judgement = self._judge.judge(copy, self._memo)
                if self._known is not None:
                    self.new.append((aggregate, copy, judgement))
            flags, lacking, problems = judgement
            if problems:
                owner = f'aggregate {requirement.quote(str(aggregate.name))}'
                self.problems.update(
                    _problem(owner, *entry) for entry in problems
                )
            if lacking:
                flags |= self._place(lacking)
        except Exception as exc:
            flags = self._close('an aggregate', exc)
        self[aggregate] = flags
        return flags

    def recall(self, known: Sequence[_Known]) -> None:
        """Take over what is still true of what earlier requests learnt.

        :param known: the aggregates, whether any host is in them or not.
        """
        numbers = self.recalled
        for reference, metadata, judgement in known:
            aggregate = reference()
            try:
                if aggregate is not None and aggregate.metadata == metadata:
                    flags, lacking, problems = judgement
                    if lacking:
                        flags |= self._place(lacking)
                    # Problems are told only if a host is in the aggregate.
                    if not problems:
                        numbers[aggregate] = flags
            except Exception:  # noqa: S112
                # It is told when a host that is in the aggregate comes up.
                continue
        self.update(numbers)

    def flags_of(self, host: HostLike) -> int:
        """Return a host's flags, whatever state it is in.

        :param host: the host; its aggregates may be new.
        :returns: the flags.
        """
        flags = 0
        try:
            for aggregate in host.aggregates or ():
                try:
                    number = self[aggregate]
                    self.recalled[aggregate] = number
                except TypeError:
                    # Its class compares by value and has no hash.
                    number = self[_Identified(aggregate)]
                flags |= number
        except Exception as exc:
            return self._close('the aggregates of a host', exc)
        return flags

    def _place(self, lacking: Iterable[tuple[str, int]]) -> int:
        """Return the flags of demanded keys that the flavor lacks."""
        flags = 0
        places = self._places
        for key, said in lacking:
            place = places.get(key)
            if place is None:
                place = places[key] = self._width
                self._width += judging.LACKING_WIDTH
                self.questions |= judging.LACKING_QUESTIONS << place
                self.demands |= judging.LACKING_DEMAND << place
            flags |= said << place
        return flags

    def _close(self, what: str, exc: Exception) -> int:
        """Return the flag that closes a host, and remember why."""
        # Objects of the service may fail to be read in ways that only its
        # future versions know.
        cause = requirement.quote(f'{type(exc).__name__}: {exc}')
        self.problems.add(f'{what} could not be read: {cause}')
        return self._judge.unreadable


class _Groups(dict[int, Callable[[HostT], None]]):
    """What adds a host to those that share its verdict, by the host's flags.

    :param judge: the flavor.
    :param flags: what the request knows of aggregates.
    """

    def __init__(self, judge: judging.Judge, flags: _Flags) -> None:
        super().__init__()
        self._judge = judge
        self._flags = flags
        self.passed: list[HostT] = []
        self.refused: list[list[HostT]] = []
        self._pass = self.passed.append
        self._reasons: dict[tuple[int, int], list[HostT]] = {}

    def add(self, flags: int) -> Callable[[HostT], None]:
        """Return what adds a host to those that share a verdict.

        :param flags: the host's flags, which are new.
        :returns: the ``append`` of a list.
        """
        for check, entry in self._judge.optional_problems.items():
            if flags & check:
                self._flags.problems.add(_problem('the flavor', *entry))
        raised = flags | self._judge.raised
        failed = (
            raised & (flags >> 1 ^ self._flags.demands) & self._flags.questions
        )
        add = self._refused(flags, failed) if failed else self._pass
        self[flags] = add
        return add

    def _refused(self, flags: int, failed: int) -> Callable[[HostT], None]:
        """Return what adds a host to those that are refused alike."""
        first = failed & -failed
        if first & self._judge.checks:
            # What else fails does not matter, only whether the key is there.
            reason = (first, flags & first)
        else:
            reason = (0, flags)
        group = self._reasons.get(reason)
        if group is None:
            group = self._reasons[reason] = []
            self.refused.append(group)
        return group.append


def _problem(owner: str, key: str, problem: str) -> str:
    """Return the sentence that says what is malformed."""
    return f'{owner} has {requirement.quote(key)}: {problem}'


class Batch:
    """One flavor, made ready to judge hosts with.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    :param kept: what holds this object between requests, and so what it
        learns; None if nothing does.
    """

    def __init__(
        self,
        flavor: Sequence[matching.FlavorSpec],
        exempt: tuple[str, ...] = (),
        kept: 'memory.Memory[_Key, Batch] | None' = None,
    ) -> None:
        self.flavor = flavor
        self.exempt = exempt
        self._judge = judging.Judge(flavor, exempt)
        self._kept = kept
        #: None before the first request: a flavor that comes once is not
        #: worth the time and the memory.
        self._known: dict[int, _Known] | None = None

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: the hosts.
        :returns: those that pass, and the others in groups.
        """
        # A copy would touch each host once more, and there may be many.
        if not isinstance(hosts, list):
            hosts = list(hosts)
        known = self._known
        learning = _Flags(self._judge, known)
        groups: _Groups[HostT] = _Groups(self._judge, learning)
        numbers: dict[AggregateLike, int] = learning
        # Without a limit, one host in a large cloud would cost a look at each
        # of its aggregates.
        if known and len(known) <= len(hosts):
            learning.recall(list(known.values()))
            numbers = learning.recalled
        last = None
        # From here on, each name is a local one: this is the only loop whose
        # length is the number of hosts.
        for host in hosts:
            try:
                flags = 0
                for aggregate in host.aggregates:
                    flags |= numbers[aggregate]
            except Exception:
                # No aggregates, unknown ones, or something that went wrong.
                flags = learning.flags_of(host)
            if flags != last:
                add = groups.get(flags) or groups.add(flags)
                last = flags
            add(host)
        if known is None:
            self._known = {}
        elif learning.new and self._kept is not None:
            self._remember(self._kept, known, learning.new)
        return Sifted(groups.passed, groups.refused, sorted(learning.problems))

    def _remember(
        self,
        kept: 'memory.Memory[_Key, Batch]',
        known: dict[int, _Known],
        new: Iterable[tuple[AggregateLike, dict[str, str], judging.Judgement]],
    ) -> None:
        """Keep what a request has learnt, as far as there is room."""
        for identity, entry in list(known.items()):
            if entry.aggregate() is None:
                known.pop(identity, None)
        entries = []
        total = 0
        for aggregate, metadata, judgement in new:
            try:
                copy_size, size = _sizes(metadata, judgement)
                reference = weakref.ref(aggregate)
            except TypeError:
                # Values that are equal but no strings need not mean the same;
                # and not every class can be referred to weakly.
                continue
            if copy_size + size > LARGEST:
                continue
            shared = kept.share(id(aggregate), metadata)
            total += size + (copy_size if shared is metadata else 0)
            entries.append(
                (id(aggregate), _Known(reference, shared, judgement))
            )
        if kept.take(total):
            known.update(entries)
        else:
            # More than everything that may be kept is shared already.
            kept.forget()


def _sizes(
    metadata: dict[str, str], judgement: judging.Judgement
) -> tuple[int, int]:
    """Return how many bytes a known aggregate takes at the most.

    :param metadata: its metadata.
    :param judgement: what they mean to a flavor.
    :returns: what all flavors share, and what each one has.
    :raises TypeError: when something in the metadata is no string.
    """
    texts = memory.text_size((*metadata, *metadata.values()))
    return (
        _AGGREGATE + _ITEM * len(metadata) + texts,
        _JUDGEMENT
        + _LACKING * len(judgement.lacking)
        + judgement.flags.bit_length() // 7,
    )


_Key = tuple[tuple[tuple[str, str], ...], tuple[str, ...]]
_FLAVORS: Final[memory.Memory[_Key, Batch]] = memory.Memory(MEMORY_LIMIT)


def used() -> int:
    """Return how many bytes are counted as kept."""
    return _FLAVORS.used


def forget() -> None:
    """Forget what earlier requests have learnt."""
    _FLAVORS.forget()
    matching.forget()


def of_flavor(
    extra_specs: Mapping[str, str] | None, exempt: tuple[str, ...] = ()
) -> Batch:
    """Return a flavor that is ready to judge with, and keep it.

    :param extra_specs: the extra specs; None is none at all.
    :param exempt: patterns of keys that no aggregate may demand.
    :returns: the same for the same texts, unless it was forgotten meanwhile.
    """
    items = tuple((extra_specs or {}).items())
    try:
        key = (items, exempt)
        batch = _FLAVORS.get(key)
        if batch is not None:
            return batch
        texts = [text for item in items for text in item]
        size = memory.text_size((*texts, *exempt))
    except TypeError:
        # Something in it is no string: it is nothing to keep.
        return Batch(matching.read_flavor(dict(items)), exempt)
    size += _FLAVOR + _SPEC * len(items)
    size += _SPEC_CHARACTER * sum(map(len, texts))
    if size > LARGEST:
        return Batch(matching.read_flavor(dict(items)), exempt)
    batch = Batch(matching.read_flavor(dict(items)), exempt, _FLAVORS)
    _FLAVORS.put(key, batch, size)
    return batch
