# SPDX-License-Identifier: Apache-2.0

"""What a change would do to the filter's verdicts, before it is made.

Two situations are compared: flavors and hosts now, and after the change.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from nova_filters.advice import in_tree, inventory
from nova_filters.matching import inputs
from nova_filters.matching.reason import Reason
from nova_filters.matching.request import Request

#: Extra specs as key and value pairs, in the order of the flavor.
Specs = tuple[tuple[str, str], ...]
#: Judge a host in these aggregates; None if the host passes.
Judge = Callable[[Specs, tuple[inputs.Aggregate, ...]], Reason | None]
#: Key and value pairs of each changed object, by its name.
Properties = Mapping[str, Mapping[str, str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Situation:
    """Flavors and hosts, and the filter that judges them.

    :param flavors: extra specs by the flavor's name.
    :param hosts: the hosts.
    :param judge: the filter.
    """

    flavors: Properties
    hosts: inventory.Hosts
    judge: Judge

    def refusal(self, specs: Specs, host: str) -> Reason | None:
        """Return why a host refuses; None if the host passes."""
        own = self.hosts.get(host)
        return self.judge(specs, own.aggregates if own else ())


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """What a change does to a flavor on a host, or to a running server.

    The fields are the columns of the command's table.

    :param noun: ``flavor`` or ``server``.
    :param name: the name of the flavor or of the server.
    :param host: the host; a server's own host, empty if it has none.
    :param before: the host's verdict now: ``pass``, ``refuse``, or ``error``
        if the in-tree filter ends the request with an error.
    :param after: the host's verdict after the change.
    :param elsewhere_before: how many other hosts take the server now; empty
        for a flavor.
    :param elsewhere_after: how many other hosts take it after the change.
    :param reason: why the host, or the first of the other hosts, refuses.
    """

    noun: str
    name: str
    host: str
    before: str
    after: str
    elsewhere_before: int | str = ''
    elsewhere_after: int | str = ''
    reason: str = ''


def judge_with(exempt: tuple[str, ...]) -> Judge:
    """Return the verdict of AggregateInstanceTypeFilter as a function.

    :param exempt: patterns of keys that no aggregate may demand.
    """

    @functools.cache
    def judge(
        specs: Specs, aggregates: tuple[inputs.Aggregate, ...]
    ) -> Reason | None:
        flavor = inputs.read_flavor(dict(specs))
        return next(Request(flavor, exempt).reasons(aggregates), None)

    return judge


#: The verdict of Nova's AggregateInstanceExtraSpecsFilter.
IN_TREE: Final[Judge] = functools.cache(in_tree.refusal)


def change(
    properties: Properties,
    assign: Sequence[tuple[str, str, str]],
    remove: Sequence[tuple[str, str]],
    noun: str,
) -> dict[str, dict[str, str]]:
    """Return properties with some keys set or removed.

    :param properties: extra specs by flavor, or metadata by aggregate.
    :param assign: (name, key, value).
    :param remove: (name, key).
    :param noun: ``flavor`` or ``aggregate``, for the errors.
    :returns: a changed copy.
    :raises UnreadableError: if a name or a key to remove is unknown.
    """
    found = {name: dict(data) for name, data in properties.items()}

    for name, *_ in (*assign, *remove):
        if name not in found:
            raise inventory.UnreadableError(f'no {noun} has the name {name!r}')
    for name, key, value in assign:
        found[name][key] = value
    for name, key in remove:
        if key not in found[name]:
            raise inventory.UnreadableError(
                f'{noun} {name!r} has no key {key!r} to remove'
            )
        del found[name][key]
    return found


def flips(before: Situation, after: Situation) -> list[Effect]:
    """Return the verdicts that change.

    :param before: the situation now.
    :param after: the situation after the change.
    :returns: for the flavors that are in both, by flavor and host. A verdict
        that stays for another reason is left out.
    """
    found = []
    for flavor in before.flavors:
        if flavor not in after.flavors:
            continue
        specs = tuple(before.flavors[flavor].items())
        changed = tuple(after.flavors[flavor].items())
        for host in sorted({*before.hosts, *after.hosts}):
            old = before.refusal(specs, host)
            new = after.refusal(changed, host)
            words = _word(old), _word(new)
            if words[0] != words[1]:
                reason = str(new or old)
                found.append(
                    Effect('flavor', flavor, host, *words, reason=reason)
                )
    return found


def moves(
    before: Situation,
    after: Situation,
    servers: Iterable[inventory.Server],
) -> list[Effect]:
    """Return the servers that a change strands, or whose host refuses then.

    A server carries its own copy of the flavor, so a change of the flavor
    does not reach the server. A rebuild does not ask the server's own host
    again; an evacuation, a migration or an unshelving asks every host.

    :param before: the situation now.
    :param after: the situation after the change.
    :param servers: the running servers.
    :returns: one entry per server, by name.
    """
    hosts = sorted({*before.hosts, *after.hosts})

    @functools.cache
    def takers(specs: Specs) -> list[set[str]]:
        return [
            {host for host in hosts if not situation.refusal(specs, host)}
            for situation in (before, after)
        ]

    found = []
    for server in sorted(servers, key=lambda s: (s.name, s.id)):
        own, specs = server.host, tuple(server.flavor.extra_specs.items())
        # A host that is not shown cannot be judged.
        old = before.refusal(specs, own) if own else None
        new = after.refusal(specs, own) if own else None
        now, then = (len(those) - (own in those) for those in takers(specs))
        if (now and not then) or (new and not old):
            other = next((host for host in hosts if host != own), None)
            reason = new
            if other and not then:
                reason = new or after.refusal(specs, other)
            found.append(
                Effect(
                    'server',
                    server.name,
                    own,
                    _word(old),
                    _word(new),
                    now,
                    then,
                    str(reason or ''),
                )
            )
    return found


def _word(reason: Reason | None) -> str:
    """Return a verdict as one word."""
    if reason is None:
        return 'pass'
    return 'error' if reason.problem == in_tree.RAISES else 'refuse'
