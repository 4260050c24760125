# SPDX-License-Identifier: Apache-2.0

"""The log lines about refused hosts: each mismatch with a number of hosts."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any, Final, TypeVar

from nova_filters.matching.inputs import read_aggregate
from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Mismatch, Side

HostT = TypeVar('HostT')

#: How many reasons one log line names.
NAMED: Final = 10


def list_names(host: Any) -> list[str]:
    """Return the sorted names of a host's aggregates.

    :returns: the names, with "?" in place of each unreadable name.
    """
    return sorted(read_aggregate(each).name for each in _read_aggregates(host))


def explain_groups(
    matcher: Matcher, refused: Mapping[Mismatch, list[HostT]]
) -> Iterator[tuple[list[HostT], Mismatch]]:
    """Yield groups of refused hosts, each with its mismatch.

    The hosts of a group have the same aggregates.
    """
    for mismatch, hosts in refused.items():
        groups: dict[frozenset[Any], list[HostT]] = {}
        for host in hosts:
            groups.setdefault(frozenset(_read_aggregates(host)), []).append(
                host
            )
        for aggregates, group in groups.items():
            yield group, matcher.explain(mismatch, aggregates)


def group_hosts(
    matcher: Matcher,
    refused: Mapping[Mismatch, list[HostT]],
    most: int | None = None,
) -> dict[str, list[HostT]]:
    """Return the refused hosts by the summary of their mismatch.

    :param most: how many groups are listed, the largest first; None for all.
    """
    commonest = sorted(refused.items(), key=lambda entry: -len(entry[1]))
    parts = []
    for mismatch, hosts in commonest[:most]:
        for aggregates, part in _split_by_causes(
            matcher, mismatch, hosts
        ).items():
            parts.append((mismatch, aggregates, part))
    parts.sort(key=lambda entry: -len(entry[2]))
    groups: dict[str, list[HostT]] = {}
    for mismatch, aggregates, part in parts[:most]:
        summary = matcher.explain(mismatch, aggregates).summary()
        groups.setdefault(summary, []).extend(part)
    return groups


def _split_by_causes(
    matcher: Matcher, mismatch: Mismatch, hosts: list[HostT]
) -> dict[frozenset[Any], list[HostT]]:
    """Return hosts by the aggregates that the summary of a mismatch names."""
    if mismatch.side is Side.FLAVOR:
        # The summary names no aggregate.
        return {frozenset(): hosts}
    causes = {
        aggregate
        for aggregate in unite_aggregates(hosts)
        if matcher.is_behind(mismatch, aggregate)
    }
    parts: dict[frozenset[Any], list[HostT]] = {}
    for host in hosts:
        causes_of_host = frozenset(causes.intersection(_read_aggregates(host)))
        parts.setdefault(causes_of_host, []).append(host)
    return parts


def count_reasons(groups: Mapping[str, Sized], total: int) -> str:
    """Return the most frequent reasons, each with its number of hosts.

    :param groups: refused hosts, by the summary of their mismatch.
    :param total: the number of all refused hosts. If further reasons or hosts
        are left out, the last part of the text counts these hosts.
    """
    counts = [(len(hosts), summary) for summary, hosts in groups.items()]
    counts.sort(key=lambda count: (-count[0], count[1]))
    counts = counts[:NAMED]
    rest = total - sum(number for number, _ in counts)
    if rest:
        counts.append((rest, 'for other reasons'))
    return ', '.join(f'{number} {summary}' for number, summary in counts)


def unite_aggregates(hosts: Iterable[Any]) -> set[Any]:
    """Return the readable aggregates of some hosts."""
    aggregates: set[Any] = set()
    for host in hosts:
        aggregates.update(_read_aggregates(host))
    return aggregates


def _read_aggregates(host: Any) -> list[Any]:
    """Return a host's aggregates; an empty list if they are unreadable."""
    try:
        return list(host.aggregates or ())
    except Exception:
        return []
