# SPDX-License-Identifier: Apache-2.0

"""The host weighers that spread or pack a stack or a server group."""

from collections.abc import Sequence
from typing import Any

import nova.conf

from nova_filters.stacks import members
from nova_filters.weighers import base, teams

CONF = nova.conf.CONF


class TeamWeigher(base.Weigher, teams.Teams):
    """Place the members of a team in the order of their requests."""

    def team(self, request: Any) -> members.Team | None:
        """Return the team that Nova's RequestSpec belongs to, if any."""
        raise NotImplementedError

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        """Return 0 for the right place, or 1 if the multiplier is positive."""
        team = self.team(request)
        multipliers = [self.weight_multiplier(host) for host in hosts if team]
        if team is None or not any(multipliers):
            return [0.0] * len(hosts)
        pack = min(multipliers) > 0
        # A filter may have left only some of the places.
        known = [vars(host).get(teams.DISTANCE) for host in hosts]
        found = [one for one in known if one is not None]
        if len(found) < len(hosts):
            found = self.survey(team, hosts, request, pack).distances(
                CONF.filter_scheduler.host_subset_size
            )
        return [1.0 - one for one in found] if pack else found


class StackAffinityWeigher(TeamWeigher):
    """Prefer or avoid the places where a server's stack already is."""

    multiplier = 'stack_affinity_weight_multiplier'
    team = teams.Teams.stack


class ServerGroupWeigher(TeamWeigher):
    """Follow the soft policy of a server group while its servers start."""

    multiplier = 'server_group_weight_multiplier'
    team = teams.Teams.group
