# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Judge many hosts for one flavor, each distinct aggregate once.

Pure. Answers exactly what :func:`nova_filters.matching.evaluate` answers for
each host, at a cost per host that does not depend on the flavor: every
aggregate becomes a whole number of flags, a host's number is the *or* of its
aggregates' numbers, and equal numbers share a verdict. That works because
both decision tables ask only whether *some* piece of *some* aggregate has a
property.

Nothing outlives a request: an aggregate's metadata may change in place, and
its ``updated_at`` does not change with it.
"""

import collections
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, Protocol, TypeVar

from nova_filters import matching, requirement

#: How many comparisons of two texts are remembered. Nova stores at most 255
#: characters per text, so this stays below 25 MiB at the very worst.
COMPARISONS: Final = 16384

#: How many sets of aggregates that demand alike are named one by one.
EXPLAINED: Final = 200

#: What a metadata value is to an extra spec: it carries the key; one of its
#: pieces matches; one of them, as a demand, is met.
_CARRIED, _MATCHED, _MET = 1, 2, 4
#: What a forced aggregate says of a key: something other than "!"; "~"; "!".
_SAID, _OMITTABLE, _FORBIDDEN = 1, 2, 4
#: A text that nothing meets, in place of whatever is no string.
_NOTHING: Final = requirement.OR


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
            identity = frozenset(map(id, _aggregates(host)))
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


def _text(value: object) -> str:
    """Return ``value`` if it is a string, else one that nothing meets."""
    return value if isinstance(value, str) else _NOTHING


@functools.lru_cache(maxsize=COMPARISONS)
def _compare(text: str, value: str, forced: bool) -> int:
    """Compare an extra spec's value with one metadata value.

    :param text: the extra spec's value.
    :param value: the metadata value.
    :param forced: whether the aggregate's flag is on.
    :returns: the sum of _CARRIED, _MATCHED and _MET, as they apply.
    """
    wanted = requirement.parse(text)
    pieces = requirement.parse_metadata(value, forced)
    matched = any(map(wanted.overlaps, pieces))
    found = _MATCHED | _MET if matched else 0
    if not all(piece.absence_only for piece in pieces):
        found |= _CARRIED
    # Whether "!" stands alone is decided when all pieces are known.
    if wanted.accepts_absence and any(piece.forbidden for piece in pieces):
        found |= _MET
    return found


@functools.lru_cache(maxsize=requirement.CACHE_SIZE)
def _demand(value: str) -> tuple[int, tuple[str, ...]]:
    """Return what one metadata value of a forced aggregate demands.

    :param value: the metadata value.
    :returns: the sum of _SAID, _OMITTABLE and _FORBIDDEN, as they apply, and
        what is malformed.
    """
    pieces = requirement.parse_metadata(value, forced=True)
    found = 0
    for piece in pieces:
        if piece.problem or not piece.forbidden:
            found |= _SAID
        if piece.omittable:
            found |= _OMITTABLE
        if piece.forbidden:
            found |= _FORBIDDEN
    return found, tuple(piece.problem for piece in pieces if piece.problem)


class Batch:
    """One flavor, made ready to judge aggregates with.

    Per extra spec there are four flags, each a position in its own block of
    the number: an aggregate *carries* the key; some piece *matches*; a
    forced one *demands* the key; some piece of a forced one is *met*.
    Further flags come into being with the keys that forced aggregates
    demand, three per key: *said*, *omittable*, *forbidden*.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self,
        flavor: Sequence[matching.FlavorSpec],
        exempt: tuple[str, ...] = (),
    ) -> None:
        self._exempt = exempt
        self._width = len(flavor)
        self._block = (1 << self._width) - 1
        self._specs: dict[str, list[tuple[int, str]]] = {}
        #: Extra specs that some piece must match.
        self._mandatory = 0
        #: Extra specs that some piece must match if the key is carried.
        self._conditional = 0
        #: Extra specs whose key must not be carried.
        self._forbidding = 0
        self._problems: set[str] = set()
        for position, spec in enumerate(flavor):
            bit = 1 << position
            wanted = spec.wanted
            if wanted.forbidden and not wanted.problem:
                self._forbidding |= bit
            elif spec.optional or wanted.accepts_absence:
                self._conditional |= bit
            else:
                self._mandatory |= bit
            text = _NOTHING if wanted.problem else wanted.text
            self._specs.setdefault(spec.key, []).append((bit, text))
            if wanted.problem and not spec.optional:
                self._note('the flavor', spec.key, wanted.problem)
        #: The flags beyond the four blocks: the first free one, and the
        #: first one of each key that a forced aggregate demands.
        self._next = 4 * self._width
        self._slots: dict[str, int] = {}
        #: The first flags of all such keys; of those the flavor lacks.
        self._demandable = 0
        self._lacking = 0
        #: A flag of its own for an aggregate that could not be read.
        self._unreadable = self._take(1)

    def _note(self, owner: str, key: str, problem: str) -> None:
        """Remember something malformed, for the one warning."""
        self._problems.add(f'{owner} has {requirement.quote(key)}: {problem}')

    def _take(self, count: int) -> int:
        """Return the first of ``count`` new flags, as a number."""
        first = 1 << self._next
        self._next += count
        return first

    def _slot(self, key: str) -> int:
        """Return the first of a demanded key's three flags.

        They say that some piece offers a value, offers absence, forbids.
        """
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = self._take(3)
            self._demandable |= slot
            if key not in self._specs:
                self._lacking |= slot
        return slot

    def flags(self, aggregate: matching.Aggregate) -> int:
        """Return one aggregate's number.

        :param aggregate: the aggregate.
        :returns: the flags; they are *or*-ed over a host's aggregates.
        """
        flags = self._demands(aggregate) if aggregate.forced else 0
        for key, specs in self._specs.items():
            for value in aggregate.values(key):
                forced = aggregate.forced or not isinstance(value, str)
                for bit, text in specs:
                    found = _compare(text, _text(value), forced)
                    if found & _CARRIED:
                        flags |= bit
                    if found & _MATCHED:
                        flags |= bit << self._width
        return flags

    def _demands(self, aggregate: matching.Aggregate) -> int:
        """Return the flags that only a forced aggregate has."""
        flags = 0
        for key, value in aggregate.demands():
            found, problems = _demand(_text(value))
            for problem in problems:
                name = requirement.quote(aggregate.name)
                self._note(f'aggregate {name}', key, problem)
            if matching.is_exempt(key, self._exempt):
                continue
            flags |= self._slot(key) * found
            for bit, text in self._specs.get(key, ()):
                flags |= bit << 2 * self._width
                if _compare(text, _text(value), True) & _MET:
                    flags |= bit << 3 * self._width
        return flags

    def passes(self, flags: int) -> bool:
        """Decide for a host, given the *or* of its aggregates' numbers.

        :param flags: the number.
        :returns: whether the host passes.
        """
        carried = flags & self._block
        matched = flags >> self._width & self._block
        demanded = flags >> 2 * self._width & self._block
        met = flags >> 3 * self._width & self._block
        said = flags & self._demandable
        forbidden = flags >> 2 & self._demandable
        omittable = flags >> 1 & self._demandable
        return not (
            self._mandatory & ~matched
            or self._conditional & carried & ~matched
            or self._forbidding & carried
            or demanded & ~met
            or forbidden & said
            or self._lacking & said & ~omittable
            or flags & self._unreadable
        )

    def _flags_of(self, aggregate: AggregateLike) -> int:
        """Return an aggregate's number, whatever state it is in."""
        try:
            return self.flags(_copy(aggregate))
        except Exception as exc:
            return self._close('an aggregate', exc)

    def _close(self, what: str, exc: Exception) -> int:
        """Return the flag that closes a host, and remember why."""
        # Objects of the service may fail to be read in ways that only its
        # future versions know.
        cause = requirement.quote(f'{type(exc).__name__}: {exc}')
        self._problems.add(f'{what} could not be read: {cause}')
        return self._unreadable

    def sift(self, hosts: Iterable[HostT]) -> Sifted[HostT]:
        """Judge every host.

        :param hosts: the hosts.
        :returns: those that pass, and the others in groups.
        """
        # Keyed by identity, and the aggregates are kept alive beside it:
        # another request may replace them on the hosts meanwhile.
        numbers: dict[int, int] = {}
        alive: list[AggregateLike] = []
        passed: list[HostT] = []
        verdicts: dict[int, list[HostT]] = {}
        refused: list[list[HostT]] = []
        for host in hosts:
            flags = 0
            try:
                for aggregate in host.aggregates or ():
                    identity = id(aggregate)
                    number = numbers.get(identity)
                    if number is None:
                        alive.append(aggregate)
                        number = self._flags_of(aggregate)
                        numbers[identity] = number
                    flags |= number
            except Exception as exc:
                flags = self._close('the aggregates of a host', exc)
            group = verdicts.get(flags)
            if group is None:
                if self.passes(flags):
                    group = passed
                else:
                    group = []
                    refused.append(group)
                verdicts[flags] = group
            group.append(host)
        return Sifted(passed, refused, sorted(self._problems))
