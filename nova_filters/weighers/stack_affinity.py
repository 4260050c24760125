# SPDX-License-Identifier: Apache-2.0

"""The weigher for stacks."""

from collections.abc import Sequence
from typing import Any

import nova.conf

from nova_filters.members import ranks
from nova_filters.spread import members
from nova_filters.weighers import base, server_group
from os_placement_plugins import signature, stack_hints

CONF = nova.conf.CONF


class StackAffinityWeigher(base.Weigher):
    """Spread or pack the servers of a stack while they start."""

    option = 'stack_affinity_weight_multiplier'

    def __init__(self) -> None:
        super().__init__()
        self.ranks = ranks.Ranks(self.multiplier)
        self._keys = signature.Keys(CONF.heat_hints.signing_key)
        self._groups = bool(CONF.nova_filters[server_group.OPTION])

    def find_stack(self, request: Any) -> members.Team | None:
        """Return the stack of a server.

        :param request: Nova's RequestSpec.
        :returns: None if ``ServerGroupWeigher`` places the server.
        """
        if self._groups and server_group.find_group(request):
            return None
        hints = stack_hints.read_request(request, self._keys)
        return members.stack_team(hints)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        return self.ranks.weigh(self.find_stack(request), hosts, request)
