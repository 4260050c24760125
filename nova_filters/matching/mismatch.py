# SPDX-License-Identifier: Apache-2.0

"""Why a flavor and a host do not match, as data and as text."""

import enum
from collections.abc import Iterable
from typing import Final, NamedTuple

from os_placement_plugins.text import listed, quote


class Side(enum.StrEnum):
    """Which of the two checks refuses the host."""

    #: The host's aggregates do not meet the flavor's extra specs.
    FLAVOR = 'flavor'
    #: The flavor does not meet what the host's aggregates demand.
    AGGREGATE = 'aggregate'


class Cause(enum.StrEnum):
    """Why a flavor and a host's aggregates do not match."""

    #: The flavor asks for a key that no aggregate of the host has, or an
    #: aggregate demands a key that the flavor lacks.
    MISSING = 'missing'
    #: Both sides have the key, and their values do not agree.
    DIFFERENT = 'different'
    #: One side says ``!``, and the other side has the key.
    FORBIDDEN = 'forbidden'
    #: The host's forced aggregates forbid the key, but also list values for
    #: the key or allow it to be absent. No flavor can boot there.
    CONTRADICTION = 'contradiction'
    #: The flavor's value is invalid, so no aggregate can meet it.
    MALFORMED = 'malformed'
    #: An aggregate of the host, or the host, could not be read.
    UNREADABLE = 'unreadable'


#: The template of a summary, by side and cause.
_SUMMARIES: Final = {
    (Side.FLAVOR, Cause.MISSING): '{key} not in any aggregate',
    (Side.FLAVOR, Cause.DIFFERENT): '{key} does not match {accepted}',
    (Side.FLAVOR, Cause.FORBIDDEN): '{key} must not be in an aggregate',
    (Side.FLAVOR, Cause.MALFORMED): '{key} is malformed in the flavor',
    (Side.AGGREGATE, Cause.MISSING): '{owner} demands {key}',
    (
        Side.AGGREGATE,
        Cause.DIFFERENT,
    ): '{owner} demands {key} to be {accepted}',
    (Side.AGGREGATE, Cause.FORBIDDEN): '{owner} forbids {key}',
    (Side.AGGREGATE, Cause.CONTRADICTION): '{owner} contradicts itself on '
    '{key}',
    (Side.AGGREGATE, Cause.UNREADABLE): '{owner} could not be read: {problem}',
}


class Mismatch(NamedTuple):
    """Why a flavor and a host do not match.

    :param side: which check refuses the host.
    :param cause: what is wrong.
    :param key: the key, without the filter's scope.
    :param accepted_values: what the refusing side accepts.
    :param problem: why the value of the refusing side is malformed. Only
        :meth:`nova_filters.matching.matcher.Matcher.explain` sets the problem
        of an aggregate's value.
    :param stated_values: the values of the other side; empty if that side
        lacks the key. Only ``explain`` sets them.
    :param aggregate: the names of the aggregates that have the key. Only
        ``explain`` sets them.
    """

    side: Side
    cause: Cause
    key: str = ''
    accepted_values: tuple[str, ...] = ()
    problem: str = ''
    stated_values: tuple[str, ...] = ()
    aggregate: tuple[str, ...] = ()

    @property
    def _owner(self) -> str:
        if not self.aggregate:
            return 'a host'
        return f'aggregate {quote_all(self.aggregate)}'

    def summary(self) -> str:
        """Return the mismatch without the values of the other side.

        :returns: the text, which is the same for all hosts with this mismatch.
        """
        return _SUMMARIES[self.side, self.cause].format(
            owner=self._owner,
            accepted=quote_all(self.accepted_values),
            key=quote(self.key),
            problem=self.problem,
        )

    def __str__(self) -> str:
        """Return the whole mismatch, with the values of both sides."""
        text = self.summary()
        if self.problem and self.accepted_values:
            text += f' ({quote_all(self.accepted_values)}: {self.problem})'
        if self.stated_values:
            holder = self._owner
            if self.side is Side.AGGREGATE:
                holder = 'the flavor'
            text += f'; {holder} has {quote_all(self.stated_values)}'
        return text


def quote_all(values: Iterable[str]) -> str:
    """Return the first few of the sorted values, in quotes.

    :param values: any texts; equal texts are listed once.
    """
    return listed([*map(quote, sorted(set(values)))])
