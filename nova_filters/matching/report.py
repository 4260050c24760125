# SPDX-License-Identifier: Apache-2.0

"""What the log says about refused hosts: each reason once, with a number."""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from nova_filters.matching.reason import Reason, Refusal, Side
from nova_filters.matching.request import Request, name_of

HostT = TypeVar('HostT')

#: How many sets of aggregates with the same kind of demand are named.
EXPLAINED: Final = 10


def names(host: Any) -> list[str]:
    """Return the names of a host's aggregates, sorted; "?" if unreadable."""
    return sorted(map(name_of, _aggregates(host)))


def explain(
    request: Request, refused: Mapping[Refusal, list[HostT]]
) -> Iterator[tuple[list[HostT], Reason]]:
    """Yield refused hosts in the same aggregates, and why.

    :param request: the request that has judged the hosts.
    :param refused: the refused hosts, by the first reason.
    """
    for refusal, hosts in refused.items():
        for group in _by_aggregates(hosts):
            yield group, request.explain(refusal, _aggregates(group[0]))


def summarize(
    request: Request, refused: Mapping[Refusal, list[Any]]
) -> list[tuple[int, str]]:
    """Count refused hosts by the summary of their reason.

    :param request: the request that has judged the hosts.
    :param refused: the refused hosts, by the first reason.
    :returns: (number of hosts, summary), the commonest first, then by text.
    """
    counts: collections.Counter[str] = collections.Counter()
    for refusal, hosts in refused.items():
        groups = [hosts]
        # The flavor's summary names no aggregate; a demand's summary does.
        if refusal.side is Side.AGGREGATE:
            groups = sorted(_by_aggregates(hosts), key=len, reverse=True)
        for group in groups[:EXPLAINED]:
            reason = request.explain(refusal, _aggregates(group[0]))
            counts[reason.summary()] += len(group)
        rest = sum(map(len, groups[EXPLAINED:]))
        if rest:
            counts['demands of further aggregates'] += rest
    return sorted(
        ((number, text) for text, number in counts.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )


def _by_aggregates(hosts: Iterable[HostT]) -> list[list[HostT]]:
    """Return hosts in groups with the same aggregates."""
    groups: dict[frozenset[int], list[HostT]] = {}
    for host in hosts:
        groups.setdefault(frozenset(map(id, _aggregates(host))), []).append(
            host
        )
    return list(groups.values())


def _aggregates(host: Any) -> Sequence[Any]:
    """Return a host's aggregates; none if they cannot be read."""
    try:
        return list(host.aggregates or ())
    except Exception:
        return ()
