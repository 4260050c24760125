# SPDX-License-Identifier: Apache-2.0

"""Senlin's server profile, with each server in its node's region."""

from typing import Any

from senlin.common import consts
from senlin.common import exception as exc
from senlin.policies import affinity_policy, lb_policy, zone_placement
from senlin.profiles.os.nova import server

from senlin_plugins.planning import plugin_types, requirements
from senlin_plugins.planning.snapshot import fixed_region
from senlin_plugins.profiles import region_aware


class ServerProfile(
    region_aware.RegionAware,
    server.ServerProfile,  # type: ignore[misc]  # untyped base
):
    """Profile ``senlin_plugins.nova.server``.

    Takes the same spec as ``os.nova.server``.
    """

    EXTENDS = plugin_types.EXTENDED[plugin_types.SERVER]
    CLIENT = requirements.MAKERS[plugin_types.SERVER]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    def do_validate(self, obj: Any) -> Any:
        """Check the spec against the services in the profile's region.

        :param obj: the profile itself.
        :returns: true.
        :raises: ``InvalidSpec`` with what is wrong.
        """
        ties = self.ties()
        if ties and not fixed_region(self.context):
            raise exc.InvalidSpec(
                message=f'{ties[0]} exists in one region only: name that '
                "region as 'region_name' in 'context'."
            )
        return super().do_validate(obj)


# Each of these Senlin policies has a list of the profile types that it
# supports. Add the type of ServerProfile, which the policies support, too.
for _policy in (
    affinity_policy.AffinityPolicy,
    lb_policy.LoadBalancingPolicy,
    zone_placement.ZonePlacementPolicy,
):
    _policy.PROFILE_TYPE.append(f'{plugin_types.SERVER}-1.0')
