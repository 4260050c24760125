# SPDX-License-Identifier: Apache-2.0

"""What flavors and aggregates hold as the filter reads it, and reasons.

Pure: strings in, frozen data out. The decision itself is
:mod:`nova_filters.decision`. The terms are those of the specification
"Aggregate Instance Type Filter".
"""

import dataclasses
import enum
import fnmatch
from collections.abc import Iterable, Mapping
from typing import Final

from nova_filters import requirement

#: The scope that makes a namespaced extra spec mandatory (use case 7).
SCOPE: Final = 'aggregate_instance_extra_specs'
#: The metadata key that lets an aggregate demand ("Description").
FLAG: Final = 'force_metadata_check'

#: How many values or aggregates a message lists.
_LISTED = 4

_PREFIX = SCOPE + ':'


class Side(enum.StrEnum):
    """Which of the two checks refused the host."""

    #: The flavor's extra specs are not met by the host's aggregates.
    FLAVOR = 'flavor'
    #: The host's aggregates demand what the flavor does not meet.
    AGGREGATE = 'aggregate'


class Kind(enum.StrEnum):
    """What is wrong between a flavor and a host's aggregates."""

    #: The flavor asks for a key that no aggregate of the host has, or an
    #: aggregate demands a key that the flavor lacks.
    MISSING = 'missing'
    #: Both sides have the key, and their values do not agree.
    MISMATCH = 'mismatch'
    #: One side says ``!``, and the other one has the key.
    FORBIDDEN = 'forbidden'
    #: Forced aggregates both forbid the key and say more about it: no
    #: flavor can boot there.
    CONTRADICTION = 'contradiction'
    #: The flavor's value can be met by nothing.
    MALFORMED = 'malformed'
    #: An aggregate of the host could not be read.
    UNREADABLE = 'unreadable'


def _quote_all(values: Iterable[str]) -> str:
    """Return ``values`` in quotes, sorted, cut to a few."""
    ordered = sorted(set(values))
    quoted = [requirement.quote(value) for value in ordered[:_LISTED]]
    if len(ordered) > _LISTED:
        quoted.append(f'{len(ordered) - _LISTED} more')
    return ', '.join(quoted)


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """Why a host is refused.

    :param side: which check refused it.
    :param kind: what is wrong.
    :param key: the key, without the filter's own scope.
    :param wanted: the values that the refusing side accepts.
    :param found: the values of the other side; empty if it lacks the key.
    :param aggregate: the names of the aggregates that carry the key.
    :param problem: what is malformed, or an empty string.
    """

    side: Side
    kind: Kind
    key: str
    wanted: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    aggregate: tuple[str, ...] = ()
    problem: str = ''

    def summary(self) -> str:
        """Return the reason without the values that were found.

        :returns: text by which refused hosts can be counted.
        """
        if self.kind is Kind.UNREADABLE:
            return 'an aggregate could not be read'
        key = requirement.quote(self.key)
        wanted = _quote_all(self.wanted)
        if self.side is Side.AGGREGATE:
            owner = f'aggregate {_quote_all(self.aggregate)}'
            return {
                Kind.MISSING: f'{owner} demands {key}',
                Kind.FORBIDDEN: f'{owner} forbids {key}',
                Kind.CONTRADICTION: f'{owner} contradicts itself on {key}',
            }.get(self.kind, f'{owner} demands {key} to be {wanted}')
        return {
            Kind.MISSING: f'{key} not in any aggregate',
            Kind.FORBIDDEN: f'{key} must not be in an aggregate',
            Kind.MALFORMED: f'{key} is malformed in the flavor',
        }.get(self.kind, f'{key} does not match {wanted}')

    def __str__(self) -> str:
        """Return the whole reason: the summary, and what was found."""
        text = self.summary()
        if self.problem:
            text += f' ({_quote_all(self.wanted)}: {self.problem})'
        if self.found:
            holder = (
                'the flavor has'
                if self.side is Side.AGGREGATE
                else f'aggregate {_quote_all(self.aggregate)} has'
            )
            text += f'; {holder} {_quote_all(self.found)}'
        return text


@dataclasses.dataclass(frozen=True, slots=True)
class FlavorSpec:
    """One extra spec of a flavor, as the filter reads it.

    :param key: the metadata key it is about.
    :param optional: whether it is skipped when no aggregate has the key: a
        namespace other than :data:`SCOPE` (use case 7).
    :param wanted: what it asks for.
    """

    key: str
    optional: bool
    wanted: requirement.Requirement


def read_flavor(
    extra_specs: Mapping[str, str] | None,
) -> tuple[FlavorSpec, ...]:
    """Return a flavor's extra specs as the filter reads them.

    :param extra_specs: the extra specs; None is none at all.
    :returns: one entry per extra spec, by key; the reserved word
        ``force_metadata_check`` is left out, bare or scoped.
    """
    specs = []
    for name, value in (extra_specs or {}).items():
        key = str(name)
        optional = False
        if key.startswith(_PREFIX):
            key = key.removeprefix(_PREFIX)
        else:
            optional = ':' in key
        if key != FLAG:
            wanted = requirement.parse(value)
            specs.append(FlavorSpec(key, optional, wanted))
    return tuple(
        sorted(specs, key=lambda s: (s.key, s.optional, s.wanted.text))
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Aggregate:
    """One host aggregate.

    :param name: its name, for the reasons.
    :param metadata: its metadata; any dictionary of strings.
    :param forced: whether its own ``force_metadata_check`` is on; read from
        the metadata.
    """

    name: str
    metadata: Mapping[str, str]
    forced: bool = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """Read the flag once; it is asked for with every key."""
        forced = requirement.is_on(self.metadata.get(FLAG))
        object.__setattr__(self, 'forced', forced)

    def values(self, key: str) -> tuple[object, ...]:
        """Return the metadata values of a key; usually one or none.

        :param key: the key as a flavor names it, without the filter's scope.
        :returns: the value; a forced aggregate may have a second one, whose
            key is written with the filter's scope.
        """
        own = self.metadata.get(key)
        if not self.forced:
            return () if own is None else (own,)
        if key.startswith(_PREFIX):
            # With the flag on, this name belongs to the key without it.
            own = None
        scoped = self.metadata.get(_PREFIX + key)
        if scoped is None:
            return () if own is None else (own,)
        return (scoped,) if own is None else (own, scoped)

    def pieces(self, key: str) -> tuple[requirement.Requirement, ...]:
        """Return what this aggregate offers for a key.

        :param key: the key as a flavor names it, without the filter's scope.
        :returns: the pieces of all its values.
        """
        return tuple(
            piece
            for value in self.values(key)
            for piece in requirement.parse_metadata(value, self.forced)
        )

    def demands(self) -> list[tuple[str, object]]:
        """Return (key, value) of what this aggregate demands if forced.

        :returns: the metadata without the flag, the filter's scope stripped;
            a key may come twice.
        """
        items = (
            (demanded_key(name), value)
            for name, value in self.metadata.items()
            if value is not None
        )
        return [(key, value) for key, value in items if key is not None]


def demanded_key(name: object) -> str | None:
    """Return the key that a metadata item of a forced aggregate is about.

    :param name: the item's name.
    :returns: the name without the filter's scope; None for the flag, and for
        what is no string and can be asked for by nobody.
    """
    if not isinstance(name, str):
        return None
    key = name.removeprefix(_PREFIX)
    return None if key == FLAG else key


def is_exempt(key: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a forced aggregate may not demand a key.

    :param key: the metadata key, without the filter's scope.
    :param patterns: shell patterns, matched with the case as written.
    :returns: whether one of the patterns matches.
    """
    return any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)
