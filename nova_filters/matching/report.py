# SPDX-License-Identifier: Apache-2.0

"""Why hosts are refused: each reason with its hosts."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from nova_filters.matching.matcher import Matcher
from nova_filters.matching.mismatch import Cause, Mismatch, Side

#: How many reasons one log line names.
NAMED: Final = 10


class Reason(NamedTuple):
    """A mismatch, and all hosts that have it."""

    mismatch: Mismatch
    hosts: list[Any]


def list_reasons(matcher: Matcher, refused: Iterable[Any]) -> list[Reason]:
    """Return why hosts are refused.

    A host has one reason for each key that does not match: the first mismatch
    with this key.

    :returns: the reasons, without the values that :func:`explain_reason` adds.
        First come those for the key that refuses most hosts. If it refuses all
        hosts, it is in vain to mend the other keys alone.
    """
    hosts_by_key: dict[str, dict[Mismatch, list[Any]]] = {}
    for aggregates, group in group_hosts(refused).items():
        mismatches: dict[str, Mismatch] = {}
        for mismatch in matcher.list_mismatches(aggregates):
            mismatches.setdefault(mismatch.key, mismatch)
        for key, mismatch in mismatches.items():
            hosts_by_mismatch = hosts_by_key.setdefault(key, {})
            hosts_by_mismatch.setdefault(mismatch, []).extend(group)
    ranked = []
    for key, hosts_by_mismatch in hosts_by_key.items():
        number = sum(map(len, hosts_by_mismatch.values()))
        for mismatch, hosts in hosts_by_mismatch.items():
            rank = (-number, key, -len(hosts), mismatch)
            ranked.append((rank, Reason(mismatch, hosts)))
    return [reason for _, reason in sorted(ranked)]


def explain_reason(matcher: Matcher, reason: Reason) -> Mismatch:
    """Return the mismatch with the values and aggregates of all its hosts."""
    return matcher.explain(reason.mismatch, _unite_aggregates(reason.hosts))


def count_reasons(matcher: Matcher, reasons: Sequence[Reason]) -> str:
    """Return the first reasons, each with its number of hosts."""
    texts = []
    for reason in reasons[:NAMED]:
        texts.append(f'{_summarize(matcher, reason)} ({len(reason.hosts)})')
    rest = len(reasons) - NAMED
    if rest > 0:
        texts.append(f'{rest} more reasons')
    return ', '.join(texts)


def _summarize(matcher: Matcher, reason: Reason) -> str:
    """Return the summary of a reason, and read no more than it needs."""
    mismatch, hosts = reason
    if mismatch.side is Side.FLAVOR:
        return mismatch.summary()
    if mismatch.cause is Cause.DIFFERENT:
        return explain_reason(matcher, reason).summary()
    aggregates = _unite_aggregates(hosts)
    return matcher.name_aggregates(mismatch, aggregates).summary()


def _unite_aggregates(hosts: Iterable[Any]) -> Iterable[Any]:
    """Return the aggregates of hosts, each once."""
    return dict.fromkeys(
        itertools.chain.from_iterable(host.aggregates or () for host in hosts)
    )


def group_hosts(hosts: Iterable[Any]) -> dict[frozenset[Any], list[Any]]:
    """Return hosts by their aggregates."""
    groups: dict[frozenset[Any], list[Any]] = {}
    for host in hosts:
        groups.setdefault(frozenset(host.aggregates or ()), []).append(host)
    return groups
