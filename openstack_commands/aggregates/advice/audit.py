# SPDX-License-Identifier: Apache-2.0

"""Find running servers that break the rules, or could be spread better.

The audit finds three kinds of problems:

- a server that its own host would refuse today;
- a server or a server group that breaks a hard rule of Nova;
- a stack or a server group with a member that could run in a place with fewer
  members. A place is, for example, a rack or a host.

The audit does not move any server.
"""

import collections
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from openstack_commands.aggregates.advice import (
    breaches,
    explanation,
    hard_rules,
    inventory,
    reservations,
)
from openstack_commands.aggregates.advice.breaches import Breach
from openstack_commands.aggregates.advice.nova_records import Group
from os_placement_plugins import stack_hints

#: The policy of a server group that keeps members apart if possible.
_APART: Final = 'soft-anti-affinity'


class Audit:
    """Judge servers on their hosts.

    :param levels: kinds of places, such as ``rack`` or ``host``.
    """

    def __init__(
        self,
        servers: Iterable[inventory.Server],
        stock: inventory.Stock,
        levels: Sequence[str],
    ) -> None:
        self._stock, self._levels = stock, levels
        ordered = sorted(servers, key=lambda s: (s.name, s.id))
        #: ID -> server, for the servers with a known flavor and host. Only
        #: these servers can be judged.
        self.running = {
            server.id: server
            for server in ordered
            if server.flavor and server.host in stock.hosts
        }
        #: ID -> server, for the servers with a known host. The check of a
        #: server group's hard policy does not need the flavors of servers.
        self._placed = {server.id: server for server in ordered if server.host}
        #: The servers that cannot be judged. Servers on no host, for example
        #: shelved servers, are left out, because there is nothing to judge.
        self._unknown = [
            server
            for server in ordered
            if server.host != '' and server.id not in self.running
        ]
        self._evaluation = explanation.Evaluation(stock)
        self._places = functools.cache(self._places_of)

    def unknown(self) -> Iterator[Breach]:
        """Yield the servers that cannot be judged, one breach per reason."""
        by_reason: dict[str, list[inventory.Server]] = {}
        for server in self._unknown:
            reason = 'Nova does not show the flavor or the host'
            if server.flavor and server.host:
                reason = 'the host is not among the compute hosts'
            by_reason.setdefault(reason, []).append(server)
        for reason, servers in by_reason.items():
            yield Breach(
                problem=breaches.UNKNOWN,
                noun=breaches.SERVER,
                name='',
                servers=servers,
                reason=reason,
            )

    @property
    def reserves(self) -> bool:
        """Tell whether any host is reserved for projects."""
        hosts = self._stock.hosts.values()
        return any(reservations.projects(host) for host in hosts)

    def refused(self) -> Iterator[Breach]:
        """Yield the servers that their own host would refuse.

        Servers with the same flavor and reason are one breach.
        """
        by_reason: dict[tuple[str, str], list[inventory.Server]] = {}
        for server in self.running.values():
            host = server.host or ''
            verdicts = self._evaluation.of_specs(server.specs)
            if host in verdicts.first:
                reason = verdicts.why(verdicts.first[host], [host])
                key = server.flavor_name, reason
                by_reason.setdefault(key, []).append(server)
        for (flavor, reason), servers in by_reason.items():
            yield Breach(
                problem=breaches.REFUSED,
                noun=breaches.FLAVOR,
                name=flavor,
                servers=servers,
                reason=reason,
            )

    def broken(
        self, groups: Iterable[Group], projects: bool
    ) -> Iterator[Breach]:
        """Yield a breach for each hard rule that running servers break.

        :param projects: whether Nova's filter that reserves hosts for
            projects is enabled.
        """
        for group in groups:
            members = _members(group, self._placed)
            yield from hard_rules.of_group(group, members)
        running = self.running.values()
        yield from hard_rules.of_zones(running, self._stock)
        if projects:
            yield from hard_rules.of_projects(running, self._stock)

    def uneven(
        self, groups: Iterable[Group], stacks: bool
    ) -> Iterator[Breach]:
        """Yield stacks and server groups that could be spread better.

        :param stacks: whether Nova is configured to spread stacks.
        """
        grouped: set[str] = set()
        for group in groups:
            grouped.update(group.members)
            if group.policy == _APART:
                yield from self._uneven(
                    breaches.SERVER_GROUP,
                    group.name,
                    group.id,
                    _members(group, self.running),
                )
        if stacks:
            yield from self._uneven_stacks(grouped)

    def _uneven_stacks(self, grouped: set[str]) -> Iterator[Breach]:
        """Yield a breach for each stack that could be spread better.

        :param grouped: the IDs of the servers in server groups. These servers
            are left out, because the policy of their server group applies.
        """
        stacks: dict[tuple[str, str], list[inventory.Server]] = {}
        names: dict[tuple[str, str], str] = {}
        for server in self.running.values():
            if not server.hints or server.id in grouped:
                continue
            hints = stack_hints.read(server.hints)
            if hints.root_stack_id:
                # A tenant can put the stack ID of another project into a
                # hint. So members of a stack must have the same project.
                key = server.project, hints.root_stack_id
                stacks.setdefault(key, []).append(server)
                name = hints.root_stack_id
                if hints.path:
                    name = hints.path[0].stack
                names.setdefault(key, name)
        for key, members in stacks.items():
            _, stack = key
            yield from self._uneven(breaches.STACK, names[key], stack, members)

    def _uneven(
        self,
        noun: str,
        name: str,
        group_id: str,
        members: Sequence[inventory.Server],
    ) -> Iterator[Breach]:
        """Yield a breach with one move that would spread members better.

        :param group_id: the ID of the stack or server group.
        :param members: the servers in the stack or server group.
        """
        for level in self._levels:
            counts = collections.Counter(
                self._place(member.host or '', level) for member in members
            )
            # For members with the same extra specs and zone, the emptiest
            # place is the same.
            emptiest: dict[tuple[inventory.Specs, str | None], str | None] = {}
            for member in members:
                here = self._place(member.host or '', level)
                if counts[here] < 2:
                    continue
                kind = member.specs, member.zone
                places = self._places(*kind, level)
                if kind not in emptiest:
                    emptiest[kind] = _emptiest(places, counts)
                there = emptiest[kind]
                if there is None or counts[there] + 1 >= counts[here]:
                    continue
                yield Breach(
                    problem=breaches.SPREAD,
                    noun=noun,
                    name=name,
                    servers=[member],
                    reason=(
                        f'{level} {here} has {counts[here]} of '
                        f'{len(members)} members; {places[there]} takes the '
                        f'server, and {level} {there} has {counts[there]}'
                    ),
                    id=group_id,
                )
                return

    def _places_of(
        self, specs: inventory.Specs, zone: str | None, level: str
    ) -> dict[str, str]:
        """Return the places that have a usable host for a server.

        :param specs: the extra specs of the server.
        :param zone: the zone of the server; empty for any zone.
        :returns: place -> the first usable host by name; sorted by place.
        """
        places: dict[str, str] = {}
        for host in self._evaluation.of_specs(specs).usable:
            if zone in ('', host.zone):
                places.setdefault(self._place(host.name, level), host.name)
        return dict(sorted(places.items()))

    def _place(self, name: str, level: str) -> str:
        """Return the name of a host's place.

        :param name: the name of the host. If the host shares no place with
            other hosts, this name is also the name of the place.
        """
        return self._stock.hosts[name].place(level) or name


def _members(
    group: Group, servers: Mapping[str, inventory.Server]
) -> list[inventory.Server]:
    """Return the members of a server group.

    :param servers: ID -> server. Members without an entry are left out.
    """
    return [servers[i] for i in group.members if i in servers]


def _emptiest(places: Iterable[str], counts: Mapping[str, int]) -> str | None:
    """Return the place with the fewest members; None if there is no place.

    :param places: the places, sorted. If several places have the fewest
        members, the first of these places is returned.
    :param counts: place -> number of members.
    """
    taken = []
    for place in places:
        if not counts.get(place):
            return place
        taken.append(place)
    return min(taken, key=lambda place: counts[place], default=None)
