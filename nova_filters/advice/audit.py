# SPDX-License-Identifier: Apache-2.0

"""Which running servers break the rules now, and could stand better.

As with the Kubernetes descheduler: a server that its own host would refuse
today, and a team (a stack or a server group) with a server that could run in
a place that has fewer members. Nothing is moved.
"""

import collections
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from nova_filters.advice import explanation, inventory
from nova_filters.advice.rows import Group
from os_placement_plugins import stack_hints

REFUSED: Final = 'refused'
SPREAD: Final = 'spread'
_AFFINITY: Final = 'affinity'
#: The policies of server groups that keep members apart.
_APART: Final = ('anti-affinity', 'soft-anti-affinity')


class Breach(NamedTuple):
    """What is wrong; the fields are the columns of the command's table.

    :param problem: one of the constants above.
    :param noun: ``flavor``, ``stack`` or ``server group``.
    :param name: its name, or the ID of a stack.
    :param servers: the names of the servers.
    :param reason: why the host refuses, or what could be better.
    """

    problem: str
    noun: str
    name: str
    servers: list[str]
    reason: str


class Audit:
    """What is judged: servers on hosts.

    :param levels: kinds of places, such as ``rack`` or ``host``.
    """

    def __init__(
        self,
        servers: Iterable[inventory.Server],
        stock: inventory.Stock,
        levels: Sequence[str],
    ) -> None:
        self._hosts, self._levels = stock.hosts, levels
        every = sorted(servers, key=lambda s: (s.name, s.id))
        #: The servers that run on a host, as far as they can be judged.
        self.running = {
            s.id: s for s in every if s.flavor and s.host in stock.hosts
        }
        #: The servers that cannot be judged; those without a host are fine.
        self.unknown = [
            s for s in every if s.host != '' and s.id not in self.running
        ]
        self._panel = explanation.Panel(stock)
        self._places = functools.cache(self._places_of)

    def refused(self) -> Iterator[Breach]:
        """Yield servers that their own host would refuse, by reason."""
        found: dict[tuple[str, str], list[str]] = {}
        for server in self.running.values():
            host = self._hosts[server.host or '']
            verdicts = self._panel.of_specs(server.specs)
            if host.name in verdicts.first:
                reason = verdicts.why(verdicts.first[host.name], [host.name])
                names = found.setdefault((server.flavor_name, reason), [])
                names.append(f'{server.name} ({host.name})')
        for (name, reason), names in found.items():
            yield Breach(REFUSED, 'flavor', name, names, reason)

    def uneven(
        self, groups: Iterable[Group], stacks: bool
    ) -> Iterator[Breach]:
        """Yield teams that are spread worse than they could be.

        :param stacks: whether stacks are to be spread.
        """
        for group in groups:
            members = [
                self.running[i] for i in group.members if i in self.running
            ]
            if group.policy in _APART:
                yield from self._uneven('server group', group.name, members)
            hosts = {member.host or '' for member in members}
            if group.policy == _AFFINITY and len(hosts) > 1:
                names = [member.name for member in members]
                reason = (
                    f'its policy wants one host: {", ".join(sorted(hosts))}'
                )
                yield Breach(SPREAD, 'server group', group.name, names, reason)
        grouped = {one for group in groups for one in group.members}
        teams: dict[tuple[str, str], list[inventory.Server]] = {}
        for server in self.running.values() if stacks else ():
            hints = stack_hints.read(server.hints or {})
            if hints.root_stack_id and server.id not in grouped:
                # Another project's stack cannot be joined by its ID.
                key = server.project, hints.root_stack_id
                teams.setdefault(key, []).append(server)
        for (_, stack), members in teams.items():
            path = stack_hints.read(members[0].hints or {}).path
            name = path[0].stack if path else stack
            yield from self._uneven('stack', name, members)

    def _uneven(
        self, noun: str, name: str, members: Sequence[inventory.Server]
    ) -> Iterator[Breach]:
        """Yield the first move that would spread a team better."""
        for level in self._levels:
            counts = collections.Counter(
                self._place(member.host or '', level) for member in members
            )
            for member in members:
                here = self._place(member.host or '', level)
                places = self._places(member.specs, member.zone, level)
                there = min(places, key=lambda p: (counts[p], p), default=here)
                if counts[there] + 1 < counts[here]:
                    yield Breach(
                        *(SPREAD, noun, name, [member.name]),
                        f'{level} {here} has {counts[here]} of '
                        f'{len(members)} members; {places[there]} takes the '
                        f'server, and {level} {there} has {counts[there]}',
                    )
                    return

    def _places_of(
        self, specs: inventory.Specs, zone: str | None, level: str
    ) -> dict[str, str]:
        """Return the places that take a server, each with one of its hosts."""
        return {
            self._place(host.name, level): host.name
            for host in reversed(self._panel.of_specs(specs).usable)
            if zone in ('', host.zone)
        }

    def _place(self, name: str, level: str) -> str:
        """Return the place of a host; one that shares no place is one."""
        return self._hosts[name].place(level) or name
