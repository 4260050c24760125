# SPDX-License-Identifier: Apache-2.0

"""The weighers for the servers of stacks and of server groups."""

from collections.abc import Sequence
from typing import Any, Final

import nova.conf

from nova_filters import plugin
from nova_filters.members import ranks
from nova_filters.spread import members
from os_placement_plugins import signature, stack_hints

CONF = nova.conf.CONF

GROUP_OPTION: Final = 'server_group_weight_multiplier'


class ServerGroupWeigher(plugin.Weigher):
    """Follow the policy of a server group while its servers start."""

    option = GROUP_OPTION

    def __init__(self) -> None:
        super().__init__()
        self.ranks = ranks.Ranks(self.multiplier)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        group = find_group(request)
        if group is None:
            return [0.0] * len(hosts)
        return self.ranks.weigh(group, hosts, request)


class StackAffinityWeigher(plugin.Weigher):
    """Spread or pack the servers of a stack while they start."""

    option = 'stack_affinity_weight_multiplier'

    def __init__(self) -> None:
        super().__init__()
        self.ranks = ranks.Ranks(self.multiplier)
        self._keys = signature.load_keys(CONF.heat_hints.signing_key)
        self._groups = bool(CONF.nova_filters[GROUP_OPTION])

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        stack = self.find_stack(request)
        if stack is None:
            return [0.0] * len(hosts)
        return self.ranks.weigh(stack, hosts, request)

    def find_stack(self, request: Any) -> members.Team | None:
        """Return the stack of a server.

        :param request: Nova's RequestSpec.
        :returns: None if the server is in no stack, or if
            ``ServerGroupWeigher`` places the server.
        """
        if self._groups and find_group(request):
            return None
        project = plugin.field(request, 'project_id')
        hints = plugin.field(request, 'scheduler_hints')
        root = stack_hints.read_root_stack_id(hints, project, self._keys)
        if root is None:
            return None
        return members.STACK, root, str(project)


def find_group(request: Any) -> members.Team | None:
    """Return the server group of Nova's RequestSpec.

    :returns: None if there is no group, or none with a policy that this
        package follows.
    """
    group = plugin.field(request, 'instance_group')
    if not group or group.policy not in members.POLICIES:
        return None
    return str(group.policy), str(group.uuid)
