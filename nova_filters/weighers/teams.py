# SPDX-License-Identifier: Apache-2.0

"""The team of a request, and the places of the team's members.

A team is a stack or a server group.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.stacks import members, other_flavors, places
from nova_filters.weighers import reader
from os_placement_plugins import signature, stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF

#: The attribute of a HostState in which TeamSpreadFilter stores the distance.
DISTANCE: Final = 'nova_filters_distance'


class Incomplete(Exception):
    """Some members could not be read."""


#: The errors that come from the databases. The plug-ins log these errors
#: without a traceback.
AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError, Incomplete)


class Teams:
    """The teams of requests, and the places of their members."""

    def __init__(self) -> None:
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._levels = tuple(CONF.nova_filters.stack_spread_over)
        # To read an option for each of many hosts would be slow.
        self._default_zone = CONF.default_availability_zone
        self._reader = reader.shared()

    def stack(self, request: Any) -> members.Team | None:
        """Return the stack that Nova's RequestSpec belongs to, if any.

        :returns: None if :meth:`group` returns a server group.
        """
        hints = stack_hints.read_request(request, self._keys)
        if self.group(request):
            return None
        return members.of_stack(hints)

    def group(self, request: Any) -> members.Team | None:
        """Return the server group of Nova's RequestSpec.

        :returns: None if ``server_group_weight_multiplier`` is 0, or if no
            server group with a soft policy has the server.
        """
        group = plugin.field(request, 'instance_group')
        if not group or not CONF.nova_filters.server_group_weight_multiplier:
            return None
        return members.of_group(group.policy, group.uuid)

    def see(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        request: Any,
    ) -> members.Sight:
        """Return the members of a team that count for the server of a request.

        :param hosts: the candidates, as Nova's HostStates.
        :param request: Nova's RequestSpec.
        """
        sight = self._reader.ask(
            reader.Question(
                team=team,
                server=plugin.field(request, 'instance_uuid') or '',
                project=request.project_id,
                cells=frozenset(host.cell_uuid for host in hosts),
                # Other cells may have hosts in the same place.
                everywhere=self._levels[:1] != (places.HOST,),
            )
        )
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
        return sight

    def locate(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        sight: members.Sight,
        pack: bool,
    ) -> places.Places:
        """Return the places, with the members placed before the server.

        :param hosts: the candidates, as Nova's HostStates.
        :param sight: the members.
        :param pack: whether to pack the members of a stack. For a server
            group, the policy decides.
        """
        pack = members.POLICIES.get(team[0], pack)
        candidates = {
            host.host: self._host(host.host, host.aggregates) for host in hosts
        }
        # For a host that is no candidate, only the aggregates that it shares
        # with candidates are known.
        by_host = _aggregates_by_host(hosts)
        counts = []
        for name, count in sight.counts.items():
            host = candidates.get(name)
            if host is None:
                host = self._host(name, by_host.get(name))
            counts.append((host.path, count))
        own_candidates = places.Candidates(
            candidates[host.host].path for host in hosts
        )
        by_flavor = {sight.flavor: own_candidates}
        flavors_ahead = {*sight.ahead} - {sight.flavor}
        if flavors_ahead:
            other_hosts = [
                self._host(name, aggregates)
                for name, aggregates in by_host.items()
                if name not in candidates
            ]
            by_flavor |= other_flavors.find_candidates(
                sight.flavor,
                flavors_ahead,
                [*candidates.values()],
                other_hosts,
                exempt=tuple(CONF.nova_filters.exempt_metadata_keys),
            )
        ahead = [
            by_flavor[flavor] for flavor in sight.ahead if flavor in by_flavor
        ]
        order = str(team)
        if not pack:
            # The order of equally full places depends on this text. With the
            # shape in it, different shapes do not all start at the same place.
            order = f'{team}/{sight.shape}'
        return places.Places(own_candidates, counts, ahead, order, pack)

    def _host(
        self, name: str, aggregates: Sequence[Any] | None
    ) -> other_flavors.Host:
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
        return other_flavors.Host(tuple(path), aggregates or ())


def _aggregates_by_host(hosts: Sequence[Any]) -> Mapping[str, list[Any]]:
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
    return by_host
