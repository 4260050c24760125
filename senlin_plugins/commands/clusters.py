# SPDX-License-Identifier: Apache-2.0

"""Read policies and clusters through the SDK; nothing is changed."""

import collections
from collections.abc import Collection
from typing import Any

from osc_lib import exceptions

from senlin_plugins.planning import region_spec
from senlin_plugins.planning.apportionment import Region
from senlin_plugins.planning.snapshot import is_placed


def policy_regions(clustering: Any, name: str) -> tuple[Region, ...]:
    """Return the regions of a policy.

    :param clustering: the clustering proxy.
    :param name: the policy's name or ID.
    :raises SpecError: when it is no region placement policy.
    """
    policy = clustering.find_policy(name, ignore_missing=False)
    return region_spec.read(policy.spec)


def attached_policy(clustering: Any, cluster: Any) -> str:
    """Return the ID of the region placement policy that acts on a cluster.

    :param clustering: the clustering proxy.
    :param cluster: the cluster.
    :raises CommandError: when there is none.
    """
    for binding in clustering.cluster_policies(cluster):
        type_name, _, _ = str(binding.policy_type).rpartition('-')
        if type_name in region_spec.TYPES and binding.is_enabled:
            return str(binding.policy_id)
    raise exceptions.CommandError(
        f"Cluster '{cluster.name}' has no region placement policy that is "
        'enabled: name one with --policy, --spec or --region'
    )


def distribution(
    clustering: Any, cluster: Any, growing: bool, default_region: str | None
) -> dict[str, int]:
    """Return where the nodes of a cluster are, as the policy counts them.

    :param clustering: the clustering proxy.
    :param cluster: the cluster.
    :param growing: whether nodes are to be added; a node that waits for its
        creation, and has no region yet, does not count then.
    :param default_region: Senlin's ``default_region_name``, which the API
        does not tell.
    :returns: region name -> number of nodes.
    :raises CommandError: when the region of a node cannot be known.
    """
    counts: collections.Counter[str] = collections.Counter()
    own: dict[str, str | None] = {}
    unknown = 0
    for node in clustering.nodes(cluster_id=cluster.id):
        placement = (node.data or {}).get('placement') or {}
        region = placement.get('region_name')
        if growing and not is_placed(node.status, region):
            continue
        if not region:
            profile = node.profile_id
            if profile not in own:
                own[profile] = _own_region(clustering, profile)
            region = own[profile] or default_region
        if region:
            counts[region] += 1
        else:
            unknown += 1
    if unknown:
        raise exceptions.CommandError(
            f"{unknown} node(s) of cluster '{cluster.name}' have no recorded "
            'region: say with --default-region what default_region_name in '
            'senlin.conf is'
        )
    return dict(counts)


def _own_region(clustering: Any, profile: str) -> str | None:
    """Return the region that a profile's spec fixes."""
    properties = clustering.get_profile(profile).spec.get('properties') or {}
    region = (properties.get('context') or {}).get('region_name')
    return str(region) if region else None


def unknown_regions(identity: Any, names: Collection[str]) -> set[str]:
    """Return those of some regions that Keystone does not know.

    :param identity: the identity proxy.
    :param names: names of regions.
    """
    return set(names) - {region.id for region in identity.regions()}
