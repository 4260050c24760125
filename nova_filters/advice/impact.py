# SPDX-License-Identifier: Apache-2.0

"""What a change would do to the filter's verdicts, before it is made.

Two situations are compared: flavors and hosts now, and after the change.
"""

import collections
import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from nova_filters.advice import in_tree, inventory
from nova_filters.matching import inputs
from nova_filters.matching.inputs import SCOPE
from nova_filters.matching.reason import Reason, quote_all
from nova_filters.matching.request import Request
from os_placement_plugins.quoting import quote

#: Extra specs as key and value pairs, in the order of the flavor.
Specs = tuple[tuple[str, str], ...]
#: Judge a host in these aggregates; None if the host passes.
Judge = Callable[[Specs, tuple[inputs.Aggregate, ...]], Reason | None]

#: A server that other hosts take now, and none after the change.
STRANDED: Final = 'stranded'
#: A server that its own host would refuse, and another host would take.
REFUSED: Final = 'refused'
GAINS: Final = 'gains'
LOSES: Final = 'loses'
#: One of the verdicts is ``error``, and none is ``pass``.
CHANGES: Final = 'changes'


@dataclasses.dataclass(frozen=True, slots=True)
class Situation:
    """Flavors and hosts, and the filter that judges them.

    :param flavors: extra specs by the flavor's name.
    """

    flavors: Mapping[str, Mapping[str, str]]
    hosts: inventory.Hosts
    judge: Judge

    def host(self, name: str) -> inventory.Host:
        """Return a host; one that only the other situation has is bare."""
        return self.hosts.get(name) or inventory.Host(name)

    def refusal(self, specs: Specs, host: str) -> Reason | None:
        """Return why a host refuses; None if the host passes."""
        return self.judge(specs, self.host(host).aggregates)


class Effect(NamedTuple):
    """What a change does to a flavor on a host, or to a running server.

    The fields are the columns of the command's table.

    :param noun: ``flavor`` or ``server``.
    :param name: the name of the flavor or of the server.
    :param host: the host; a server's own host, empty if it has none.
    :param before: the host's verdict now: ``pass``, ``refuse``, or ``error``
        if the in-tree filter ends the request with an error.
    :param after: the host's verdict after the change.
    :param elsewhere_before: how many other hosts take the server now, those
        that are disabled or down left out; empty for a flavor.
    :param elsewhere_after: how many other hosts take it after the change.
    :param id: the ID of the server; empty for a flavor.
    :param flavor: the name of the flavor.
    :param effect: one of the constants above.
    :param reason: why the host, or the first of the other hosts, refuses; if
        the host passes after the change, what has changed.
    """

    noun: str
    name: str
    host: str
    before: str
    after: str
    elsewhere_before: int | str
    elsewhere_after: int | str
    id: str
    flavor: str
    effect: str
    reason: str


def judge_with(exempt: inputs.Exempt) -> Judge:
    """Return the verdict of AggregateInstanceTypeFilter as a function."""

    @functools.cache
    def request(specs: Specs) -> Request:
        return Request(inputs.read_flavor(dict(specs)), exempt)

    @functools.cache
    def judge(
        specs: Specs, aggregates: tuple[inputs.Aggregate, ...]
    ) -> Reason | None:
        return next(request(specs).reasons(aggregates), None)

    return judge


#: The verdict of Nova's AggregateInstanceExtraSpecsFilter.
IN_TREE: Final[Judge] = functools.cache(in_tree.refusal)


def _concerned(before: Situation, after: Situation) -> list[str]:
    """Return the hosts that a change reaches; few, in a large cloud."""
    return [
        host
        for host in sorted({*before.hosts, *after.hosts})
        if before.judge is not after.judge
        or before.host(host).aggregates != after.host(host).aggregates
    ]


def flips(before: Situation, after: Situation) -> list[Effect]:
    """Return the verdicts that change.

    :returns: for the flavors that are in both, by flavor and host. A verdict
        that stays for another reason is left out.
    """
    found = []
    hosts = sorted({*before.hosts, *after.hosts})
    concerned = _concerned(before, after)
    for flavor in before.flavors:
        if flavor not in after.flavors:
            continue
        specs = tuple(before.flavors[flavor].items())
        changed = tuple(after.flavors[flavor].items())
        for host in concerned if specs == changed else hosts:
            old = before.refusal(specs, host)
            new = after.refusal(changed, host)
            words = _word(old), _word(new)
            if words[0] == words[1]:
                continue
            effect = CHANGES if old and new else LOSES if new else GAINS
            reason = str(new or '')
            if old and not new:
                news = [
                    *_news_of_flavor(old.key, specs, changed),
                    *_news_of_host(old.key, host, before, after),
                    f'before: {old}',
                ]
                reason = '; '.join(news)
            row = 'flavor', flavor, host, *words, '', '', ''
            found.append(Effect(*row, flavor, effect, reason))
    return found


