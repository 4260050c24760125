# SPDX-License-Identifier: Apache-2.0

"""What the log says about refused hosts: each reason once, with a number."""

import collections
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching.reason import Kind, Reason, Refusal, Side
from nova_filters.matching.request import Request, name_of, problem
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: How many reasons a line names.
NAMED: Final = 10


def names(host: Any) -> list[str]:
    """Return the names of a host's aggregates, sorted; "?" if unreadable."""
    return sorted(map(name_of, _aggregates(host)))


def problems(
    request: Request, refused: Mapping[Refusal, Iterable[Any]]
) -> list[str]:
    """Return what is malformed or could not be read, one sentence each.

    A malformed value of an aggregate, or of a key that may be meant for
    somebody else, is told if a host is refused because of the key.

    :param request: the request that has judged the hosts.
    :param refused: the refused hosts, by the first reason.
    """
    found = set(request.problems)
    for refusal, hosts in refused.items():
        key, wanted = refusal.key, refusal.wanted
        if wanted and refusal.kind is Kind.MALFORMED:
            found.add(problem('the flavor', key, wanted))
        # A flavor that lacks the key would not meet a sound value either.
        if refusal.kind is Kind.MISSING or key not in request.malformed:
            continue
        for aggregate in {a for host in hosts for a in _aggregates(host)}:
            own = request.read(aggregate)
            found.update(
                problem(f'aggregate {quote(own.name)}', key, piece)
                for piece in own.pieces(key)
                if piece.problem
            )
    return sorted(found)


def explain(
    request: Request, refused: Mapping[Refusal, list[HostT]]
) -> Iterator[tuple[list[HostT], Reason]]:
    """Yield refused hosts in the same aggregates, and why."""
    for refusal, hosts in refused.items():
        for group in _by_aggregates(hosts, lambda aggregate: True):
            yield group, request.explain(refusal, _aggregates(group[0]))


def summarize(
    request: Request, refused: Mapping[Refusal, list[Any]]
) -> list[tuple[int, str]]:
    """Count refused hosts by the summary of their reason.

    :returns: (number of hosts, summary), the commonest first, then by text;
        the hosts of further reasons come last, as one number.
    """
    groups = []
    commonest = sorted(refused.items(), key=lambda entry: -len(entry[1]))
    for refusal, hosts in commonest[:NAMED]:
        own = [hosts]
        # The flavor's summary names no aggregate; a demand's summary does.
        if refusal.side is Side.AGGREGATE:
            behind = functools.partial(request.is_behind, refusal)
            own = _by_aggregates(hosts, functools.cache(behind))
        groups += [(refusal, group) for group in own]
    groups.sort(key=lambda entry: -len(entry[1]))
    counts: collections.Counter[str] = collections.Counter()
    for refusal, group in groups[:NAMED]:
        reason = request.explain(refusal, _aggregates(group[0]))
        counts[reason.summary()] += len(group)
    told = sorted(
        ((number, text) for text, number in counts.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )
    rest = sum(map(len, refused.values())) - counts.total()
    return [*told, (rest, 'for other reasons')] if rest else told


def _by_aggregates(
    hosts: Iterable[HostT], counts: Callable[[Any], bool]
) -> list[list[HostT]]:
    """Return hosts in groups with the same aggregates, of those that count."""
    groups: dict[frozenset[Any], list[HostT]] = {}
    for host in hosts:
        own = frozenset(a for a in _aggregates(host) if counts(a))
        groups.setdefault(own, []).append(host)
    return list(groups.values())


def _aggregates(host: Any) -> Sequence[Any]:
    """Return a host's aggregates; none if they cannot be read."""
    try:
        return list(host.aggregates or ())
    except Exception:
        return ()
