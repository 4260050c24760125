# SPDX-License-Identifier: Apache-2.0

"""Why a host is refused, as data and as text."""

import dataclasses
import enum
from collections.abc import Iterable
from typing import Final, NamedTuple

from nova_filters.matching.inputs import Aggregate, FlavorSpec
from nova_filters.matching.requirement import Requirement
from os_placement_plugins.quoting import quote

#: How many values or aggregates a message lists.
LISTED: Final = 4


class Side(enum.StrEnum):
    """Which of the two checks refuses the host."""

    #: The host's aggregates do not meet the flavor's extra specs.
    FLAVOR = 'flavor'
    #: The flavor does not meet what the host's aggregates demand.
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
    #: Forced aggregates both forbid the key and say more about the key: no
    #: flavor can boot there.
    CONTRADICTION = 'contradiction'
    #: Nothing can meet the flavor's value.
    MALFORMED = 'malformed'
    #: An aggregate of the host, or the host, could not be read.
    UNREADABLE = 'unreadable'


class Refusal(NamedTuple):
    """What keeps a flavor off a host, without the values.

    :param side: the check.
    :param kind: what is wrong.
    :param key: the key, without the filter's scope.
    :param wanted: what the flavor wants; None in the second check.
    """

    side: Side
    kind: Kind
    key: str = ''
    wanted: Requirement | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """Why a host is refused.

    :param side: which check refuses the host.
    :param kind: what is wrong.
    :param key: the key, without the filter's scope.
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
            owner = f'aggregate {quote_all(self.aggregate)}'
            return f'{owner if self.aggregate else "a host"} could not be read'
        key = quote(self.key)
        wanted = quote_all(self.wanted)
        if self.side is Side.AGGREGATE:
            owner = f'aggregate {quote_all(self.aggregate)}'
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
            text += f' ({quote_all(self.wanted)}: {self.problem})'
        if self.found:
            holder = (
                'the flavor has'
                if self.side is Side.AGGREGATE
                else f'aggregate {quote_all(self.aggregate)} has'
            )
            text += f'; {holder} {quote_all(self.found)}'
        return text


def quote_all(values: Iterable[str]) -> str:
    """Return values in quotes, sorted, the first few only.

    :param values: any texts; each is listed once.
    """
    ordered = sorted(set(values))
    quoted = [quote(value) for value in ordered[:LISTED]]
    if len(ordered) > LISTED:
        quoted.append(f'{len(ordered) - LISTED} more')
    return ', '.join(quoted)


def explain(
    refusal: Refusal,
    specs: Iterable[FlavorSpec],
    aggregates: Iterable[Aggregate],
) -> Reason:
    """Return a refusal with the values and aggregates behind it.

    :param specs: the flavor's extra specs on the key.
    :param aggregates: those of the host's aggregates that are behind it.
    """
    side, kind, key, wanted = refusal
    if kind is Kind.UNREADABLE:
        unread = tuple(aggregate.name for aggregate in aggregates)
        return Reason(side, kind, key, aggregate=unread)
    offers = [
        (aggregate.name, piece)
        for aggregate in aggregates
        for piece in aggregate.pieces(key)
        if not (wanted and piece.absence_only)
    ]
    names = tuple(name for name, _ in offers)
    texts = tuple(piece.text for _, piece in offers)
    if wanted:
        return Reason(
            side, kind, key, (wanted.text,), texts, names, wanted.problem
        )
    asked = tuple(spec.wanted.text for spec in specs)
    problem = next((p.problem for _, p in offers if p.problem), '')
    return Reason(side, kind, key, texts, asked, names, problem)
