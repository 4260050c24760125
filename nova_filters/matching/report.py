# SPDX-License-Identifier: Apache-2.0

"""The log lines about refused hosts: each reason with a number of hosts."""

import collections
import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

from nova_filters.matching.inputs import Aggregate, read_aggregate
from nova_filters.matching.reason import Kind, Reason, Side
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote

HostT = TypeVar('HostT')

#: How many reasons one log line names.
NAMED: Final = 10


def names(host: Any) -> list[str]:
    """Return the sorted names of a host's aggregates.

    :returns: the names, with "?" in place of each unreadable name.
    """
    return sorted(
        read_aggregate(aggregate).name for aggregate in _aggregates(host)
    )


def problems(
    request: Request, refused: Mapping[Reason, list[Any]]
) -> list[str]:
    """Return one sentence for each malformed or unreadable value.

    A malformed value of an aggregate, or of an optional extra spec, is listed
    only if a host is refused because of the key.

    :param request: the request that has judged the hosts.
    :param refused: the refused hosts, grouped by the first reason to refuse
        each host.
    """
    sentences = set(request.problems)
    refusing = {(refusal.key, refusal.accepted_values) for refusal in refused}
    for key, optional, requirement in request.flavor:
        if not requirement.problem:
            continue
        # An optional extra spec may be meant for another program.
        if not optional or (key, (requirement.text,)) in refusing:
            sentences.add(
                f'the flavor has {quote(key)}: {requirement.problem}'
            )
    for refusal, hosts in refused.items():
        # If the flavor lacks the key, the malformed value is not the cause.
        if not refusal.malformed or refusal.kind is Kind.MISSING:
            continue
        aggregates: set[Any] = set()
        for host in hosts:
            aggregates.update(_aggregates(host))
        for aggregate in aggregates:
            sentences.update(
                _problems_of(read_aggregate(aggregate), refusal.key)
            )
    return sorted(sentences)


def _problems_of(aggregate: Aggregate, key: str) -> Iterator[str]:
    """Yield the problems in the values of an aggregate for a key."""
    for piece in aggregate.pieces(key):
        if piece.problem:
            yield (
                f'aggregate {quote(aggregate.name)} has {quote(key)}: '
                f'{piece.problem}'
            )


def explain(
    request: Request, refused: Mapping[Reason, list[HostT]]
) -> Iterator[tuple[list[HostT], Reason]]:
    """Yield groups of refused hosts, each with its reason.

    The hosts of a group have the same aggregates.
    """
    for refusal, hosts in refused.items():
        groups: dict[frozenset[Any], list[HostT]] = {}
        for host in hosts:
            groups.setdefault(frozenset(_aggregates(host)), []).append(host)
        for aggregates, group in groups.items():
            yield group, request.explain(refusal, aggregates)


def summarize(
    request: Request, refused: Mapping[Reason, list[Any]]
) -> list[tuple[int, str]]:
    """Count refused hosts by the summary of their reason.

    :returns: pairs of a number of hosts and a summary, the largest number
        first. Only the most frequent reasons are listed. If there are more
        reasons, the last pair counts the other hosts.
    """
    counts: collections.Counter[Any] = collections.Counter()
    commonest = sorted(refused.items(), key=lambda entry: -len(entry[1]))
    for refusal, hosts in commonest[:NAMED]:
        if refusal.side is Side.FLAVOR:
            counts[refusal, frozenset[Any]()] = len(hosts)
            continue
        is_behind = functools.cache(
            functools.partial(request.is_behind, refusal)
        )
        for host in hosts:
            behind = filter(is_behind, _aggregates(host))
            counts[refusal, frozenset(behind)] += 1
    numbers: collections.Counter[str] = collections.Counter()
    for (refusal, behind), number in counts.most_common(NAMED):
        numbers[request.explain(refusal, behind).summary()] += number
    lines = [(number, summary) for summary, number in numbers.items()]
    lines.sort(key=lambda line: (-line[0], line[1]))
    rest = sum(map(len, refused.values())) - numbers.total()
    if rest:
        lines.append((rest, 'for other reasons'))
    return lines


def _aggregates(host: Any) -> list[Any]:
    """Return a host's aggregates; an empty list if they are unreadable."""
    try:
        return list(host.aggregates or ())
    except Exception:
        return []
