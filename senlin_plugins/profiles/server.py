# SPDX-License-Identifier: Apache-2.0

"""Senlin's server profile, with each server in its node's region."""

from typing import Any

from senlin.common import consts
from senlin.common import exception as exc
from senlin.drivers import sdk
from senlin.policies import affinity_policy, lb_policy, zone_placement
from senlin.profiles.os.nova import server

from senlin_plugins.cluster.holders import Resource
from senlin_plugins.planning import plugin_types, requirements
from senlin_plugins.planning.snapshot import fixed_region
from senlin_plugins.profiles import creation, region_aware


class ServerProfile(
    region_aware.RegionAware,
    server.ServerProfile,  # type: ignore[misc]  # untyped base
):
    """Profile ``senlin_plugins.nova.server``.

    Takes the same spec as ``os.nova.server``.
    """

    EXTENDS = plugin_types.EXTENDED[plugin_types.SERVER]
    CREATES = 'server'
    CLIENT = requirements.MAKERS[plugin_types.SERVER]

    VERSION = '1.0'
    VERSIONS = {'1.0': [{'status': consts.SUPPORTED, 'since': '2026.11'}]}

    def _create_ports_from_properties(
        self, obj: Any, networks: list[dict[str, Any]], action_type: str
    ) -> Any:
        """Create a node's ports, all of them or none."""
        with self.recording(creation.Ports, 'network', obj) as ports:
            try:
                return super()._create_ports_from_properties(
                    obj, networks, action_type
                )
            except Exception:
                ports.take_back()
                raise

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

    def identify(self, obj: Any, id_: str) -> Resource:
        """Return a server without names: Nova finds a server only by id."""
        return Resource(id_, region=region_aware.region_of(obj, self))

    @sdk.translate_exception  # type: ignore[untyped-decorator]
    def find_made(self, obj: Any) -> list[str]:
        """Return the ids of the servers that were created for a node."""
        # Senlin's profile writes the node's id into the server's metadata. Do
        # not search by name: the name in the profile may have changed after
        # the creation of the server.
        servers = self.compute(obj).conn.compute.servers(details=True)
        return [
            str(server.id)
            for server in servers
            if (server.metadata or {}).get('cluster_node_id') == obj.id
        ]


# Each of these Senlin policies has a list of the profile types that it
# supports. Add the type of ServerProfile, which the policies support, too.
for _policy in (
    affinity_policy.AffinityPolicy,
    lb_policy.LoadBalancingPolicy,
    zone_placement.ZonePlacementPolicy,
):
    _policy.PROFILE_TYPE.append(f'{plugin_types.SERVER}-1.0')
