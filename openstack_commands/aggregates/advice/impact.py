# SPDX-License-Identifier: Apache-2.0

"""Predict the effect of a change on the filter's verdicts.

The module compares the verdicts on the flavors and hosts of now with the
verdicts on the flavors and hosts after the change.
"""

import collections
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Kind, Reason
from openstack_commands.aggregates.advice import inventory
from openstack_commands.aggregates.advice.explanation import (
    Evaluation,
    Verdicts,
)
from os_placement_plugins.quoting import quote

#: Other hosts accept the server now, but no other host would accept the
#: server after the change.
STRANDED: Final = 'stranded'
#: The server's own host accepts the server now, but would refuse it after the
#: change. The server is not stranded.
REFUSED: Final = 'refused'
#: The flavor or the host of the server is not known. The change may affect the
#: server.
UNKNOWN: Final = 'unknown'
GAINS: Final = 'gains'
LOSES: Final = 'loses'
#: One verdict is ``refuse``, the other one is ``error``; see :class:`Effect`.
CHANGES: Final = 'changes'
NEW: Final = 'new'
DELETED: Final = 'deleted'


def _word(refusal: Reason | None) -> str:
    """Return a verdict as one word.

    :param refusal: why the host refuses; None if the host passes.
    """
    if refusal is None:
        return 'pass'
    if refusal.kind is Kind.RAISES:
        return 'error'
    return 'refuse'


class Effect(NamedTuple):
    """What a change does to a flavor on some hosts, or to a running server.

    The fields are the columns of the command's table.

    :param noun: ``flavor`` or ``server``.
    :param name: the name of the flavor or of the server.
    :param hosts: the hosts that have the same verdicts for the same reason;
        for a server, its own host.
    :param before: the verdict now: ``pass``, ``refuse``, or ``error`` if the
        in-tree filter ends the request with an error; empty if not judged.
    :param after: the verdict after the change.
    :param elsewhere_before: how many other hosts that are up accept the server
        now; empty for a flavor.
    :param elsewhere_after: how many other hosts that are up accept the server
        after the change.
    :param id: the ID of the server; empty for a flavor.
    :param flavor: the name of the flavor.
    :param effect: one of the constants above.
    :param reason: why the hosts refuse after the change, or what makes the
        hosts pass. If only other hosts newly refuse a server, the reason of
        one of these hosts. If the effect is unknown, what is not known.
    """

    noun: str
    name: str
    hosts: tuple[str, ...]
    before: str
    after: str
    elsewhere_before: int | str = ''
    elsewhere_after: int | str = ''
    id: str = ''
    flavor: str = ''
    effect: str = ''
    reason: str = ''


def flips(before: Evaluation, after: Evaluation) -> Iterator[Effect]:
    """Yield the verdicts that change, by flavor and reason.

    If only the reason for a verdict changes, the verdict is left out. For a
    flavor that exists only before or only after the change, the hosts that
    pass are listed.
    """
    flavors_before = {flavor.name: flavor for flavor in before.stock.flavors}
    flavors_after = {flavor.name: flavor for flavor in after.stock.flavors}
    # Judge one flavor at a time, because the verdicts on all flavors together
    # would take much memory.
    for name in {**flavors_before, **flavors_after}:
        if name not in flavors_after:
            yield _lone(before.judge(flavors_before[name]), DELETED)
        elif name not in flavors_before:
            yield _lone(after.judge(flavors_after[name]), NEW)
        else:
            old = before.judge(flavors_before[name])
            new = after.judge(flavors_after[name])
            yield from _flips(old, new)


def _lone(verdicts: Verdicts, effect: str) -> Effect:
    """Return the effect on a flavor that is new or deleted."""
    flavor = verdicts.flavor.name
    hosts = tuple(host.name for host in verdicts.passed)
    before = after = ''
    if effect == DELETED:
        before = 'pass'
    else:
        after = 'pass'
    return Effect(
        noun='flavor',
        name=flavor,
        hosts=hosts,
        before=before,
        after=after,
        flavor=flavor,
        effect=effect,
        reason=f'{len(hosts)} of {len(verdicts.evaluation.hosts)} hosts pass',
    )


def _flips(before: Verdicts, after: Verdicts) -> Iterator[Effect]:
    """Yield the effects of a change on one flavor."""
    flavor = before.flavor.name
    groups: dict[tuple[Reason | None, Reason | None], list[str]] = {}
    for host in before.evaluation.hosts:
        refusals = before.first.get(host.name), after.first.get(host.name)
        if _word(refusals[0]) != _word(refusals[1]):
            groups.setdefault(refusals, []).append(host.name)
    for (refusal_before, refusal_after), hosts in groups.items():
        if refusal_after:
            reason = after.why(refusal_after, hosts)
        elif refusal_before:
            reason = _why_open(before, after, refusal_before, hosts)
        yield Effect(
            noun='flavor',
            name=flavor,
            hosts=tuple(hosts),
            before=_word(refusal_before),
            after=_word(refusal_after),
            flavor=flavor,
            effect=_effect(refusal_before, refusal_after),
            reason=reason,
        )


