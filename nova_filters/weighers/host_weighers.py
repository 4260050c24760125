# SPDX-License-Identifier: Apache-2.0

"""The host weighers. An error in a weigher never makes a request fail."""

from collections.abc import Sequence
from typing import Any, ClassVar

import nova.conf
from nova.scheduler import weights
from oslo_log import log as logging

from nova_filters import plugin
from nova_filters.matching import preferences
from nova_filters.spread import order, places
from nova_filters.weighers import teams
from os_placement_plugins import errors, quoting

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


# Nova has no type annotations, so mypy would report the base class.
class Weigher(plugin.Plugin, weights.BaseHostWeigher):  # type: ignore[misc]
    """A weigher that never makes a request fail."""

    #: The name of the option that is the weigher's multiplier.
    option: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        # To read the option for each of many hosts would be slow.
        self._multiplier = float(CONF.nova_filters[self.option])

    def weight_multiplier(self, host_state: Any) -> float:
        """Return the number by which Nova multiplies the weight of each host.

        :param host_state: Nova's HostState.
        """
        return self._multiplier

    def weigh_objects(
        self, weighed_obj_list: Sequence[Any], weight_properties: Any
    ) -> list[float]:
        """Return the weights of hosts; zeros if they cannot be computed.

        :param weighed_obj_list: Nova's WeighedHosts.
        :param weight_properties: Nova's RequestSpec.
        """
        name = type(self).__name__
        try:
            if self._multiplier:
                return self._weigh(weighed_obj_list, weight_properties)
        except teams.AWAY as exc:
            LOG.warning(
                '%(name)s is left out of this request: the members of the '
                'stack or server group could not be read. Check '
                '[api_database] connection in the nova.conf of the '
                'scheduler: %(error)s',
                {'name': name, 'error': errors.one_line(exc)},
            )
        except Exception:
            message = '%s is left out of this request. Report this traceback.'
            LOG.exception(message, name)
        return [0.0] * len(weighed_obj_list)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        raise NotImplementedError

    def _weigh_object(self, obj: Any, weight_properties: Any) -> float:
        host = weights.WeighedHost(obj, 0.0)
        return self.weigh_objects([host], weight_properties)[0]


class PreferenceWeigher(Weigher):
    """Prefer hosts by the preferences of flavors and aggregates."""

    option = 'preference_weight_multiplier'
    # With these limits, Nova's normalization does not change the weights. So
    # the weight of a host does not depend on other hosts, and may be below 0
    # or above 1.
    minval, maxval = 0, 1

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return the weights of Nova's WeighedHosts.

        The weight of a host follows from its points; see ``preferences``.
        """
        judge = preferences.Preferences(
            plugin.field(request.flavor, 'extra_specs'),
            tuple(CONF.nova_filters.exempt_metadata_keys),
        )
        if judge.problems:
            LOG.warning(
                'Instance %(instance)s: these preferences do not count; '
                'correct the flavor: %(problems)s',
                {
                    'instance': request.instance_uuid,
                    'problems': quoting.listed(judge.problems, mark='; '),
                },
            )
        weights = []
        for host in hosts:
            points = judge.score(host.obj.aggregates or ())
            weights.append(preferences.weight(points))
        return weights


class TeamWeigher(Weigher, teams.Teams):
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
