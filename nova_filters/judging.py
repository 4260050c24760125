# SPDX-License-Identifier: Apache-2.0
"""What one aggregate means to one flavor, as a whole number of flags.

Pure. The flags of a host are the *or* of its aggregates' flags, because both
decision tables of :mod:`nova_filters.matching` ask only whether *some* piece
of *some* aggregate has a property. The cost of a host therefore depends
neither on the flavor nor on the metadata.

Each question that a host must answer has two neighbouring flags, the lower
one at an even place: *raised* and *settled*. A host is refused when a
question is raised and not settled; for a contradiction, when it is raised and
settled. That makes the verdict one expression over all questions at once.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from nova_filters import matching, requirement

#: What a forced aggregate says of a key that the flavor lacks, as the flags
#: of two questions. The demand: raised by whatever is not "!", settled by
#: "~". The contradiction: raised by "!", "settled" by whatever is not "!".
_SAID: Final = 0b1001
_OMITTABLE: Final = 0b0010
_FORBIDDEN: Final = 0b0100
#: Of those two questions, the lower flags; and the one of the demand.
LACKING_QUESTIONS: Final = 0b0101
LACKING_DEMAND: Final = 0b0001
#: How many flags they take.
LACKING_WIDTH: Final = 4


class Judgement(NamedTuple):
    """What one aggregate, or one item of its metadata, means to a flavor.

    :param flags: the flags of the questions that the flavor itself has.
    :param lacking: (key, flags of its two questions) for each key that the
        flavor lacks and the aggregate demands or forbids.
    :param problems: (key, problem) of what is malformed.
    """

    flags: int
    lacking: tuple[tuple[str, int], ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


_NOTHING: Final = Judgement(0)


@dataclasses.dataclass(slots=True)
class Memo:
    """Items of metadata that one request has judged already.

    Aggregates repeat each other's items. It lives as long as the request, so
    it needs no bound.

    :param plain: (key, value) of an aggregate whose flag is off -> flags.
    :param forced: the same where the flag is on.
    :param odd: those of the latter that mean more than flags.
    :param simple: flags -> the judgement that consists of nothing else.
    """

    plain: dict[tuple[str, object], int] = dataclasses.field(
        default_factory=dict
    )
    forced: dict[tuple[str, object], int] = dataclasses.field(
        default_factory=dict
    )
    odd: dict[tuple[str, object], Judgement] = dataclasses.field(
        default_factory=dict
    )
    simple: dict[int, Judgement] = dataclasses.field(default_factory=dict)

    def judgement(self, flags: int) -> Judgement:
        """Add the judgement that consists of flags and nothing else.

        :param flags: the flags.
        :returns: the judgement.
        """
        found = self.simple[flags] = Judgement(flags)
        return found


@dataclasses.dataclass(frozen=True, slots=True)
class _Spec:
    """One extra spec and its flags.

    :param wanted: what it asks for.
    :param carried: set when an aggregate has a value for the key.
    :param matched: set when a piece matches.
    :param demanded: set when a forced aggregate has the key.
    :param met: set when a piece of a forced aggregate is met.
    """

    wanted: requirement.Requirement
    carried: int
    matched: int
    demanded: int
    met: int

    def flags(self, pieces: Sequence[requirement.Requirement]) -> int:
        """Return the flags of the flavor's check.

        :param pieces: the pieces of one metadata value.
        :returns: their flags.
        """
        flags = 0
        if not all(piece.absence_only for piece in pieces):
            flags |= self.carried
        if any(map(self.wanted.overlaps, pieces)):
            flags |= self.matched
        return flags

    def demand(self, pieces: Sequence[requirement.Requirement]) -> int:
        """Return the flags of the aggregates' demand.

        :param pieces: the pieces of one metadata value, the flag being on.
        :returns: their flags.
        """
        met = any(map(self.wanted.overlaps, pieces)) or (
            # Whether "!" stands alone is a question of its own.
            self.wanted.accepts_absence
            and any(piece.forbidden for piece in pieces)
        )
        return self.demanded | self.met if met else self.demanded


class Judge:
    """One flavor, made ready to judge aggregates with.

    :param flavor: what :func:`nova_filters.matching.read_flavor` returned.
    :param exempt: patterns of keys that no aggregate may demand.
    """

    def __init__(
        self,
        flavor: Sequence[matching.FlavorSpec],
        exempt: tuple[str, ...] = (),
    ) -> None:
        self._exempt = exempt
        self._specs: dict[str, list[_Spec]] = {}
        #: Per key: the lower flag of its contradiction.
        self._contradictions: dict[str, int] = {}
        #: The lower flags of the flavor's check, in the order of the extra
        #: specs, and below them the one of what could not be read: the lowest
        #: one that fails is the evaluator's reason.
        self.checks = 0
        #: What is raised for every host.
        self.raised = 0
        #: The lower flags of all questions, and of the contradictions.
        self.questions = 0
        self.contradictions = 0
        #: How many flags are taken; more come with keys the flavor lacks.
        self.width = 0
        #: Raised by what could not be read, and settled by nothing.
        self.unreadable = self._question()
        checks = [self._question() for _ in flavor]
        self.checks = self.questions
        #: What is malformed in the flavor: for certain, and, by the lower
        #: flag of the check, where an aggregate has the key. Another
        #: namespace's value may be meant for somebody else.
        self.problems: list[tuple[str, str]] = []
        self.optional_problems: dict[int, tuple[str, str]] = {}
        for spec, check in zip(flavor, checks, strict=True):
            self._add(spec, check)
        #: The same as pairs: faster to walk through.
        self._pairs = list(self._specs.items())

    def _question(self) -> int:
        """Return the lower flag of a new question."""
        lower = 1 << self.width
        self.width += 2
        self.questions |= lower
        return lower

    def _add(self, spec: matching.FlavorSpec, check: int) -> None:
        """Take up one extra spec, with the questions of its demand."""
        wanted = spec.wanted
        if wanted.problem and spec.optional:
            self.optional_problems[check] = (spec.key, wanted.problem)
        elif wanted.problem:
            self.problems.append((spec.key, wanted.problem))
        demand = self._question()
        forbids = wanted.forbidden and not wanted.problem
        if not (forbids or spec.optional or wanted.accepts_absence):
            self.raised |= check
        if spec.key not in self._specs:
            self._contradictions[spec.key] = self._question()
            self.contradictions |= self._contradictions[spec.key]
        self._specs.setdefault(spec.key, []).append(
            _Spec(
                wanted,
                carried=check,
                matched=0 if forbids else check << 1,
                demanded=demand,
                met=demand << 1,
            )
        )

    def judge(self, metadata: Mapping[str, object], memo: Memo) -> Judgement:
        """Return what an aggregate means to the flavor.

        :param metadata: its metadata; nothing else may change it meanwhile.
        :param memo: what the request has judged already; it is added to.
        :returns: the judgement.
        """
        flag = metadata.get(matching.FLAG)
        if flag is not None and requirement.is_on(flag):
            return self._judge_forced(metadata, memo)
        flags = 0
        known = memo.plain
        for key, specs in self._pairs:
            value = metadata.get(key)
            if value is not None:
                item = (key, value)
                try:
                    flags |= known[item]
                except (KeyError, TypeError):
                    pieces = requirement.parse_metadata(value, forced=False)
                    found = 0
                    for spec in specs:
                        found |= spec.flags(pieces)
                    if isinstance(value, str):
                        known[item] = found
                    flags |= found
        return memo.simple.get(flags) or memo.judgement(flags)

    def _judge_forced(
        self, metadata: Mapping[str, object], memo: Memo
    ) -> Judgement:
        """Return what an aggregate means whose flag is on."""
        flags = 0
        odd: list[Judgement] = []
        known = memo.forced
        for item in metadata.items():
            try:
                flags |= known[item]
            except (KeyError, TypeError):
                found = self._judge_item(item, memo)
                flags |= found.flags
                if found.lacking or found.problems:
                    odd.append(found)
        if not odd:
            return memo.simple.get(flags) or memo.judgement(flags)
        if len(odd) == 1:
            return Judgement(flags, odd[0].lacking, odd[0].problems)
        return Judgement(
            flags,
            tuple(entry for found in odd for entry in found.lacking),
            tuple(entry for found in odd for entry in found.problems),
        )

    def _judge_item(self, item: tuple[str, object], memo: Memo) -> Judgement:
        """Return what an item means that the memo has no flags for."""
        if not isinstance(item[1], str):
            return self._item(*item)
        found = memo.odd.get(item)
        if found is None:
            found = self._item(*item)
            if found.lacking or found.problems:
                memo.odd[item] = found
            else:
                memo.forced[item] = found.flags
        return found

    def _item(self, name: str, value: object) -> Judgement:
        """Return what one item of a forced aggregate's metadata means."""
        key = matching.demanded_key(name)
        if key is None or value is None:
            return _NOTHING
        pieces = requirement.parse_metadata(value, forced=True)
        problems = tuple((key, p.problem) for p in pieces if p.problem)
        specs = self._specs.get(key, ())
        flags = 0
        for spec in specs:
            flags |= spec.flags(pieces)
        if matching.is_exempt(key, self._exempt):
            return Judgement(flags, (), problems)
        said = _said(pieces)
        if not specs:
            return Judgement(flags, ((key, said),), problems)
        for spec in specs:
            flags |= spec.demand(pieces)
        contradiction = self._contradictions[key]
        if said & _FORBIDDEN:
            flags |= contradiction
        if said & _SAID:
            flags |= contradiction << 1
        return Judgement(flags, (), problems)


def _said(pieces: Sequence[requirement.Requirement]) -> int:
    """Return what the pieces of a forced aggregate say of a key."""
    said = 0
    for piece in pieces:
        if piece.problem or not piece.forbidden:
            said |= _SAID
        if piece.omittable:
            said |= _OMITTABLE
        if piece.forbidden:
            said |= _FORBIDDEN
    return said
