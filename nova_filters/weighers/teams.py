# SPDX-License-Identifier: Apache-2.0

"""The team of a request, and the places of the team's members.

A team is a stack or a server group.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.spread import flavors, order, places
from nova_filters.weighers import reader
from os_placement_plugins import signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


#: The errors that come from the databases. The weighers log these errors
#: without a traceback.
AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError)


class Scene(NamedTuple):
    """What a plug-in knows when it places a server.

    :param server: the id of the server.
    :param candidates: the names of the candidates of the server.
    :param hosts: the candidates, and the hosts that share aggregates with
        them, by name.
    """

    server: str
    team: order.Team
    sight: order.Sight
    candidates: Sequence[str]
    hosts: Mapping[str, flavors.Host]


class Teams:
    """The teams of requests, and the places of their members."""

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)
        # To read an option for each of many hosts would be slow.
        self._default_zone = CONF.default_availability_zone
        self._reader = reader.shared()
        #: The servers on each host, as this scheduler knows them: Nova's own
        #: dictionaries, which Nova changes.
        self._servers: dict[str, Mapping[str, Any]] = {}

    def stack(self, request: Any) -> order.Team | None:
        """Return the stack that Nova's RequestSpec belongs to, if any."""
        return order.of_stack(stack_hints.read_request(request, self._keys))

    def group(self, request: Any) -> order.Team | None:
        """Return the server group of Nova's RequestSpec.

        :returns: None if there is no group, or none with a policy that this
            package follows.
        """
        group = plugin.field(request, 'instance_group')
        if not group:
            return None
        return order.of_group(group.policy, group.uuid)

    def see_members(
        self, team: order.Team, hosts: Sequence[Any], request: Any
    ) -> Scene:
        """Read the members of a team.

        :param hosts: the candidates, as Nova's HostStates.
        :param request: Nova's RequestSpec.
        """
        server = plugin.field(request, 'instance_uuid') or ''
        sight = self._reader.read_members(team, server, request.project_id)
        if team[0] == order.STRICT:
            ahead = self._without_known(sight.ahead, hosts)
            sight = sight._replace(ahead=ahead)
        LOG.debug(
            'The members of %(team)s are on %(counts)s; %(ahead)d in flight '
            'come first. Not read: %(unread)s',
            {
                'team': team,
                'counts': dict(sight.counts),
                'ahead': len(sight.ahead),
                'unread': sight.unread,
            },
        )
        aggregates = _aggregates_by_host(hosts)
        aggregates |= {host.host: host.aggregates for host in hosts}
        return Scene(
            server,
            team,
            sight,
            [host.host for host in hosts],
            {name: self._host(name, aggregates[name]) for name in aggregates},
        )

    def _without_known(
        self, ahead: Collection[order.Member], hosts: Sequence[Any]
    ) -> list[order.Member]:
        """Leave out members on hosts that are no candidates because of them.

        A scheduler remembers where it has put the members of groups. Nova's
        filter for ``anti-affinity`` then refuses these hosts, before any
        database knows them. Such a member takes no other place.

        :param ahead: the members in flight that are placed before the server.
        :param hosts: the candidates, as Nova's HostStates.
        """
        self._servers |= {host.host: host.instances for host in hosts}
        names = {host.host for host in hosts}
        elsewhere = [
            servers
            for name, servers in [*self._servers.items()]
            if name not in names
        ]
        return [
            member
            for member in ahead
            if member.origin is not None
            or not any(member.server in servers for servers in elsewhere)
        ]

    def locate_members(
        self, scene: Scene, pack: bool, refused: Collection[str] = ()
    ) -> places.Places:
        """Return the places, with the members placed before the server.

        :param pack: whether to pack the members of a stack. For a server
            group, the policy decides.
        :param refused: the names of candidates that are no places, since other
            weighers refuse them.
        """
        sight = scene.sight
        hosts = [
            scene.hosts[name]
            for name in scene.candidates
            if name not in refused
        ]
        origin: places.Path = ()
        own_kind = order.Kind()
        if sight.member is not None:
            own_kind = sight.member.kind
            # A host that a server leaves for another size serves the others.
            left = sight.member.origin
            resized = sight.member.action == order.RESIZE
            if resized and left and left not in scene.candidates:
                hosts.append(self._find(left, scene))
                origin = hosts[-1].path
        candidates = places.Candidates(host.path for host in hosts)
        counts = [
            (self._find(name, scene).path, count)
            for name, count in sight.counts.items()
        ]
        ranking = places.Ranking(str(scene.team))
        pack = order.POLICIES.get(scene.team[0], pack)
        if not pack and own_kind.needs in sight.needs:
            number = sight.needs.index(own_kind.needs)
            ranking = ranking._replace(kind=number)
        return places.Places(
            places.Arrival(candidates, origin),
            counts,
            self._arrivals(scene, own_kind, hosts, candidates),
            ranking,
            pack,
        )

    def _arrivals(
        self,
        scene: Scene,
        kind: order.Kind,
        hosts: Sequence[flavors.Host],
        candidates: places.Candidates,
    ) -> list[places.Arrival]:
        """Return the members ahead whose candidates are known.

        :param kind: the kind of the server.
        :param hosts: the candidates of the server.
        :param candidates: the same, for members with the same flavor.
        """
        # Nobody knows the candidates of members with other needs.
        ahead = [
            member
            for member in scene.sight.ahead
            if member.kind.needs == kind.needs
        ]
        by_flavor = {kind.flavor: candidates}
        other_flavors = {member.kind.flavor for member in ahead}
        other_flavors -= by_flavor.keys()
        if other_flavors:
            no_candidates = scene.hosts.keys() - scene.candidates
            by_flavor |= flavors.find_candidates(
                kind.flavor,
                other_flavors,
                hosts,
                [scene.hosts[name] for name in no_candidates],
                exempt=tuple(CONF.nova_filters.exempt_metadata_keys),
            )
        arrivals = []
        for member in ahead:
            if member.kind.flavor in by_flavor:
                origin: places.Path = ()
                if member.origin:
                    origin = self._find(member.origin, scene).path
                arrivals.append(
                    places.Arrival(by_flavor[member.kind.flavor], origin)
                )
        return arrivals

    def _find(self, name: str, scene: Scene) -> flavors.Host:
        return scene.hosts.get(name) or self._host(name, ())

    def _host(
        self, name: str, aggregates: Collection[Any] | None
    ) -> flavors.Host:
        """Return a host with its path.

        If a host shares no place at a level, the host itself is the place.

        :param aggregates: Nova's Aggregates; None if none are known.
        """
        metadata = [aggregate.metadata for aggregate in aggregates or ()]
        path = []
        for level in self._levels:
            place = places.shared(metadata, level, self._default_zone)
            if place:
                path.append((level, place))
            else:
                path.append((places.HOST, name))
        return flavors.Host(tuple(path), aggregates or ())


def _aggregates_by_host(hosts: Sequence[Any]) -> dict[str, Collection[Any]]:
    """Return the aggregates of some hosts, by the names of all their hosts.

    :param hosts: Nova's HostStates.
    :returns: the aggregates by name of host, also of hosts not in ``hosts``.
    """
    aggregates: set[Any] = set()
    for host in hosts:
        aggregates.update(host.aggregates or ())
    by_host: dict[str, list[Any]] = {}
    for aggregate in aggregates:
        for name in aggregate.hosts:
            by_host.setdefault(name, []).append(aggregate)
    return dict(by_host)
