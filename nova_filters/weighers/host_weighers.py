# SPDX-License-Identifier: Apache-2.0

"""The weighers that spread and pack stacks and server groups."""

from collections.abc import Sequence
from typing import Any

import nova.conf
from oslo_log import log as logging

from nova_filters.spread import order, places
from nova_filters.weighers import base, teams
from os_placement_plugins import quoting

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


class TeamWeigher(base.Weigher, teams.Teams):
    """Place the members of a stack or group in the order of their requests."""

    def team(self, request: Any) -> order.Team | None:
        """Return the team that Nova's RequestSpec belongs to, if any."""
        raise NotImplementedError

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the weights of Nova's WeighedHosts.

        With a negative multiplier, the weight is 0 for hosts in the right
        place and nearly 1 for other hosts. With a positive multiplier, the
        weight is 1 in the right place and nearly 0 elsewhere.
        """
        team = self.team(request)
        if team is None:
            return [0.0] * len(hosts)
        scene = self._scene(team, hosts, request)
        refused = _refused(hosts, abs(self._multiplier))
        located = self.locate_members(scene, self._multiplier > 0, refused)
        distances = located.distances(CONF.filter_scheduler.host_subset_size)
        weights = []
        for host in hosts:
            path = scene.hosts[host.obj.host].path
            distance = distances.get(path, 1.0)
            if self._multiplier > 0:
                weights.append(1.0 - distance)
            else:
                weights.append(distance)
        return weights

    def _scene(
        self, team: order.Team, hosts: Sequence[Any], request: Any
    ) -> teams.Scene:
        scene = self.see_members(team, [host.obj for host in hosts], request)
        if scene.sight.unread:
            LOG.warning(
                'Instance %(instance)s: some members of its stack or server '
                'group do not count, because these could not be read. Check '
                'the databases of Nova: %(unread)s',
                {
                    'instance': request.instance_uuid,
                    'unread': quoting.listed(scene.sight.unread),
                },
            )
        return scene


def _refused(hosts: Sequence[Any], multiplier: float) -> set[str]:
    """Return the names of hosts that the other weighers refuse.

    This holds if the weigher is the last one. Nova adds up the weights of all
    weighers. If the sum of a host is so far below the best one that not even
    the right place makes up for it, no server can get there.

    :param hosts: Nova's WeighedHosts, with the sums so far.
    """
    best = max(host.weight for host in hosts)
    return {
        host.obj.host
        for host in hosts
        if best - host.weight > places.GAP * multiplier
    }


class StackAffinityWeigher(TeamWeigher):
    """Prefer or avoid the places that have members of the server's stack."""

    option = 'stack_affinity_weight_multiplier'

    def team(self, request: Any) -> order.Team | None:
        """Return the stack of a server.

        :returns: None if :class:`ServerGroupWeigher` places the server.
        """
        stack = self.stack(request)
        groups = CONF.nova_filters[ServerGroupWeigher.option]
        if groups and self.group(request):
            return None
        return stack


class ServerGroupWeigher(TeamWeigher):
    """Follow the policy of a server group while its servers start."""

    option = 'server_group_weight_multiplier'
    team = teams.Teams.group
