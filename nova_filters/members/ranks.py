# SPDX-License-Identifier: Apache-2.0

"""Weigh hosts for a server of a stack or server group.

Read the members from Nova's databases, let ``spread`` decide, and return the
weights.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception

from nova_filters import plugin
from nova_filters.members import reader
from nova_filters.spread import members, ranking, topology
from os_placement_plugins import logger
from os_placement_plugins.text import listed, one_line

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF

#: The errors that come from the databases. They are logged without a
#: traceback.
_AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError)


class KnownServers:
    """The servers on each host, as this scheduler process knows them."""

    def __init__(self) -> None:
        #: Nova's own dictionaries, which Nova changes.
        self._servers: dict[str, Mapping[str, Any]] = {}

    def find_elsewhere(
        self, uuids: Collection[str], hosts: Iterable[Any]
    ) -> dict[str, str]:
        """Return the hosts of servers that are on none of the candidates.

        A scheduler remembers where it has put the members of groups. Nova's
        filter for ``anti-affinity`` then refuses these hosts, before any
        database knows them.

        :param uuids: the ids of the servers.
        :param hosts: the candidates, as Nova's HostStates.
        """
        candidates = {host.host: host.instances for host in hosts}
        self._servers |= candidates
        elsewhere = {}
        for name, servers in [*self._servers.items()]:
            if name not in candidates:
                elsewhere.update(dict.fromkeys(servers.keys() & uuids, name))
        return elsewhere


class Ranks:
    """The weights of hosts for the members of stacks or server groups.

    :param multiplier: the multiplier of the weigher.
    """

    def __init__(self, multiplier: float) -> None:
        self._multiplier = multiplier
        self._reader = reader.shared()
        self._known_servers = KnownServers()

    def weigh(
        self, team: members.Team, hosts: Sequence[Any], request: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if the members are unknown.

        :param team: the team of the request.
        :param hosts: Nova's WeighedHosts, with the sums of the weighers so
            far.
        :param request: Nova's RequestSpec.
        """
        states = [host.obj for host in hosts]
        counted = self.count_members(team, states, request)
        if counted is None:
            return [0.0] * len(hosts)
        capacity = None
        keys = [*CONF.nova_filters.stack_spread_over]
        if team[0] == members.STRICT:
            rules = request.instance_group.rules or {}
            capacity = rules.get('max_server_per_host', 1)
            if topology.HOST not in keys:
                keys.append(topology.HOST)
        aggregates = {state.host: state.aggregates or () for state in states}
        weights = ranking.weigh_hosts(
            team,
            capacity,
            counted,
            topology.Paths(aggregates, keys, CONF.default_availability_zone),
            {host.obj.host: host.weight for host in hosts},
            self._multiplier,
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
        self, team: members.Team, hosts: Sequence[Any], request: Any
    ) -> members.Members | None:
        """Return the members of a team; None if they cannot be read.

        :param hosts: the candidates, as Nova's HostStates.
        :param request: Nova's RequestSpec.
        """
        server = plugin.field(request, 'instance_uuid') or ''
        problem = ''
        try:
            stored = self._reader.read_members(
                team, server, request.project_id
            )
        except reader.OwnRowMissing:
            problem = (
                'the API database does not show the server itself yet, or its '
                'server group is deleted. With Galera, set [api_database] '
                'mysql_wsrep_sync_wait = 1 in the nova.conf of the scheduler.'
            )
        except _AWAY as exc:
            problem = (
                f'{one_line(exc)}. Check [api_database] connection in the '
                'nova.conf of the scheduler.'
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
                'Instance %(instance)s: some members of its stack or server '
                'group do not count, because these could not be read. Check '
                'the databases of Nova: %(unread)s',
                {'instance': server, 'unread': listed(stored.unread)},
            )
        known_hosts: Mapping[str, str] = {}
        if team[0] == members.STRICT:
            pending = {member.server for member in stored.pending}
            known_hosts = self._known_servers.find_elsewhere(pending, hosts)
        return members.count_members(server, stored, known_hosts)
