# SPDX-License-Identifier: Apache-2.0

"""What a change would do to the filter's verdicts, before it is made.

Pure. Two situations are compared: flavors, aggregates and hosts as they are,
and as they would be; each with the function that judges them.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from nova_filters import in_tree, inventory, matching, request

#: Judge a host in these aggregates for these extra specs; None: it passes.
Judge = Callable[
    [Mapping[str, str], Sequence[matching.Aggregate]], matching.Reason | None
]
#: Key and value pairs of each changed object, by its name.
Properties = Mapping[str, Mapping[str, str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Situation:
    """What is there, and who judges it.

    :param flavors: extra specs by the flavor's name.
    :param hosts: the aggregates of each host.
    :param judge: the filter.
    """

    flavors: Properties
    hosts: inventory.Hosts
    judge: Judge


@dataclasses.dataclass(frozen=True, slots=True)
class Flip:
    """A flavor and a host whose verdict changes.

    :param flavor: the flavor's name.
    :param host: the host's name.
    :param before: why the host is refused now; None if it passes.
    :param after: why it would be refused; None if it would pass.
    """

    flavor: str
    host: str
    before: matching.Reason | None
    after: matching.Reason | None


@dataclasses.dataclass(frozen=True, slots=True)
class Move:
    """A running server, and where else it may go.

    :param server: the server.
    :param before: why its own host would refuse it now; None if it passes.
    :param after: why its own host would refuse it afterwards.
    :param elsewhere_before: the number of other hosts that take it now.
    :param elsewhere_after: the number of other hosts that would take it.
    :param reason: why the first of the other hosts would not take it; None
        if one of them would, or if there is none.
    """

    server: inventory.Server
    before: matching.Reason | None
    after: matching.Reason | None
    elsewhere_before: int
    elsewhere_after: int
    reason: matching.Reason | None

    @property
    def stranded(self) -> bool:
        """Tell whether it could leave its host now, and no longer then."""
        return self.elsewhere_before > 0 and self.elsewhere_after == 0

    @property
    def misplaced(self) -> bool:
        """Tell whether its own host would take it now, and no longer then."""
        return self.before is None and self.after is not None


def judge_with(exempt: tuple[str, ...]) -> Judge:
    """Return the verdict of AggregateInstanceTypeFilter as a function.

    :param exempt: patterns of keys that no aggregate may demand.
    :returns: the evaluator that the filter uses.
    """

    def judge(
        extra_specs: Mapping[str, str],
        aggregates: Sequence[matching.Aggregate],
    ) -> matching.Reason | None:
        flavor = matching.read_flavor(extra_specs)
        return next(request.reasons(flavor, aggregates, exempt), None)

    return judge


#: The verdict of Nova's AggregateInstanceExtraSpecsFilter.
IN_TREE: Final[Judge] = in_tree.refusal


def change(
    properties: Properties,
    assign: Iterable[tuple[str, str, str]],
    remove: Iterable[tuple[str, str]],
    noun: str,
) -> dict[str, dict[str, str]]:
    """Return properties with some keys set or removed.

    :param properties: extra specs by flavor, or metadata by aggregate.
    :param assign: (name, key, value).
    :param remove: (name, key).
    :param noun: what a name is a name of, for the errors.
    :returns: a changed copy.
    :raises UnreadableError: when a name or a key to remove is unknown.
    """
    found = {name: dict(data) for name, data in properties.items()}

    def data_of(name: str) -> dict[str, str]:
        if name not in found:
            raise inventory.UnreadableError(f'no {noun} has the name {name!r}')
        return found[name]

    for name, key, value in assign:
        data_of(name)[key] = value
    for name, key in remove:
        if key not in data_of(name):
            raise inventory.UnreadableError(
                f'{noun} {name!r} has no key {key!r} to remove'
            )
        del found[name][key]
    return found


class _Verdicts:
    """A situation's verdicts, each looked for once."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._known: dict[
            tuple[tuple[tuple[str, str], ...], tuple[str, ...]],
            matching.Reason | None,
        ] = {}

    def on(
        self, extra_specs: Mapping[str, str], host: str
    ) -> matching.Reason | None:
        """Return why a host refuses, None if it passes."""
        aggregates = self._situation.hosts.get(host, ())
        key = (
            tuple(extra_specs.items()),
            tuple(aggregate.name for aggregate in aggregates),
        )
        if key not in self._known:
            self._known[key] = self._situation.judge(extra_specs, aggregates)
        return self._known[key]


def flips(before: Situation, after: Situation) -> list[Flip]:
    """Return the verdicts that change.

    :param before: what is.
    :param after: what would be.
    :returns: for the flavors that are in both, by flavor and host; verdicts
        that stay, for whatever other reason, are left out.
    """
    old, new = _Verdicts(before), _Verdicts(after)
    found = []
    for flavor in before.flavors:
        if flavor not in after.flavors:
            continue
        for host in sorted({*before.hosts, *after.hosts}):
            flip = Flip(
                flavor,
                host,
                old.on(before.flavors[flavor], host),
                new.on(after.flavors[flavor], host),
            )
            if word(flip.before) != word(flip.after):
                found.append(flip)
    return found


def word(reason: matching.Reason | None) -> str:
    """Return a verdict as one word.

    :param reason: why a host is refused; None if it passes.
    :returns: ``pass`` or ``refuse``, or ``error`` where the in-tree filter
        ends the request with one.
    """
    if reason is None:
        return 'pass'
    return 'error' if reason.problem == in_tree.RAISES else 'refuse'


def moves(
    before: Situation,
    after: Situation,
    servers: Iterable[inventory.Server],
) -> list[Move]:
    """Return where running servers may go, before and after.

    A server carries its own copy of the flavor, so a change of the flavor
    does not reach it. Its own host is not asked again by a rebuild; an
    evacuation, a migration or an unshelving asks every host.

    :param before: what is.
    :param after: what would be.
    :param servers: the running servers.
    :returns: one entry per server that is stranded or misplaced by the
        change, by name.
    """
    old, new = _Verdicts(before), _Verdicts(after)
    hosts = sorted({*before.hosts, *after.hosts})
    elsewhere: dict[tuple[tuple[str, str], ...], tuple[list[str], ...]] = {}
    found = []
    for server in servers:
        specs = server.flavor.extra_specs
        key = tuple(specs.items())
        if key not in elsewhere:
            elsewhere[key] = tuple(
                [host for host in hosts if verdicts.on(specs, host) is None]
                for verdicts in (old, new)
            )
        ours = [
            sum(host != server.host for host in passing)
            for passing in elsewhere[key]
        ]
        others = (host for host in hosts if host != server.host)
        reasons = (new.on(specs, host) for host in others)
        move = Move(
            server,
            # A host that is not shown is none that could be judged.
            old.on(specs, server.host) if server.host else None,
            new.on(specs, server.host) if server.host else None,
            elsewhere_before=ours[0],
            elsewhere_after=ours[1],
            reason=next(filter(None, reasons), None) if not ours[1] else None,
        )
        if move.stranded or move.misplaced:
            found.append(move)
    return sorted(found, key=lambda m: (m.server.name, m.server.id))
