# SPDX-License-Identifier: Apache-2.0

"""The weights of hosts for the next member of a stack or server group."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import nova.conf
import sqlalchemy as sa
from oslo_db import exception as db_exception

from nova_filters import plugin
from nova_filters.members import hosts as member_hosts
from nova_filters.members import reader
from nova_filters.spread import members, topology
from os_placement_plugins import logger
from os_placement_plugins.text import listed, one_line

LOG = logger.get_logger(__name__)
CONF = nova.conf.CONF

#: The errors that come from the databases. They are logged without a
#: traceback.
_AWAY: Final = (db_exception.DBError, sa.exc.SQLAlchemyError)


class Ranks:
    """The ranks of hosts in the order in which members are placed.

    The weight of a host is its rank: 0 for the right host, then 1, 2 and so
    on. Nova tries the hosts in this order if builds fail. With a positive
    multiplier, the ranks are negative.

    :param multiplier: the multiplier of the weigher.
    """

    def __init__(self, multiplier: float) -> None:
        self._multiplier = multiplier
        self._reader = reader.shared()
        self._known_servers = member_hosts.KnownServers()

    def weigh(
        self, team: members.Team | None, hosts: Sequence[Any], request: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if the members are unknown.

        :param team: the team of the request.
        :param hosts: Nova's WeighedHosts, with the sums of the weighers so
            far.
        :param request: Nova's RequestSpec.
        """
        no_weights = [0.0] * len(hosts)
        if team is None:
            return no_weights
        states = [host.obj for host in hosts]
        counted = self.count_members(team, states, request)
        if counted is None:
            return no_weights
        is_strict = team[0] == members.STRICT
        strength = abs(self._multiplier)
        best = max(host.weight for host in hosts)
        deficits = {
            host.obj.host: (best - host.weight) / strength for host in hosts
        }
        ranks = self._rank(team, states, request, counted, deficits)
        weights = []
        for state in states:
            weight = float(ranks[state.host])
            if is_strict:
                # Nova refuses or breaks a hard policy if the other weighers
                # send a member to another host.
                weight -= deficits[state.host]
            if self._multiplier > 0:
                weight = -weight
            weights.append(weight)
        return weights

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
            counted = self._reader.read_members(
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
                f'{one_line(exc)}. Check [api_database] connection in '
                'the nova.conf of the scheduler.'
            )
        if problem:
            LOG.warning(
                'Instance %(instance)s is placed without its stack or server '
                'group, because the members cannot be read: %(problem)s',
                {'instance': server, 'problem': problem},
            )
            return None
        if counted.unread:
            LOG.warning(
                'Instance %(instance)s: some members of its stack or server '
                'group do not count, because these could not be read. Check '
                'the databases of Nova: %(unread)s',
                {
                    'instance': server,
                    'unread': listed(counted.unread),
                },
            )
        if team[0] == members.STRICT:
            ahead = {member.server for member in counted.ahead}
            hosts_by_server = self._known_servers.find_elsewhere(ahead, hosts)
            counted = counted.with_known(hosts_by_server)
        LOG.debug(
            'Instance %(instance)s: the members of %(team)s are on '
            '%(counts)s; %(ahead)d pending ones come first.',
            {
                'instance': server,
                'team': team,
                'counts': dict(counted.counts),
                'ahead': len(counted.ahead),
            },
        )
        return counted

    def _rank(
        self,
        team: members.Team,
        hosts: Sequence[Any],
        request: Any,
        counted: members.Members,
        deficits: Mapping[str, float],
    ) -> dict[str, int]:
        """Return the rank of each candidate, by host.

        :param deficits: by how many ranks the other weighers put each host
            below the best one.
        """
        policy = self._find_policy(team, request)
        is_strict = policy.capacity is not None
        paths = member_hosts.Paths(hosts, is_strict)
        by_host = {host.host: paths.find(host.host) for host in hosts}
        # If a host is more than one rank below the best one, even the right
        # rank does not make up for it.
        candidates = {
            path for host, path in by_host.items() if deficits[host] <= 1
        }
        refused = {*by_host.values()} - candidates
        if is_strict:
            candidates |= refused
        origin = _find_left_host(counted.server, paths, by_host)
        if origin:
            candidates.add(origin)
        kind = 0
        if not policy.pack:
            kind = counted.kind_number()
        domains = topology.Topology(
            candidates, policy, topology.Ties(str(team), kind)
        )
        if is_strict:
            domains.refuse(refused)
        for host, count in counted.counts.items():
            domains.add_members(paths.find(host), count)
        for member in counted.alike():
            domains.place(paths.find_origin(member.origin))
        order = domains.sort_candidates(origin)
        ranks = {path: rank for rank, path in enumerate(order)}
        return {
            host: ranks.get(path, len(order)) for host, path in by_host.items()
        }

    def _find_policy(
        self, team: members.Team, request: Any
    ) -> topology.Policy:
        pack = members.POLICIES.get(team[0], self._multiplier > 0)
        if team[0] != members.STRICT:
            return topology.Policy(pack)
        rules = request.instance_group.rules or {}
        return topology.Policy(pack, rules.get('max_server_per_host', 1))


def _find_left_host(
    server: members.Pending | None,
    paths: member_hosts.Paths,
    candidates: Collection[str],
) -> topology.Path:
    """Return the path of the host that a server leaves for another size.

    The host is no candidate of the server, but of the other members.

    :param candidates: the names of the server's candidates.
    """
    if server is None or server.action != members.RESIZE:
        return ()
    if server.origin in candidates:
        return ()
    return paths.find_origin(server.origin)
