# SPDX-License-Identifier: Apache-2.0

"""Read clusters, policies and profiles through the SDK."""

from collections.abc import Callable, Collection
from typing import Any

from osc_lib import exceptions

from osc_placement_plugins import base
from senlin_plugins import endpoints
from senlin_plugins.planning import node_region, spec
from senlin_plugins.planning.node_region import fixed_region
from senlin_plugins.planning.selection import Node
from senlin_plugins.planning.spec import Spec

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
        parsed = spec.parse_regions(policy.spec)
        if not parsed.effective:
            self._warn(
                "The policy is Senlin's own, whose plans have no effect. "
                f'This is what {spec.TYPES[0]} would do.'
            )
        return parsed

    def read_attached_policy(self, cluster: Any) -> Spec:
        """Return the spec of the policy that is enabled for a cluster.

        :raises CommandError: if no region placement policy is enabled.
        """
        enabled = {}
        for binding in self._clustering.cluster_policies(cluster):
            if binding.is_enabled:
                policy_type = str(binding.policy_type).rpartition('-')[0]
                enabled[policy_type] = binding.policy_id
        for policy_type in spec.TYPES:
            if policy_type in enabled:
                return self.find_policy(enabled[policy_type])
        raise exceptions.CommandError(WITHOUT_POLICY.format(cluster.name))

    def read_nodes(self, cluster: Any) -> list[Node]:
        """Return the nodes of a cluster, each in the region where it counts.

        :raises CommandError: if the region of a node cannot be determined.
        """
        rows = [*self._clustering.nodes(cluster_id=cluster.id)]
        contexts = {
            profile_id: self._read_properties(profile_id).get('context')
            for profile_id in node_region.unrecorded_profiles(rows)
        }
        counted = node_region.counted_regions(
            rows, contexts, self._default_region
        )
        unknown = counted.count('')
        if unknown:
            raise exceptions.CommandError(
                f'{unknown} node(s) of the cluster have no recorded region: '
                'say with --default-region what default_region_name in '
                'senlin.conf is'
            )
        return [
            Node(
                id=row.id,
                region=region,
                status=row.status,
                tainted=bool(row.tainted),
                created_at=row.created_at,
            )
            for row, region in zip(rows, counted, strict=True)
        ]

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
        faults = endpoints.find_faults(
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
        for name in node_region.excluded_by_ties(names, ties, home):
            faults.setdefault(name, f'the profile names the id of {ties[0]}')
        for name, fault in sorted(faults.items()):
            self._warn(f'The policy leaves {name} out: {fault}.')
        return set(faults)

    def _find_known(self, names: Collection[str]) -> Collection[str]:
        try:
            with base.telling_in_one_line():
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
        profile = self._clustering.get_profile(cluster.profile_id)
        type_name = profile.spec['type']
        maker = node_region.MAKERS.get(type_name)
        if not maker:
            self._warn(
                f'Profiles of type {type_name!r} are not from this '
                'package: if they create all nodes in one region, the plan '
                'has no effect.'
            )
            return [], [], None
        if not growing:
            return [maker], [], None
        properties = profile.spec.get('properties') or {}
        return (
            node_region.services(maker, properties),
            node_region.ties(properties),
            fixed_region(properties.get('context')),
        )

    def _read_properties(self, profile_id: str) -> dict[str, Any]:
        profile = self._clustering.get_profile(profile_id)
        return profile.spec.get('properties') or {}