def _news_of_flavor(key: str, before: Specs, after: Specs) -> Iterator[str]:
    """Yield what a flavor says on a key after the change."""
    old, new = (
        [text for name, text in specs if name.removeprefix(SCOPE) == key]
        for specs in (before, after)
    )
    if old != new:
        asks = f'asks for {quote(key)}: {quote_all(new)}'
        yield f'the flavor {asks if new else f"has no {quote(key)}"}'


def _news_of_host(
    key: str, host: str, before: Situation, after: Situation
) -> Iterator[str]:
    """Yield what the aggregates of a host say on a key after the change."""
    old, new = (
        {
            (aggregate.name, aggregate.forced, str(text))
            for aggregate in situation.host(host).aggregates
            for own, text in aggregate.items()
            if own == key
        }
        for situation in (before, after)
    )
    for name, forced, text in sorted(new - old):
        verb = 'demands' if forced else 'has'
        yield f'aggregate {quote(name)} {verb} {quote(key)}: {quote(text)}'
    if old and not new:
        yield f'no aggregate has {quote(key)}'


def moves(
    before: Situation,
    after: Situation,
    servers: Iterable[inventory.Server],
) -> list[Effect]:
    """Return the servers that a change strands, or whose host refuses then.

    A server carries its own copy of the flavor, so a change of the flavor
    does not reach the server. A rebuild does not ask the server's own host
    again; an evacuation, a migration or an unshelving asks every host.

    :returns: one entry per server, by name.
    """
    hosts = {*before.hosts, *after.hosts}
    concerned = {*_concerned(before, after)}

    def passing(
        situation: Situation, specs: Specs, hosts: Iterable[str]
    ) -> set[str]:
        return {
            host
            for host in hosts
            if situation.host(host).usable
            and not situation.refusal(specs, host)
        }

    @functools.cache
    def takers(specs: Specs) -> tuple[set[str], set[str]]:
        now = passing(before, specs, hosts)
        return now, now - concerned | passing(after, specs, concerned)

    found = []
    for server in sorted(servers, key=lambda s: (s.name, s.id)):
        own, specs = server.host, tuple(server.flavor.extra_specs.items())
        # A host that is not shown cannot be judged.
        old = before.refusal(specs, own) if own else None
        new = after.refusal(specs, own) if own else None
        now, then = (len(those) - (own in those) for those in takers(specs))
        stranded = bool(now) and not then
        if not stranded and (old or not new):
            continue
        reason = str(new)
        if old or not new:
            # Its own host says nothing new; a host that took the server does.
            lost = min(takers(specs)[0] - {own})
            reason = f'{lost}: {after.refusal(specs, lost)}'
        found.append(
            Effect(
                *('server', server.name, own, _word(old), _word(new)),
                *(now, then, server.id, server.flavor.name),
                STRANDED if stranded else REFUSED,
                reason,
            )
        )
    return found


def sentence(effects: Collection[Effect]) -> str:
    """Tell what a change does, in numbers.

    :param effects: the results of :func:`flips` and :func:`moves`.
    """
    if not effects:
        return 'No verdict changes.'
    flavors = {(e.effect, e.name) for e in effects if e.noun == 'flavor'}
    numbers = collections.Counter(effect for effect, _ in flavors)
    numbers.update(e.effect for e in effects if e.noun == 'server')
    return (
        f'Flavors that lose hosts: {numbers[LOSES]}, that gain hosts: '
        f'{numbers[GAINS]}. Servers that are stranded: {numbers[STRANDED]}, '
        f'refused by their own hosts: {numbers[REFUSED]}.'
    )


def _word(reason: Reason | None) -> str:
    """Return a verdict as one word."""
    if reason is None:
        return 'pass'
    return 'error' if reason.problem == in_tree.RAISES else 'refuse'
