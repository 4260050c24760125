# SPDX-License-Identifier: Apache-2.0

"""The host weighers that spread or pack a stack or a server group."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import nova.conf
from nova.scheduler import utils
from oslo_log import log as logging

from nova_filters.stacks import members, places
from nova_filters.weighers import base, reader
from os_placement_plugins import stack_hints

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF


class TeamWeigher(base.Weigher):
    """Place the members of a team in the order of their requests."""

    #: The option, and the metadata key of aggregates.
    multiplier: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self._reader = reader.shared()

    def weight_multiplier(self, host_state: Any) -> float:
        """Return how strongly this weigher counts beside others.

        :param host_state: Nova's HostState; its aggregates may override the
            option. If they cannot be used, the option is in force.
        """
        default = float(CONF.nova_filters[self.multiplier])
        try:
            value = float(
                utils.get_weight_multiplier(
                    host_state, self.multiplier, default
                )
            )
            wrong = '' if math.isfinite(value) else 'it is not finite'
        except Exception as exc:
            # Nova's function raises on aggregates without metadata.
            value, wrong = default, str(exc)
        if not wrong:
            return value
        host = getattr(host_state, 'host', None)
        LOG.warning(
            'The metadata %(name)s of an aggregate of host %(host)s cannot be '
            'used: %(error)s. The option of this name in [nova_filters] is in '
            'force there; write a number into the metadata.',
            {'name': self.multiplier, 'host': host, 'error': wrong},
        )
        return default

    def team(self, request: Any) -> members.Team | None:
        """Return the team that Nova's RequestSpec belongs to, if any."""
        raise NotImplementedError

    def see(
        self, team: members.Team, hosts: Sequence[Any], request: Any
    ) -> members.Sight:
        """Return what a request for one of Nova's HostStates sees."""
        server = request.instance_uuid if 'instance_uuid' in request else ''
        cells = frozenset(host.cell_uuid for host in hosts)
        return self._reader.ask(
            reader.Question(team, server, request.project_id, cells)
        )

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Read where the members are, and choose the place of the next."""
        team = self.team(request)
        multipliers = [self.weight_multiplier(host) for host in hosts if team]
        if team is None or not any(multipliers):
            return [0.0] * len(hosts)
        sight = self.see(team, hosts, request)
        LOG.debug('%s: %s', team, sight)
        paths = self._paths(hosts, sight.counts)
        negative = min(multipliers) < 0
        found = places.choose(
            [paths[host.host] for host in hosts],
            [(paths[host], count) for host, count in sight.counts.items()],
            sight.ahead,
            str(team),
            members.POLICIES.get(team[0], not negative),
            CONF.filter_scheduler.host_subset_size,
        )
        return found if negative else [1.0 - one for one in found]

    def _paths(
        self, hosts: Sequence[Any], others: Iterable[str]
    ) -> dict[str, places.Path]:
        """Return the paths of hosts by name.

        :param others: hosts that may be no candidates, such as full ones. The
            aggregates that they share with candidates are known.
        """
        every = {
            one.id: one for host in hosts for one in host.aggregates or ()
        }
        found = {
            name: [one for one in every.values() if name in one.hosts]
            for name in others
        }
        found |= {host.host: host.aggregates or () for host in hosts}
        return {
            host: base.path(host, aggregates, self._levels)
            for host, aggregates in found.items()
        }


class StackAffinityWeigher(TeamWeigher):
    """Prefer or avoid the places where a server's stack already is."""

    multiplier = 'stack_affinity_weight_multiplier'

    def team(self, request: Any) -> members.Team | None:
        """Return the stack of a server, unless its server group counts."""
        if _group(request):
            return None
        return members.of_stack(stack_hints.read_request(request, self._keys))


class ServerGroupWeigher(TeamWeigher):
    """Follow the soft policy of a server group while its servers start."""

    multiplier = 'server_group_weight_multiplier'

    def team(self, request: Any) -> members.Team | None:
        """Return the server group of a server."""
        return _group(request)


def _group(request: Any) -> members.Team | None:
    """Return the server group of a request, if groups count."""
    group = request.instance_group if 'instance_group' in request else None
    if not CONF.nova_filters.server_group_weight_multiplier or not group:
        return None
    return members.of_group(group.policy, group.uuid)
