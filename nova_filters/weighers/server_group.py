# SPDX-License-Identifier: Apache-2.0

"""The weigher for server groups."""

from collections.abc import Sequence
from typing import Any, Final

from nova_filters import plugin
from nova_filters.members import ranks
from nova_filters.spread import members
from nova_filters.weighers import base

OPTION: Final = 'server_group_weight_multiplier'


def find_group(request: Any) -> members.Team | None:
    """Return the server group of Nova's RequestSpec.

    :returns: None if there is no group, or none with a policy that this
        package follows.
    """
    group = plugin.field(request, 'instance_group')
    if not group:
        return None
    return members.group_team(group.policy, group.uuid)


class ServerGroupWeigher(base.Weigher):
    """Follow the policy of a server group while its servers start."""

    option = OPTION

    def __init__(self) -> None:
        super().__init__()
        self.ranks = ranks.Ranks(self.multiplier)

    def _weigh(self, hosts: Sequence[Any], request: Any) -> list[float]:
        return self.ranks.weigh(find_group(request), hosts, request)
