# SPDX-License-Identifier: Apache-2.0

"""What the log says about refused hosts: each reason once, with a number.

Pure. The reasons come from the evaluator, :mod:`nova_filters.decision`.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from nova_filters import decision, matching
from nova_filters.request import Request, name_of

HostT = TypeVar('HostT')

#: How many sets of aggregates that demand alike are named one by one.
EXPLAINED: Final = 10


def names(host: Any) -> list[str]:
    """Return the names of a host's aggregates, sorted.

    :param host: the host.
    :returns: the names, for a log line; "?" for one that cannot be read.
    """
    return sorted(map(name_of, _of(host)))


def by_aggregates(hosts: Iterable[HostT]) -> list[list[HostT]]:
    """Return hosts in groups that are in the same aggregates.

    :param hosts: the hosts.
    :returns: the groups, in the order of their first hosts.
    """
    groups: dict[frozenset[int], list[HostT]] = {}
    for host in hosts:
        groups.setdefault(frozenset(map(id, _of(host))), []).append(host)
    return list(groups.values())


def explain(
    request: Request, refused: Mapping[decision.Refusal, list[HostT]]
) -> Iterator[tuple[list[HostT], matching.Reason]]:
    """Say why hosts are refused.

    :param request: what has refused the hosts.
    :param refused: :attr:`nova_filters.request.Sifted.refused`.
    :returns: hosts in the same aggregates that are refused alike, and why.
    """
    for refusal, hosts in refused.items():
        for group in by_aggregates(hosts):
            yield group, request.describe(refusal, _of(group[0]))


def summarize(
    request: Request, refused: Mapping[decision.Refusal, list[Any]]
) -> list[tuple[int, str]]:
    """Count refused hosts by the summary of their reason.

    :param request: what has refused the hosts.
    :param refused: :attr:`nova_filters.request.Sifted.refused`.
    :returns: (number of hosts, summary), the commonest first, then by text.
    """
    counts: collections.Counter[str] = collections.Counter()
    for refusal, hosts in refused.items():
        if refusal.side is matching.Side.FLAVOR:
            # Its summary names no aggregate.
            counts[request.describe(refusal, ()).summary()] += len(hosts)
            continue
        # Aggregates of different names may demand alike.
        groups = sorted(by_aggregates(hosts), key=len, reverse=True)
        for group in groups[:EXPLAINED]:
            reason = request.describe(refusal, _of(group[0]))
            counts[reason.summary()] += len(group)
        rest = sum(map(len, groups[EXPLAINED:]))
        if rest:
            counts['demands of further aggregates'] += rest
    return sorted(
        ((number, text) for text, number in counts.items()),
        key=lambda entry: (-entry[0], entry[1]),
    )


def _of(host: Any) -> Sequence[Any]:
    """Return a host's aggregates; none if they cannot be read."""
    try:
        return list(host.aggregates or ())
    except Exception:
        return ()
