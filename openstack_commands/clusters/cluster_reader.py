# SPDX-License-Identifier: Apache-2.0

"""Read clusters, policies and profiles through the SDK."""

import collections
import functools
from collections.abc import Callable, Collection
from typing import Any

from osc_lib import exceptions

from openstack_commands.base import lister
from senlin_plugins.planning import region_spec, requirements
from senlin_plugins.planning.region_spec import Spec
from senlin_plugins.planning.snapshot import (
    counted_region,
    fixed_region,
    recorded_region,
)
from senlin_plugins.regions import health

WITHOUT_POLICY = (
    "Cluster '{}' has no region placement policy that is enabled: name one "
    'with --policy, --spec or --region'
)


class ClusterReader:
    """Read what a plan needs from a cloud.

    :param connection: the SDK's connection.
    :param warn: a function that shows a warning to the user.
    :param default_region: Senlin's ``default_region_name``, which the API does
        not show; ``None`` if it is not known.
    """

    def __init__(
        self,
        connection: Any,
        warn: Callable[[str], None],
        default_region: str | None,
    ) -> None:
        self._connection = connection
        self._clustering = connection.clustering
        self._warn = warn
        self._default_region = default_region

    def find_cluster(self, name: str) -> Any:
        """Return a cluster."""
        return self._clustering.find_cluster(name, ignore_missing=False)

    def find_policy(self, name: str) -> Spec:
        """Return the spec of a region placement policy."""
        policy = self._clustering.find_policy(name, ignore_missing=False)
        spec = region_spec.read(policy.spec)
        if not spec.effective:
            self._warn(
                "The policy is Senlin's own, whose plans have no effect. "
                f'This is what {region_spec.TYPES[0]} would do.'
            )
        return spec

    def read_attached_policy(self, cluster: Any) -> Spec:
        """Return the spec of the policy that is enabled for a cluster.

        :raises CommandError: if no region placement policy is enabled.
        """
        enabled = {}
        for binding in self._clustering.cluster_policies(cluster):
            if binding.is_enabled:
                policy_type = str(binding.policy_type).rpartition('-')[0]
                enabled[policy_type] = binding.policy_id
        for policy_type in region_spec.TYPES:
            if policy_type in enabled:
                return self.find_policy(enabled[policy_type])
        raise exceptions.CommandError(WITHOUT_POLICY.format(cluster.name))

    def count_nodes(self, cluster: Any) -> dict[str, int]:
        """Return the number of nodes in each region, as the policy counts.

        :returns: region name -> number of nodes.
        :raises CommandError: if the region of a node cannot be determined.
        """
        counts: collections.Counter[str] = collections.Counter()
        find_fixed_region = functools.cache(self._find_fixed_region)
        for node in self._clustering.nodes(cluster_id=cluster.id):
            fixed = None
            if not recorded_region(node):
                fixed = find_fixed_region(node.profile_id)
            region = counted_region(node, fixed, self._default_region)
            counts[region] += 1
        unknown = counts.pop('', 0)
        if unknown:
            raise exceptions.CommandError(
                f'{unknown} node(s) of the cluster have no recorded region: '
                'say with --default-region what default_region_name in '
                'senlin.conf is'
            )
        return dict(counts)

    def find_out_of_reach(
        self, cluster: Any, names: Collection[str], growing: bool
    ) -> set[str]:
        """Return the regions that a plan leaves alone.

        :param cluster: the cluster, whose profile needs services. If ``None``,
            the plan leaves alone only the regions that Keystone does not know.
        :param names: the regions in question.
        :param growing: whether the plan adds nodes.
        """
        services, ties, fixed = self._read_needs(cluster, growing)
        faults = health.find_faults(
            self._connection.session,
            self._find_known(names),
            names,
            services,
            self._connection.config.get_interface(),
        )
        home = fixed or self._default_region
        if ties and not home:
            self._warn(
                f'The profile names the id of {ties[0]}, but no region: say '
                'with --default-region what default_region_name in '
                'senlin.conf is.'
            )
        for name in requirements.excluded_by_ties(names, ties, home):
            faults.setdefault(name, f'the profile names the id of {ties[0]}')
        for name, fault in sorted(faults.items()):
            self._warn(f'The policy leaves {name} out: {fault}.')
        return set(faults)

    def _find_known(self, names: Collection[str]) -> Collection[str]:
        """Return the regions that Keystone knows."""
        try:
            with lister.telling_in_one_line():
                regions = self._connection.identity.regions()
                return {region.id for region in regions}
        except exceptions.CommandError as exc:
            self._warn(
                'The list of regions could not be read, so all regions of '
                f'the policy count as usable: {exc}'
            )
            return names

    def _read_needs(
        self, cluster: Any, growing: bool
    ) -> tuple[list[str], list[str], str | None]:
        """Return what the profile of a cluster needs of a region.

        :param growing: whether nodes are added; otherwise, nodes are removed.
        :returns: the services; the properties that tie the profile to one
            region; and the region that the profile names, if any. All of them
            are empty if nothing is known about the profile.
        """
        if cluster is None:
            return [], [], None
        spec = self._clustering.get_profile(cluster.profile_id).spec
        maker = requirements.MAKERS.get(spec['type'])
        if not maker:
            self._warn(
                f'Profiles of type {spec["type"]!r} are not from this '
                'package: if they create all nodes in one region, the plan '
                'has no effect.'
            )
            return [], [], None
        if not growing:
            return [maker], [], None
        properties = spec.get('properties') or {}
        return (
            requirements.services(maker, properties),
            requirements.ties(properties),
            fixed_region(properties.get('context')),
        )

    def _find_fixed_region(self, profile_id: str) -> str | None:
        """Return the region that a profile names, if any."""
        spec = self._clustering.get_profile(profile_id).spec
        properties = spec.get('properties') or {}
        return fixed_region(properties.get('context'))
