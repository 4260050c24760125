# SPDX-License-Identifier: Apache-2.0

"""The weighers for the servers of stacks and of server groups.

They read the members from Nova's databases, let ``spread`` decide, and return
the weights.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception

from nova_filters import plugin
from nova_filters.members import claims, reader
from nova_filters.spread import ranking, teams, topology
from os_placement_plugins import logger, signature
from os_placement_plugins.errors import named_line
from os_placement_plugins.text import listed

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF

GROUP_OPTION: Final = 'server_group_weight_multiplier'
#: The errors that come from the databases. They are logged without a
#: traceback.
_AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError)


class TeamWeigher(plugin.Weigher):
    """Spread or pack the members of a team while they start."""

    def __init__(self) -> None:
        super().__init__()
        self._reader = reader.shared()
        self._claims = claims.Claims()

    def find_team(self, request: Any) -> teams.Team | None:
        """Return the team that the weigher follows for a request.

        :param request: Nova's RequestSpec.
        :returns: None if the weigher does not place the server.
        """
        raise NotImplementedError

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        team = self.find_team(request)
        # A server that is rebuilt has one candidate, and does not move.
        if team is None or len(hosts) == 1:
            return [0.0] * len(hosts)
        states = [host.obj for host in hosts]
        counted = self.count_members(team, states, request)
        if counted is None:
            return [0.0] * len(hosts)
        hard = None
        keys = [*CONF.nova_filters.stack_spread_over]
        if team[0] == teams.STRICT:
            rules = request.instance_group.rules or {}
            hard = ranking.HardPolicy(
                rules.get('max_server_per_host', 1),
                _list_avoided(states, request),
            )
            if topology.HOST not in keys:
                keys.append(topology.HOST)
        aggregates = {state.host: state.aggregates or () for state in states}
        weights = ranking.weigh_hosts(
            team,
            counted,
            topology.Paths(aggregates, keys, CONF.default_availability_zone),
            {host.obj.host: host.weight for host in hosts},
            self.multiplier,
            hard,
            self._reader.loads.of_cells({state.cell_uuid for state in states}),
        )
        LOG.debug(
            'Instance %(instance)s: the members of %(team)s are on '
            '%(counts)s; %(ahead)d pending ones come first.',
            {
                'instance': plugin.field(request, 'instance_uuid'),
                'team': team,
                'counts': dict(counted.counts),
                'ahead': len(counted.ahead),
            },
        )
        return [weights[state.host] for state in states]

    def count_members(
        self, team: teams.Team, hosts: Sequence[Any], request: Any
    ) -> teams.Members | None:
        """Return the members of a team; None if they cannot be read.

        :param hosts: the candidates, as Nova's HostStates.
        :param request: Nova's RequestSpec.
        """
        server = plugin.field(request, 'instance_uuid') or ''
        problem = ''
        try:
            stored = self._reader.read_members(team, server)
        except reader.OwnRowMissing:
            problem = (
                'the databases do not show yet that the server boots or '
                'moves, or the server or its group is deleted. With Galera, '
                'set mysql_wsrep_sync_wait = 1 in [api_database] and '
                '[database] in the nova.conf of the scheduler.'
            )
        except _AWAY as exc:
            problem = (
                f'{named_line(exc)}. Check the databases of Nova, and '
                '[api_database] in the nova.conf of the scheduler.'
            )
        if problem:
            LOG.warning(
                'Instance %(instance)s is placed without its stack or server '
                'group, because the members cannot be read: %(problem)s',
                {'instance': server, 'problem': problem},
            )
            return None
        if stored.unread:
            LOG.warning(
                'Instance %(instance)s: members of its stack or server group '
                'may be missing, because these could not be read. Check the '
                'databases of Nova: %(unread)s',
                {'instance': server, 'unread': listed(stored.unread)},
            )
        claimed: Mapping[str, str | None] = {}
        if team[0] == teams.STRICT:
            claimed = self._read_claims(server, stored.pending, hosts)
        return teams.count_members(server, stored, claimed)

    def _read_claims(
        self,
        server: str,
        pending: Collection[teams.Pending],
        hosts: Sequence[Any],
    ) -> Mapping[str, str | None]:
        """Return the hosts that the other pending members have claimed.

        :returns: none if Placement does not answer. The hosts are then worked
            out, as for soft policies.
        """
        asked = teams.list_asked(server, pending)
        try:
            return self._claims.find_hosts(asked, hosts)
        except claims.AWAY as exc:
            LOG.warning(
                'Instance %(instance)s: Placement does not tell the hosts of '
                'the members of its server group that are starting. Check '
                '[placement] in the nova.conf of the scheduler: %(problem)s',
                {'instance': server, 'problem': named_line(exc)},
            )
            return {}


class ServerGroupWeigher(TeamWeigher):
    """Follow the policy of a server group while its servers start."""

    option = GROUP_OPTION

    def find_team(self, request: Any) -> teams.Team | None:
        """Return the server group of a request."""
        return find_group(request)


class StackAffinityWeigher(TeamWeigher):
    """Spread or pack the servers of a stack while they start."""

    option = 'stack_affinity_weight_multiplier'

    def __init__(self) -> None:
        super().__init__()
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._groups = bool(CONF.nova_filters[GROUP_OPTION])

    def find_team(self, request: Any) -> teams.Team | None:
        """Return the stack of a request.

        :returns: None if the server is in no stack, or if
            ``ServerGroupWeigher`` places the server.
        """
        if self._groups and find_group(request):
            return None
        project = plugin.field(request, 'project_id')
        hints = plugin.field(request, 'scheduler_hints')
        root = self._keys.read_root_stack_id(hints, project)
        if root is None:
            return None
        return teams.STACK, root, str(project)


def find_group(request: Any) -> teams.Team | None:
    """Return the server group of Nova's RequestSpec.

    :returns: None if there is no group, or none with a policy that this
        package follows.
    """
    group = plugin.field(request, 'instance_group')
    if not group or group.policy not in teams.POLICIES:
        return None
    return str(group.policy), str(group.uuid)


def _list_avoided(hosts: Iterable[Any], request: Any) -> list[str]:
    """Return the hosts that are the last choice for a strict group.

    Nova's weighers avoid them, too: those on which the last build failed, and
    those in another cell than a server that moves. The sums of the weighers
    do not tell, because the best candidate differs between schedulers.

    :param hosts: the candidates, as Nova's HostStates.
    :param request: Nova's RequestSpec.
    """
    destination = plugin.field(request, 'requested_destination')
    cell = None
    if destination:
        cell = plugin.field(destination, 'cell')
    return [
        host.host
        for host in hosts
        if host.failed_builds or (cell and cell.uuid != host.cell_uuid)
    ]
