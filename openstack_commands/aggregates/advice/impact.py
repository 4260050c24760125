# SPDX-License-Identifier: Apache-2.0

"""What a change would do to the filter's verdicts, before it is made.

Two panels are compared: flavors and hosts now, and after the change.
"""

import collections
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Kind, Reason
from openstack_commands.aggregates.advice import inventory
from openstack_commands.aggregates.advice.explanation import Panel, Verdicts
from os_placement_plugins.quoting import quote

#: A server that other hosts take now, and none after the change.
STRANDED: Final = 'stranded'
#: A server that its own host would refuse, and another host would take.
REFUSED: Final = 'refused'
#: A server that the change reaches, and of which Nova shows too little.
UNKNOWN: Final = 'unknown'
GAINS: Final = 'gains'
LOSES: Final = 'loses'
#: One of the verdicts is ``error``, and none is ``pass``.
CHANGES: Final = 'changes'
NEW: Final = 'new'
DELETED: Final = 'deleted'


def _word(refusal: Reason | None) -> str:
    """Return a verdict as one word."""
    if refusal is None:
        return 'pass'
    return 'error' if refusal.kind is Kind.RAISES else 'refuse'


class Effect(NamedTuple):
    """What a change does to a flavor on some hosts, or to a running server.

    The fields are the columns of the command's table.

    :param noun: ``flavor`` or ``server``.
    :param name: the name of the flavor or of the server.
    :param hosts: the hosts with the same verdicts for the same reason; a
        server's own host, if it has one.
    :param before: the verdict now: ``pass``, ``refuse``, or ``error`` if the
        in-tree filter ends the request with an error; empty if not judged.
    :param after: the verdict after the change.
    :param elsewhere_before: how many other hosts take the server now, those
        that are not up left out; empty for a flavor.
    :param elsewhere_after: how many other hosts take it after the change.
    :param id: the ID of the server; empty for a flavor.
    :param flavor: the name of the flavor.
    :param effect: one of the constants above.
    :param reason: why the hosts, or the first of the other hosts, refuse; if
        the hosts pass after the change, what has changed.
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


def flips(before: Panel, after: Panel) -> Iterator[Effect]:
    """Yield the verdicts that change, by flavor and reason.

    A verdict that stays for another reason is left out. A flavor that only
    one side has is told with the hosts that pass there.
    """
    flavors_before = {flavor.name: flavor for flavor in before.stock.flavors}
    flavors_after = {flavor.name: flavor for flavor in after.stock.flavors}
    # One after the other: verdicts on all of them are many.
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
    """Return the effect on a flavor that only one side has."""
    flavor = verdicts.flavor.name
    hosts = tuple(host.name for host in verdicts.passed)
    return Effect(
        noun='flavor',
        name=flavor,
        hosts=hosts,
        before='pass' if effect == DELETED else '',
        after='pass' if effect == NEW else '',
        flavor=flavor,
        effect=effect,
        reason=f'{len(hosts)} of {len(verdicts.panel.hosts)} hosts pass',
    )


def _flips(old: Verdicts, new: Verdicts) -> Iterator[Effect]:
    """Yield what changes for one flavor."""
    groups: dict[tuple[Reason | None, Reason | None], list[str]] = {}
    for host in old.panel.hosts:
        pair = old.first.get(host.name), new.first.get(host.name)
        if _word(pair[0]) != _word(pair[1]):
            groups.setdefault(pair, []).append(host.name)
    for (then, now), own in groups.items():
        reason = new.why(now, own) if now else ''
        if then and not now:
            said, says = (_said(then.key, own, side) for side in (old, new))
            news = sorted(says - said)
            if not news:
                news = [f'no longer: {text}' for text in sorted(said - says)]
            reason = '; '.join([*news, f'before: {old.why(then, own)}'])
        words = _word(then), _word(now)
        yield Effect(
            'flavor',
            old.flavor.name,
            tuple(own),
            *words,
            flavor=old.flavor.name,
            effect=CHANGES if then and now else LOSES if now else GAINS,
            reason=reason,
        )


def _said(key: str, names: Iterable[str], verdicts: Verdicts) -> set[str]:
    """Return what a flavor and the aggregates of hosts say of a key."""
    told = {
        f'the flavor asks for {quote(key)}: {quote(text)}'
        for name, text in verdicts.flavor.extra_specs.items()
        if name.removeprefix(SCOPE) == key
    }
    for aggregate in verdicts.aggregates_of(names):
        verb = 'demands' if aggregate.forced else 'has'
        owner = f'aggregate {quote(aggregate.name)} {verb} {quote(key)}'
        for own, text in aggregate.items():
            told |= {f'{owner}: {quote(text)}'} if own == key else set()
    return told


def moves(
    before: Panel, after: Panel, servers: Iterable[inventory.Server]
) -> Iterator[Effect]:
    """Yield the servers that a change strands, or whose host refuses then.

    A server carries its own copy of the flavor, so a change of the flavor
    does not reach the server. A rebuild does not ask the server's own host
    again; an evacuation, a migration or an unshelving asks every host. A
    server whose boot has failed asks no host again, so it is left out.

    :returns: one entry per server, by name. A server whose flavor or own host
        is not known, and which the change may reach, is ``unknown``: its own
        host would count as another one.
    """
    hosts = {host.name for host in after.hosts}

    for server in sorted(servers, key=lambda s: (s.name, s.id)):
        if server.failed:
            continue
        own = server.host
        found = Effect(
            'server',
            server.name,
            (own,) if own else (),
            '',
            '',
            id=server.id,
            flavor=server.flavor_name,
            effect=UNKNOWN,
            reason='Nova does not show its flavor: its cell may be down',
        )
        if server.flavor is None:
            yield found
            continue
        then, now = (one.of_specs(server.specs) for one in (before, after))
        if own is None or own and own not in hosts:
            if then.first.keys() != now.first.keys():
                reason = 'Nova does not show its host'
                if own:
                    reason = f'its host {quote(own)} is not among the hosts'
                yield found._replace(reason=reason)
            continue
        old, new = own not in then.first, own not in now.first
        others, rest = len(then.takers - {own}), len(now.takers - {own})
        stranded = others and not rest
        if not stranded and (not old or new):
            continue
        # If its own host says nothing new, a host that took the server does.
        telling = own if old and not new else min(then.takers - {own})
        reason = now.why(now.first[telling], [telling])
        yield found._replace(
            before='pass' if old else 'refuse',
            after='pass' if new else 'refuse',
            elsewhere_before=others,
            elsewhere_after=rest,
            effect=STRANDED if stranded else REFUSED,
            reason=reason if telling == own else f'{telling}: {reason}',
        )


def sentence(effects: Collection[Effect]) -> str:
    """Count flavors and servers by the effect on them.

    :param effects: the results of :func:`flips` and :func:`moves`.
    """
    told = []
    for noun in ('flavor', 'server'):
        found = {(e.effect, e.name, e.id) for e in effects if e.noun == noun}
        counts = collections.Counter(effect for effect, *_ in found)
        words = ', '.join(f'{name} {n}' for name, n in sorted(counts.items()))
        told.append(f'{noun.capitalize()}s by effect: {words or "none"}.')
    return ' '.join(told)