def _effect(
    refusal_before: Reason | None, refusal_after: Reason | None
) -> str:
    """Return the effect on a flavor if the verdicts before and after differ.

    :param refusal_before: why the hosts refuse now; None if they pass.
    :param refusal_after: why the hosts refuse after the change; None if they
        pass.
    """
    if not refusal_after:
        return GAINS
    if refusal_before:
        return CHANGES
    return LOSES


def _why_open(
    before: Verdicts, after: Verdicts, refusal: Reason, hosts: Sequence[str]
) -> str:
    """Return why hosts pass after the change, and why they refused before."""
    lines_before = _statements(before, refusal.key, hosts)
    lines_after = _statements(after, refusal.key, hosts)
    texts = sorted(lines_after - lines_before)
    if not texts:
        gone = sorted(lines_before - lines_after)
        texts = [f'no longer: {text}' for text in gone]
    texts.append(f'before: {before.why(refusal, hosts)}')
    return '; '.join(texts)


def _statements(
    verdicts: Verdicts, key: str, hosts: Iterable[str]
) -> set[str]:
    """Return sentences with the values of a key in flavor and aggregates."""
    statements = set()
    for name, text in verdicts.flavor.extra_specs.items():
        if name.removeprefix(SCOPE) == key:
            statements.add(f'the flavor asks for {quote(key)}: {quote(text)}')
    for aggregate in verdicts.aggregates_of(hosts):
        verb = 'demands' if aggregate.forced else 'has'
        owner = f'aggregate {quote(aggregate.name)} {verb} {quote(key)}'
        for name, text in aggregate.items():
            if name == key:
                statements.add(f'{owner}: {quote(text)}')
    return statements


def moves(
    before: Evaluation, after: Evaluation, servers: Iterable[inventory.Server]
) -> Iterator[Effect]:
    """Yield the servers that are stranded or refused after a change.

    A server has its own copy of the flavor, so a change of the flavor does not
    affect the server. For a rebuild, Nova does not check the server's own host
    again. For an evacuation, a migration or an unshelving, Nova checks every
    host. Nova does not schedule a failed server again, so failed servers are
    left out.

    :returns: at most one effect per server, sorted by name. If the flavor or
        the host of a server is not known, and the change may affect the
        server, the effect is ``unknown``.
    """
    hosts = {host.name for host in after.hosts}
    for server in sorted(servers, key=lambda s: (s.name, s.id)):
        if server.failed:
            continue
        effect = Effect(
            noun='server',
            name=server.name,
            hosts=(server.host,) if server.host else (),
            before='',
            after='',
            id=server.id,
            flavor=server.flavor_name,
            effect=UNKNOWN,
        )
        if server.flavor is None:
            reason = 'Nova does not show its flavor: its cell may be down'
            yield effect._replace(reason=reason)
            continue
        verdicts_before = before.of_specs(server.specs)
        verdicts_after = after.of_specs(server.specs)
        # If the host is empty, the server is on no host, because it is
        # shelved, for example.
        if server.host == '' or server.host in hosts:
            yield from _moves(
                effect, server.host, verdicts_before, verdicts_after
            )
        elif verdicts_before.first.keys() != verdicts_after.first.keys():
            reason = 'Nova does not show its host'
            if server.host:
                reason = (
                    f'its host {quote(server.host)} is not among the hosts'
                )
            yield effect._replace(reason=reason)


def _moves(
    effect: Effect, host: str, before: Verdicts, after: Verdicts
) -> Iterator[Effect]:
    """Yield the effect, if any, on a server whose flavor and host are known.

    :param effect: the effect, without the fields that depend on the verdicts.
    :param host: the server's own host; empty if the server is on no host.
    """
    passes_before = host not in before.first
    passes_after = host not in after.first
    others_before = before.takers - {host}
    others_after = after.takers - {host}
    stranded = bool(others_before) and not others_after
    newly_refused = passes_before and not passes_after
    if stranded or newly_refused:
        # If the server's own host gives no new reason, show the reason of a
        # host that accepted the server before the change.
        if newly_refused:
            reason = after.why(after.first[host], [host])
        else:
            taker = min(others_before)
            reason = after.why(after.first[taker], [taker])
            reason = f'{taker}: {reason}'
        yield effect._replace(
            before='pass' if passes_before else 'refuse',
            after='pass' if passes_after else 'refuse',
            elsewhere_before=len(others_before),
            elsewhere_after=len(others_after),
            effect=STRANDED if stranded else REFUSED,
            reason=reason,
        )


def sentence(effects: Collection[Effect]) -> str:
    """Return a sentence that counts flavors and servers by effect.

    :param effects: the results of :func:`flips` and :func:`moves`.
    """
    sentences = []
    for noun in ('flavor', 'server'):
        # A flavor can have several rows with the same effect, but counts only
        # once.
        objects = {(e.effect, e.name, e.id) for e in effects if e.noun == noun}
        counts = collections.Counter(effect for effect, *_ in objects)
        words = [f'{name} {number}' for name, number in sorted(counts.items())]
        text = ', '.join(words) or 'none'
        sentences.append(f'{noun.capitalize()}s by effect: {text}.')
    return ' '.join(sentences)
